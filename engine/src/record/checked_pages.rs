//! Column chunks whose pages have a checksum: `crc` of the `PageHeader` of Parquet's format.
//!
//! The library's writer leaves it out (parquet 57.3.2, `CompressedPage::to_thrift_header`). So a
//! chunk is encoded in memory, and each header gets the field there. It is the CRC-32 of the page's
//! data as it is in the file, compressed and without the header.

use crc::{CRC_32_ISO_HDLC, Crc, Table};
use parquet::column::page::{CompressedPage, PageWriteSpec, PageWriter};
use parquet::errors::{ParquetError, Result};
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};

const CRC32: Crc<u32, Table<16>> = Crc::<u32, Table<16>>::new(&CRC_32_ISO_HDLC);
/// A field of the type i32 with the next number, in Thrift's compact protocol.
const NEXT_I32: u8 = 0x15;
/// The fields of a header before `crc`: type, uncompressed size, compressed size.
const FIELDS_BEFORE: usize = 3;

/// Writes pages to memory.
pub(super) struct CheckedPages<'a>(pub &'a mut Vec<u8>);

impl PageWriter for CheckedPages<'_> {
    fn write_page(&mut self, page: CompressedPage) -> Result<PageWriteSpec> {
        let (crc, length) = (CRC32.checksum(page.data()), page.data().len());
        let mut unchecked = TrackedWrite::new(vec![]);
        let mut spec = SerializedPageWriter::new(&mut unchecked).write_page(page)?;
        let unchecked = unchecked.into_inner()?;
        let (header, data) = unchecked.split_at(unchecked.len() - length);
        let offset = self.0.len();
        let what = || ParquetError::General("a page header of an unknown form".to_owned());
        self.0.extend(checked_header(header, crc).ok_or_else(what)?);
        self.0.extend_from_slice(data);
        let written = self.0.len() - offset;
        let more = written - unchecked.len();
        spec.uncompressed_size += more;
        spec.compressed_size += more;
        spec.offset = offset as u64;
        spec.bytes_written = written as u64;
        Ok(spec)
    }

    fn close(&mut self) -> Result<()> {
        Ok(())
    }
}

/// The header with `crc` as its fourth field, in Thrift's compact protocol; `None` if it has one,
/// or another form.
fn checked_header(header: &[u8], crc: u32) -> Option<Vec<u8>> {
    let mut at = 0;
    for _ in 0..FIELDS_BEFORE {
        if *header.get(at)? != NEXT_I32 {
            return None;
        }
        // A number ends with the first byte below 128.
        at += 2 + header[at + 1..].iter().position(|byte| *byte < 0x80)?;
    }
    // Later fields count from the one before them.
    let next = *header.get(at)?;
    if next >> 4 < 2 {
        return None;
    }
    let mut checked = header[..at].to_vec();
    checked.push(NEXT_I32);
    let signed = crc as i32;
    let mut zigzag = ((signed << 1) ^ (signed >> 31)) as u32;
    while zigzag >= 0x80 {
        checked.push(zigzag as u8 | 0x80);
        zigzag >>= 7;
    }
    checked.push(zigzag as u8);
    checked.push(next - 0x10);
    checked.extend_from_slice(&header[at + 1..]);
    Some(checked)
}

#[cfg(test)]
pub(super) mod tests {
    use std::fs;

    use parquet::data_type::ByteArray;
    use parquet::file::reader::{FileReader, SerializedFileReader};

    use super::super::table::{Column, Row, Table};
    use super::super::table_schema::{ColumnKind, ColumnSchema, TableSchema};
    use super::*;

    struct Number(i64);

    const fn column(name: &'static str, kind: ColumnKind, is_repeating: bool) -> ColumnSchema {
        ColumnSchema { name, kind, is_repeating, about: "" }
    }

