//! Parquet tables of a run: rows in, columns out, one file a table.
//!
//! The files depend on the rows only: no dates, no machine, row groups of a fixed size.

use std::fs::File;
use std::io::BufWriter;
use std::marker::PhantomData;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;

/// Rows of a row group; also how many are held in memory.
const GROUP_ROWS: usize = 1 << 16;

/// The values of one column.
#[derive(Debug)]
pub enum Column {
    /// 32-bit integers.
    I32(Vec<i32>),
    /// 64-bit integers.
    I64(Vec<i64>),
    /// 64-bit integers, some missing.
    OptionalI64(Vec<Option<i64>>),
    /// Text of few distinct values.
    Text(Vec<ByteArray>),
}

/// A row of a table.
pub trait Row: Sized {
    /// The table's schema as a Parquet message type. Integer columns are stored as differences;
    /// name in `REPEATING` those of few distinct values, which are stored as a dictionary.
    const SCHEMA: &'static str;
    /// Columns of few distinct values.
    const REPEATING: &'static [&'static str];
    /// The columns of `rows`, in the schema's order.
    fn columns(rows: &[Self]) -> Vec<Column>;
}

/// A table that is being written.
pub struct Table<R: Row> {
    writer: SerializedFileWriter<BufWriter<File>>,
    rows: PhantomData<R>,
}

impl<R: Row> Table<R> {
    /// Creates the file.
    ///
    /// # Errors
    /// When it can't be created.
    pub fn create(path: &Path) -> Result<Self, ParquetError> {
        let schema = Arc::new(parse_message_type(R::SCHEMA)?);
        let mut properties = WriterProperties::builder()
            .set_created_by("narrows".into())
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
            .set_dictionary_enabled(false);
        for field in schema.get_fields() {
            let column = ColumnPath::from(field.name());
            properties = if R::REPEATING.contains(&field.name()) {
                properties.set_column_dictionary_enabled(column, true)
            } else {
                properties.set_column_encoding(column, Encoding::DELTA_BINARY_PACKED)
            };
        }
        let file = BufWriter::new(File::create(path)?);
        let writer = SerializedFileWriter::new(file, schema, Arc::new(properties.build()))?;
        Ok(Table { writer, rows: PhantomData })
    }

    /// Writes whole row groups of `rows` and leaves the rest in it.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn drain(&mut self, rows: &mut Vec<R>) -> Result<(), ParquetError> {
        let whole = rows.len() / GROUP_ROWS * GROUP_ROWS;
        for group in rows[..whole].chunks(GROUP_ROWS) {
            self.write_group(group)?;
        }
        rows.drain(..whole);
        Ok(())
    }

    /// Writes the last rows and closes the file.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn close(mut self, rows: &[R]) -> Result<(), ParquetError> {
        for group in rows.chunks(GROUP_ROWS) {
            self.write_group(group)?;
        }
        self.writer.close().map(drop)
    }

    fn write_group(&mut self, rows: &[R]) -> Result<(), ParquetError> {
        let mut group = self.writer.next_row_group()?;
        for column in R::columns(rows) {
            let mut writer = group.next_column()?.expect("columns() gives as many as SCHEMA has");
            match column {
                Column::I32(values) => {
                    writer.typed::<Int32Type>().write_batch(&values, None, None)?;
                }
                Column::I64(values) => {
                    writer.typed::<Int64Type>().write_batch(&values, None, None)?;
                }
                Column::OptionalI64(values) => {
                    let levels: Vec<i16> =
                        values.iter().map(|value| value.is_some().into()).collect();
                    let present: Vec<i64> = values.into_iter().flatten().collect();
                    writer.typed::<Int64Type>().write_batch(&present, Some(&levels), None)?;
                }
                Column::Text(values) => {
                    writer.typed::<ByteArrayType>().write_batch(&values, None, None)?;
                }
            }
            writer.close()?;
        }
        group.close().map(drop)
    }
}
