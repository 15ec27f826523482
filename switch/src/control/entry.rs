//! Entries and default actions as a controller writes them.

use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;

/// How an entry matches one field of the key. A field that is left out matches anything,
/// except where it must be exact.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Match {
    /// This value.
    Exact(String),
    /// These first bits: value and prefix length.
    Lpm(String, u32),
    /// These bits: value and mask.
    Ternary(String, String),
    /// From and to, inclusive.
    Range(String, String),
    /// This value; leave the field out for any.
    Optional(String),
}

/// A table entry.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TableEntry {
    /// The table's name.
    pub table: String,
    /// Matches by the name of the key's field.
    #[serde(default)]
    pub matches: BTreeMap<String, Match>,
    /// The larger wins; for ternary and range tables.
    #[serde(default)]
    pub priority: i32,
    /// The action's name.
    pub action: String,
    /// The action's parameters by name.
    #[serde(default)]
    pub params: BTreeMap<String, String>,
}

/// A table's default action.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DefaultAction {
    /// The table's name.
    pub table: String,
    /// The action's name.
    pub action: String,
    /// The action's parameters by name.
    #[serde(default)]
    pub params: BTreeMap<String, String>,
}
