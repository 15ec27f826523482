//! Writes a table that another library encoded again, with a checksum in each page.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{Compression, Type, ZstdLevel};
use parquet::column::reader::{ColumnReader, get_typed_column_reader};
use parquet::column::writer::{ColumnWriter, get_column_writer, get_typed_column_writer_mut};
use parquet::data_type::{
    BoolType, ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type,
};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::ColumnDescriptor;

use super::checked_pages::CheckedPages;

/// Writes a Parquet file's rows to `path`, with the same schema, metadata and row groups.
///
/// # Errors
/// If `table` is no Parquet file, has a column of lists, or can't be written.
pub(crate) fn write_checked(table: Bytes, path: &Path) -> Result<()> {
    let reader = SerializedFileReader::new(table)?;
    let described = reader.metadata().file_metadata();
    let properties = WriterProperties::builder()
        .set_created_by("narrows".into())
        .set_key_value_metadata(described.key_value_metadata().cloned())
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?));
    let properties = Arc::new(properties.build());
    let schema = described.schema_descr();
    let file = BufWriter::new(File::create(path)?);
    let mut writer = SerializedFileWriter::new(file, schema.root_schema_ptr(), properties.clone())?;
    for number in 0..reader.num_row_groups() {
        let rows = reader.get_row_group(number)?;
        let mut group = writer.next_row_group()?;
        for (number, column) in schema.columns().iter().enumerate() {
            let mut chunk = vec![];
            let pages = Box::new(CheckedPages(&mut chunk));
            let mut values = get_column_writer(column.clone(), properties.clone(), pages);
            copy(rows.get_column_reader(number)?, &mut values, column)?;
            let closed = values.close()?;
            group.append_column(&Bytes::from(chunk), closed)?;
        }
        group.close()?;
    }
    writer.close().map(drop)
}

/// Copies a column chunk.
fn copy(from: ColumnReader, to: &mut ColumnWriter<'_>, column: &ColumnDescriptor) -> Result<()> {
    if column.max_rep_level() > 0 {
        return Err(ParquetError::NYI(format!("column {} has lists", column.name())));
    }
    match column.physical_type() {
        Type::BOOLEAN => copy_values::<BoolType>(from, to, column),
        Type::INT32 => copy_values::<Int32Type>(from, to, column),
        Type::INT64 => copy_values::<Int64Type>(from, to, column),
        Type::FLOAT => copy_values::<FloatType>(from, to, column),
        Type::DOUBLE => copy_values::<DoubleType>(from, to, column),
        Type::BYTE_ARRAY => copy_values::<ByteArrayType>(from, to, column),
        other => Err(ParquetError::NYI(format!("column {} is of type {other}", column.name()))),
    }
}

fn copy_values<T: DataType>(
    from: ColumnReader,
    to: &mut ColumnWriter<'_>,
    column: &ColumnDescriptor,
) -> Result<()> {
    let mut from = get_typed_column_reader::<T>(from);
    let (mut values, mut levels) = (vec![], vec![]);
    from.read_records(usize::MAX, Some(&mut levels), None, &mut values)?;
    // A level says whether a row has a value; there are none if each row must have one.
    let levels = (column.max_def_level() > 0).then_some(&levels[..]);
    get_typed_column_writer_mut::<T>(to).write_batch(&values, levels, None).map(drop)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use parquet::record::RowAccessor;
    use parquet::schema::parser::parse_message_type;

    use super::super::checked_pages::tests::assert_damage_is_found;
    use super::*;

    const ROWS: i64 = 1_000;

    /// A table without checksums: a number, and its half if it is even.
    fn unchecked() -> Bytes {
        let schema = "message numbers { required int64 number; optional double half; }";
        let schema = Arc::new(parse_message_type(schema).expect("a schema"));
        let mut file = vec![];
        let mut writer = SerializedFileWriter::new(&mut file, schema, Arc::default()).expect("one");
        let mut group = writer.next_row_group().expect("a group");
        let numbers: Vec<i64> = (0..ROWS).collect();
        let mut column = group.next_column().expect("room").expect("a column");
        column.typed::<Int64Type>().write_batch(&numbers, None, None).expect("room");
        column.close().expect("room");
        let levels: Vec<i16> = numbers.iter().map(|number| i16::from(number % 2 == 0)).collect();
        let halves: Vec<f64> = (0..ROWS / 2).map(|half| half as f64).collect();
        let mut column = group.next_column().expect("room").expect("a column");
        column.typed::<DoubleType>().write_batch(&halves, Some(&levels), None).expect("room");
        column.close().expect("room");
        group.close().expect("room");
        writer.close().expect("room");
        Bytes::from(file)
    }

    fn copied(table: Bytes, name: &str) -> Result<Vec<u8>> {
        let path =
            std::env::temp_dir().join(format!("narrows-copied-{}-{name}", std::process::id()));
        let copied = write_checked(table, &path);
        let bytes = fs::read(&path);
        let _ = fs::remove_file(path);
        copied.map(|()| bytes.expect("it was written"))
    }

    fn read(bytes: Vec<u8>) -> Result<Vec<(i64, Option<f64>)>> {
        let reader = SerializedFileReader::new(Bytes::from(bytes))?;
        let rows = reader.get_row_iter(None)?;
        rows.map(|row| row.and_then(|row| Ok((row.get_long(0)?, row.get_double(1).ok())))).collect()
    }

    #[test]
    fn a_copy_has_the_same_rows() {
        let rows = read(copied(unchecked(), "same").expect("a table")).expect("its checksums");
        let half = |number: i64| (number % 2 == 0).then_some((number / 2) as f64);
        assert_eq!(rows, (0..ROWS).map(|number| (number, half(number))).collect::<Vec<_>>());
    }

    #[test]
    fn a_damaged_page_of_a_copy_is_found() {
        assert_damage_is_found(&copied(unchecked(), "damaged").expect("a table"));
    }

    #[test]
    fn what_is_no_table_is_refused() {
        let error = copied(Bytes::from_static(b"PAR1"), "none").expect_err("four bytes");
        assert!(error.to_string().contains("too small"), "{error}");
        let lists = "message m { repeated int64 number; }";
        let schema = Arc::new(parse_message_type(lists).expect("a schema"));
        let mut file = vec![];
        let mut writer = SerializedFileWriter::new(&mut file, schema, Arc::default()).expect("one");
        let mut group = writer.next_row_group().expect("a group");
        group.next_column().expect("room").expect("a column").close().expect("room");
        group.close().expect("room");
        writer.close().expect("room");
        let error = copied(Bytes::from(file), "lists").expect_err("a list").to_string();
        assert!(error.contains("column number has lists"), "{error}");
    }
}
