//! Parquet tables of a run: rows in, columns out. Each table has one file and one writing thread.
//!
//! The files depend on the rows only: no dates, no machine, row groups of a fixed size. Rows go to
//! the writing thread in batches, which it returns for reuse. With a second core, encoding and
//! compression take no time from the engine. If the thread falls behind, the engine waits rather
//! than use more memory.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use bytes::Bytes;
use parquet::basic::{Compression, Encoding, Type, ZstdLevel};
use parquet::column::writer::{ColumnWriter, get_column_writer, get_typed_column_writer_mut};
use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;

use super::checked_pages::CheckedPages;
use super::table_schema::TableSchema;
use crate::mailbox::{MailboxReceiver, mailbox};

/// Rows per row group.
const GROUP_ROWS: usize = 1 << 16;
/// Rows per batch: few enough to stay in a cache while the engine fills it. A row group is a
/// multiple of it.
const BATCH_ROWS: usize = 1 << 10;
/// Batches that may wait for their writer: two row groups.
const BATCHES_WAITING: usize = 2 * GROUP_ROWS / BATCH_ROWS;

/// The values of one column.
#[derive(Debug)]
pub enum Column {
    /// 32-bit integers.
    I32(Vec<i32>),
    /// 64-bit integers.
    I64(Vec<i64>),
    /// 64-bit integers, nullable.
    OptionalI64(Vec<Option<i64>>),
    /// Text.
    Text(Vec<ByteArray>),
    /// Bytes.
    Binary(Vec<ByteArray>),
}

/// A row of a table.
pub trait Row: Sized {
    /// The table's name and columns.
    const TABLE: TableSchema;
    /// The data that all rows of a table share.
    type Shared: Send + 'static;
    /// The columns of `rows`, in the schema's order.
    fn columns(rows: &[Self], shared: &Self::Shared) -> Vec<Column>;
}

/// A table being written.
pub struct Table<R: Row> {
    /// Rows of the incomplete batch.
    rows: Vec<R>,
    batches: SyncSender<Vec<R>>,
    /// Batches that the writer has emptied.
    emptied: MailboxReceiver<Vec<R>>,
    writer: JoinHandle<Result<(), ParquetError>>,
}

impl<R: Row + Send + 'static> Table<R> {
    /// Creates the file and starts its writer.
    ///
    /// # Errors
    /// If the file can't be created.
    pub fn create(path: &Path, shared: R::Shared) -> Result<Self, ParquetError> {
        let mut file = GroupWriter::create::<R>(path)?;
        let (batches, received) = sync_channel::<Vec<R>>(BATCHES_WAITING);
        let (give_back, emptied) = mailbox();
        let writer = thread::spawn(move || {
            let mut group = Vec::with_capacity(GROUP_ROWS);
            for mut batch in received {
                group.append(&mut batch);
                // After the last batch the receiver is gone.
                let _ = give_back.send(batch);
                if group.len() == GROUP_ROWS {
                    file.write(&R::columns(&group, &shared))?;
                    group.clear();
                }
            }
            if !group.is_empty() {
                file.write(&R::columns(&group, &shared))?;
            }
            file.writer.close().map(drop)
        });
        Ok(Table { rows: Vec::with_capacity(BATCH_ROWS), batches, emptied, writer })
    }

    /// Adds rows.
    pub fn extend(&mut self, rows: impl IntoIterator<Item = R>) {
        for row in rows {
            self.rows.push(row);
            if self.rows.len() == BATCH_ROWS {
                let empty = self.emptied.try_receive();
                let empty = empty.unwrap_or_else(|| Vec::with_capacity(BATCH_ROWS));
                // If the writer is gone, it has failed; `close` returns the reason.
                let _ = self.batches.send(std::mem::replace(&mut self.rows, empty));
            }
        }
    }

    /// True if the writer has stopped, which before `close` only an error of the disk causes.
    pub fn has_failed(&self) -> bool {
        self.writer.is_finished()
    }

    /// Writes the last rows and closes the file.
    ///
    /// # Errors
    /// If a write to disk failed at any time.
    pub fn close(self) -> Result<(), ParquetError> {
        let Table { rows, batches, writer, .. } = self;
        if !rows.is_empty() {
            let _ = batches.send(rows);
        }
        drop(batches);
        writer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

/// The file behind a table.
struct GroupWriter {
    writer: SerializedFileWriter<BufWriter<File>>,
    properties: WriterPropertiesPtr,
}

impl GroupWriter {
    fn create<R: Row>(path: &Path) -> Result<Self, ParquetError> {
        let schema = Arc::new(parse_message_type(&R::TABLE.message())?);
        let mut properties = WriterProperties::builder()
            .set_created_by("narrows".into())
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
            // Minimum and maximum of a few distinct words would cost more than the rest of the
            // table.
            .set_statistics_enabled(EnabledStatistics::None)
            .set_dictionary_enabled(false);
        for field in schema.get_fields() {
            let column = ColumnPath::from(field.name());
            properties = if R::TABLE.is_repeating(field.name()) {
                properties.set_column_dictionary_enabled(column, true)
            } else if field.get_physical_type() == Type::BYTE_ARRAY {
                properties.set_column_encoding(column, Encoding::DELTA_BYTE_ARRAY)
            } else {
                properties.set_column_encoding(column, Encoding::DELTA_BINARY_PACKED)
            };
        }
        let file = BufWriter::new(File::create(path)?);
        let properties = Arc::new(properties.build());
        let writer = SerializedFileWriter::new(file, schema, properties.clone())?;
        Ok(GroupWriter { writer, properties })
    }

    fn write(&mut self, columns: &[Column]) -> Result<(), ParquetError> {
        let described = self.writer.schema_descr().columns().to_vec();
        let mut group = self.writer.next_row_group()?;
        for (column, described) in columns.iter().zip(described) {
            let mut chunk = vec![];
            let pages = Box::new(CheckedPages(&mut chunk));
            let mut writer = get_column_writer(described, self.properties.clone(), pages);
            write_values(&mut writer, column)?;
            let closed = writer.close()?;
            group.append_column(&Bytes::from(chunk), closed)?;
        }
        group.close().map(drop)
    }
}

fn write_values(writer: &mut ColumnWriter<'_>, column: &Column) -> Result<(), ParquetError> {
    match column {
        Column::I32(values) => {
            get_typed_column_writer_mut::<Int32Type>(writer).write_batch(values, None, None)
        }
        Column::I64(values) => {
            get_typed_column_writer_mut::<Int64Type>(writer).write_batch(values, None, None)
        }
        Column::OptionalI64(values) => {
            let levels: Vec<i16> = values.iter().map(|value| value.is_some().into()).collect();
            let present: Vec<i64> = values.iter().copied().flatten().collect();
            let writer = get_typed_column_writer_mut::<Int64Type>(writer);
            writer.write_batch(&present, Some(&levels), None)
        }
        Column::Text(values) | Column::Binary(values) => {
            get_typed_column_writer_mut::<ByteArrayType>(writer).write_batch(values, None, None)
        }
    }
    .map(drop)
}