    impl Row for Number {
        const TABLE: TableSchema = TableSchema {
            name: "numbers",
            about: "",
            columns: &[
                column("number", ColumnKind::I64, false),
                column("odd", ColumnKind::OptionalI64, false),
                column("parity", ColumnKind::Text, true),
            ],
        };
        type Shared = ();

        fn columns(rows: &[Self], (): &()) -> Vec<Column> {
            let parity = |row: &Self| ByteArray::from(["even", "odd"][row.0 as usize % 2]);
            vec![
                Column::I64(rows.iter().map(|row| row.0).collect()),
                Column::OptionalI64(
                    rows.iter().map(|row| (row.0 % 2 == 1).then_some(row.0)).collect(),
                ),
                Column::Text(rows.iter().map(parity).collect()),
            ]
        }
    }

    /// A table of two row groups, and of several pages in a chunk.
    fn written(name: &str) -> Vec<u8> {
        let path = std::env::temp_dir().join(format!("narrows-{}-{name}", std::process::id()));
        let mut table = Table::<Number>::create(&path, ()).expect("a directory for it");
        table.extend((0..100_000).map(|number| Number(number * number)));
        table.close().expect("room on the disk");
        let bytes = fs::read(&path).expect("it was written");
        fs::remove_file(path).expect("it is ours");
        bytes
    }

    /// The values of the first column, and how many pages have others.
    fn read(bytes: Vec<u8>) -> Result<(Vec<i64>, usize)> {
        let reader = SerializedFileReader::new(bytes::Bytes::from(bytes))?;
        let (mut numbers, mut pages) = (vec![], 0);
        for row in reader.get_row_iter(None)? {
            use parquet::record::RowAccessor;
            numbers.push(row?.get_long(0)?);
        }
        for group in 0..reader.num_row_groups() {
            let group = reader.get_row_group(group)?;
            for column in 0..group.num_columns() {
                let mut reader = group.get_column_page_reader(column)?;
                while reader.get_next_page()?.is_some() {
                    pages += 1;
                }
            }
        }
        Ok((numbers, pages))
    }

    #[test]
    fn readers_find_each_page_right() {
        let (numbers, pages) = read(written("right")).expect("its checksums");
        let expected: Vec<i64> = (0..100_000).map(|number| number * number).collect();
        assert!(numbers == expected);
        assert!(pages > 6, "{pages} pages");
    }

    /// Asserts that reading the rows finds damage to the last page of any chunk.
    pub(in super::super) fn assert_damage_is_found(bytes: &[u8]) {
        let bytes = bytes.to_vec();
        let reader = SerializedFileReader::new(bytes::Bytes::from(bytes.clone())).expect("whole");
        for group in reader.metadata().row_groups() {
            for chunk in group.columns() {
                let (start, length) = chunk.byte_range();
                let mut damaged = bytes.clone();
                // The last byte of the chunk's last page.
                damaged[(start + length) as usize - 1] ^= 1;
                let read = SerializedFileReader::new(bytes::Bytes::from(damaged))
                    .and_then(|reader| reader.get_row_iter(None)?.collect::<Result<Vec<_>>>());
                let error = read.expect_err("a damaged page").to_string();
                assert!(error.contains("CRC checksum mismatch"), "{error}");
            }
        }
    }

    #[test]
    fn readers_find_each_damaged_page() {
        assert_damage_is_found(&written("damaged"));
    }

    #[test]
    fn a_header_of_another_form_is_refused() {
        assert_eq!(checked_header(&[], 1), None);
        assert_eq!(checked_header(&[0x15, 0, 0x15, 2, 0x15, 2, 0x15, 2, 0x1c, 0], 1), None);
        // CRC -1 is 1 in zigzag code.
        let plain = [0x15, 0, 0x15, 0x82, 1, 0x15, 2, 0x2c, 0];
        let checked = [0x15, 0, 0x15, 0x82, 1, 0x15, 2, 0x15, 1, 0x1c, 0];
        assert_eq!(checked_header(&plain, u32::MAX).as_deref(), Some(&checked[..]));
    }
}
