//! The description of a table's columns, for its file, its readers' types and the reference.

use serde::Serialize;

/// A table of a run directory.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct TableSchema {
    /// The file's name without `.parquet`.
    pub name: &'static str,
    /// What a row is.
    pub about: &'static str,
    /// Its columns in their order.
    pub columns: &'static [ColumnSchema],
}

/// A column of a table. Its unit, if it has one, ends its name.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ColumnSchema {
    /// The name.
    pub name: &'static str,
    /// What its values are.
    pub kind: ColumnKind,
    /// The column has few distinct values that are text or lie far apart. It is stored as a
    /// dictionary; other columns store differences from the row before. A dictionary looks a value
    /// up in a hash table, which takes twice as long as a difference.
    pub is_repeating: bool,
    /// What it means.
    pub about: &'static str,
}

/// What a column's values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum ColumnKind {
    /// 32-bit integers.
    I32,
    /// 64-bit integers.
    I64,
    /// 64-bit integers, nullable.
    OptionalI64,
    /// Text.
    Text,
    /// Bytes.
    Binary,
}

impl TableSchema {
    /// The schema as a Parquet message type.
    pub(crate) fn message(&self) -> String {
        let column = |column: &ColumnSchema| {
            let name = column.name;
            match column.kind {
                ColumnKind::I32 => format!("required int32 {name};"),
                ColumnKind::I64 => format!("required int64 {name};"),
                ColumnKind::OptionalI64 => format!("optional int64 {name};"),
                ColumnKind::Text => format!("required binary {name} (UTF8);"),
                ColumnKind::Binary => format!("required binary {name};"),
            }
        };
        let columns: Vec<String> = self.columns.iter().map(column).collect();
        format!("message {} {{ {} }}", self.name, columns.join(" "))
    }

    /// True when a column is stored as a dictionary.
    pub(crate) fn is_repeating(&self, column: &str) -> bool {
        self.columns.iter().any(|known| known.name == column && known.is_repeating)
    }
}

/// Defines a table's rows. Each line gives a column's meaning, name, kind and value in a row.
macro_rules! table {
    (
        $(#[doc = $about:literal])+
        $table:literal: $rows:ty, $shared_type:ty, |$row:ident, $shared:ident|
        $(
            $(#[doc = $meaning:literal])+
            $name:ident: $kind:ident $($repeating:ident)? = $value:expr,
        )+
    ) => {
        impl Row for $rows {
            const TABLE: TableSchema = TableSchema {
                name: $table,
                about: concat!($($about),+),
                columns: &[$(
                    ColumnSchema {
                        name: stringify!($name),
                        kind: ColumnKind::$kind,
                        is_repeating: !concat!($(stringify!($repeating))?).is_empty(),
                        about: concat!($($meaning),+),
                    }
                ),+],
            };

            type Shared = $shared_type;

            #[allow(unused_variables, reason = "most tables share nothing")]
            fn columns(rows: &[Self], $shared: &Self::Shared) -> Vec<Column> {
                vec![$(Column::$kind(rows.iter().map(|$row| $value).collect())),+]
            }
        }
    };
}

pub(crate) use table;
