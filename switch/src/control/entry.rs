//! Table entries and default actions in the control plane's form.

use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;

/// How an entry matches one field of the key. A field without a match matches anything, unless its
/// match kind is exact.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Match {
    /// The exact value.
    Exact(String),
    /// A prefix: value and prefix length in bits.
    Lpm(String, u32),
    /// Value and mask.
    Ternary(String, String),
    /// First and last value, inclusive.
    Range(String, String),
    /// The exact value; omit the field to match any.
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
    /// The larger number wins; for ternary and range tables.
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
