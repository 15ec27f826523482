//! Writes small tables of nullable numbers, flags and text, given by column.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::column::writer::{ColumnWriter, get_column_writer, get_typed_column_writer_mut};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::Result;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{Type, TypePtr};

use super::checked_pages::CheckedPages;

/// The values of a column, a null where there is none.
#[derive(Debug)]
pub(crate) enum Values {
    /// True or false.
    Flags(Vec<Option<bool>>),
    /// Whole numbers.
    Integers(Vec<Option<i64>>),
    /// Numbers.
    Floats(Vec<Option<f64>>),
    /// Text.
    Texts(Vec<Option<String>>),
}

impl Values {
    fn physical(&self) -> (Physical, Option<LogicalType>) {
        match self {
            Values::Flags(_) => (Physical::BOOLEAN, None),
            Values::Integers(_) => (Physical::INT64, None),
            Values::Floats(_) => (Physical::DOUBLE, None),
            Values::Texts(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        }
    }

    fn write(self, to: &mut ColumnWriter<'_>) -> Result<()> {
        match self {
            Values::Flags(values) => write_values::<BoolType>(values, to),
            Values::Integers(values) => write_values::<Int64Type>(values, to),
            Values::Floats(values) => write_values::<DoubleType>(values, to),
            Values::Texts(values) => {
                let bytes = |text: String| ByteArray::from(text.into_bytes());
                let values = values.into_iter().map(|value| value.map(bytes)).collect();
                write_values::<ByteArrayType>(values, to)
            }
        }
    }
}

/// Writes a table of one row group, with a CRC-32 in each page's header. The columns have equally
/// many values.
///
/// # Errors
/// If the file can't be written, or a column is shorter than the first.
pub(crate) fn write_columns(columns: Vec<(String, Values)>, path: &Path) -> Result<()> {
    let properties = WriterProperties::builder()
        .set_created_by("narrows".into())
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?));
    let properties = Arc::new(properties.build());
    let fields = columns.iter().map(|(name, values)| field(name, values)).collect::<Result<_>>()?;
    let schema = Arc::new(Type::group_type_builder("rows").with_fields(fields).build()?);
    let file = BufWriter::new(File::create(path)?);
    let mut writer = SerializedFileWriter::new(file, schema, properties.clone())?;
    let described = writer.schema_descr().columns().to_vec();
    let mut group = writer.next_row_group()?;
    for ((_, values), described) in columns.into_iter().zip(described) {
        let mut chunk = vec![];
        let pages = Box::new(CheckedPages(&mut chunk));
        let mut to = get_column_writer(described, properties.clone(), pages);
        values.write(&mut to)?;
        let closed = to.close()?;
        group.append_column(&Bytes::from(chunk), closed)?;
    }
    group.close()?;
    writer.close().map(drop)
}

fn field(name: &str, values: &Values) -> Result<TypePtr> {
    let (physical, logical) = values.physical();
    Type::primitive_type_builder(name, physical)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(logical)
        .build()
        .map(Arc::new)
}

fn write_values<T: DataType>(values: Vec<Option<T::T>>, to: &mut ColumnWriter<'_>) -> Result<()> {
    let levels: Vec<i16> = values.iter().map(|value| value.is_some().into()).collect();
    let present: Vec<T::T> = values.into_iter().flatten().collect();
    get_typed_column_writer_mut::<T>(to).write_batch(&present, Some(&levels), None).map(drop)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use parquet::file::reader::{FileReader, SerializedFileReader};

    use super::super::checked_pages::tests::assert_damage_is_found;
    use super::*;

    const ROWS: usize = 1_000;

    fn written(name: &str, columns: Vec<(String, Values)>) -> Result<Vec<u8>> {
        let path = std::env::temp_dir().join(format!("narrows-{}-{name}", std::process::id()));
        let done = write_columns(columns, &path);
        let bytes = fs::read(&path);
        let _ = fs::remove_file(path);
        done.map(|()| bytes.expect("it was written"))
    }

    fn columns() -> Vec<(String, Values)> {
        let half = |row: usize| (row % 2 == 0).then_some(row as f64 / 2.0);
        vec![
            ("flow.count".into(), Values::Integers((0..ROWS as i64).map(Some).collect())),
            ("half".into(), Values::Floats((0..ROWS).map(half).collect())),
            ("text".into(), Values::Texts((0..ROWS).map(|row| Some(row.to_string())).collect())),
            ("valid".into(), Values::Flags(vec![Some(true); ROWS])),
            ("none".into(), Values::Texts(vec![None; ROWS])),
        ]
    }

    #[test]
    fn a_table_has_its_columns_values_and_nulls() {
        let bytes = written("plain", columns()).expect("a table");
        let reader = SerializedFileReader::new(Bytes::from(bytes)).expect("a table");
        let rows: Vec<String> = reader
            .get_row_iter(None)
            .expect("rows")
            .map(|row| row.expect("one").to_string())
            .collect();
        assert_eq!(rows.len(), ROWS);
        let expected =
            [r#"{flow.count: 2, half: 1, text: "2", valid: true, none: null}"#, "half: null"];
        assert_eq!(rows[2].replace("1.0", "1"), expected[0]);
        assert!(rows[3].contains(expected[1]), "{}", rows[3]);
    }

    #[test]
    fn a_damaged_page_of_a_plain_table_is_found() {
        assert_damage_is_found(&written("plain-damaged", columns()).expect("a table"));
    }

    #[test]
    fn a_shorter_column_is_refused() {
        let short = vec![
            ("one".into(), Values::Floats(vec![None; 2])),
            ("two".into(), Values::Integers(vec![Some(1)])),
        ];
        written("plain-short", short).expect_err("one row and two");
    }
}
