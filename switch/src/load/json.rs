//! The shape of bmv2's JSON, format 2.x (behavioral-model, docs/JSON_format.md).
//!
//! The types contain only what the loader reads; it ignores other keys, such as `source_info`.
//! Type-value objects stay [`Value`]: `load` reads them where it knows the context. Of a structure
//! with such parts of the text, the first says `borrow` for all.

use super::value::Value;
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
pub(crate) struct Root<'a> {
    #[serde(borrow)]
    pub header_types: Vec<HeaderType<'a>>,
    pub headers: Vec<Header>,
    #[serde(default)]
    pub header_stacks: Vec<HeaderStack>,
    #[serde(default)]
    pub header_union_types: Vec<HeaderUnionType>,
    #[serde(default)]
    pub header_unions: Vec<HeaderUnion>,
    #[serde(default)]
    pub header_union_stacks: Vec<HeaderUnionStack>,
    #[serde(default)]
    pub field_lists: Vec<FieldList<'a>>,
    #[serde(default)]
    pub learn_lists: Vec<FieldList<'a>>,
    #[serde(default)]
    pub errors: Vec<(String, u32)>,
    pub parsers: Vec<Parser<'a>>,
    #[serde(default)]
    pub parse_vsets: Vec<ParseVset>,
    pub deparsers: Vec<Deparser<'a>>,
    #[serde(default)]
    pub meter_arrays: Vec<MeterArray<'a>>,
    #[serde(default)]
    pub counter_arrays: Vec<CounterArray>,
    #[serde(default)]
    pub register_arrays: Vec<RegisterArray>,
    #[serde(default)]
    pub calculations: Vec<Calculation<'a>>,
    pub actions: Vec<Action<'a>>,
    pub pipelines: Vec<Pipeline<'a>>,
    #[serde(default)]
    pub checksums: Vec<Checksum<'a>>,
    #[serde(default)]
    pub extern_instances: Vec<ExternInstance>,
    #[serde(default)]
    pub field_aliases: Vec<(String, (String, String))>,
}

impl Root<'_> {
    /// The header and the field that an alias of the architecture refers to.
    pub(crate) fn aliased<'a>(&'a self, header: &'a str, field: &'a str) -> (&'a str, &'a str) {
        let is_meant = |alias: &str| {
            alias.strip_prefix(header).and_then(|rest| rest.strip_prefix('.')) == Some(field)
        };
        match self.field_aliases.iter().find(|(alias, _)| is_meant(alias)) {
            Some((_, (header, field))) => (header, field),
            None => (header, field),
        }
    }
}

#[derive(Deserialize)]
pub(crate) struct HeaderType<'a> {
    pub name: String,
    /// `[name, width]` or `[name, width, signed]`; a width of `"*"` is a varbit.
    #[serde(borrow)]
    pub fields: Vec<Vec<Value<'a>>>,
    #[serde(default)]
    pub length_exp: Option<Value<'a>>,
    #[serde(default)]
    pub max_length: Option<u64>,
}

#[derive(Deserialize)]
pub(crate) struct Header {
    pub name: String,
    pub id: u64,
    pub header_type: String,
    #[serde(default)]
    pub metadata: bool,
}

#[derive(Deserialize)]
pub(crate) struct HeaderStack {
    pub name: String,
    pub header_type: String,
    pub header_ids: Vec<u64>,
}

#[derive(Deserialize)]
pub(crate) struct HeaderUnionType {
    pub name: String,
    pub headers: Vec<(String, String)>,
}

#[derive(Deserialize)]
pub(crate) struct HeaderUnion {
    pub name: String,
    pub id: u64,
    pub header_ids: Vec<u64>,
}

#[derive(Deserialize)]
pub(crate) struct HeaderUnionStack {
    pub name: String,
    pub union_type: String,
    pub header_union_ids: Vec<u64>,
}

#[derive(Deserialize)]
pub(crate) struct FieldList<'a> {
    pub name: String,
    pub id: u64,
    #[serde(borrow)]
    pub elements: Vec<Value<'a>>,
}

#[derive(Deserialize)]
pub(crate) struct Parser<'a> {
    pub name: String,
    pub init_state: Option<String>,
    #[serde(borrow)]
    pub parse_states: Vec<ParseState<'a>>,
}

#[derive(Deserialize)]
pub(crate) struct ParseState<'a> {
    pub name: String,
    #[serde(borrow)]
    pub parser_ops: Vec<ParserOp<'a>>,
    #[serde(default)]
    pub transitions: Vec<Transition>,
    #[serde(default)]
    pub transition_key: Vec<Value<'a>>,
}

#[derive(Deserialize)]
pub(crate) struct ParserOp<'a> {
    pub op: String,
    #[serde(borrow)]
    pub parameters: Vec<Value<'a>>,
}

#[derive(Deserialize)]
pub(crate) struct Transition {
    #[serde(rename = "type", default)]
    pub kind: Option<String>,
    pub value: Option<String>,
    pub mask: Option<String>,
    pub next_state: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct ParseVset {
    pub name: String,
}

#[derive(Deserialize)]
pub(crate) struct Deparser<'a> {
    pub name: String,
    pub order: Vec<String>,
    #[serde(borrow, default)]
    pub primitives: Vec<Value<'a>>,
}

#[derive(Deserialize)]
pub(crate) struct MeterArray<'a> {
    pub name: String,
    #[serde(default)]
    pub is_direct: bool,
    #[serde(rename = "type")]
    pub kind: String,
    pub size: u64,
    #[serde(default)]
    pub rate_count: Option<u64>,
    #[serde(default)]
    pub binding: Option<String>,
    #[serde(borrow, default)]
    pub result_target: Option<Value<'a>>,
}

#[derive(Deserialize)]
pub(crate) struct CounterArray {
    pub name: String,
    #[serde(default)]
    pub is_direct: bool,
    #[serde(default)]
    pub size: Option<u64>,
    #[serde(default)]
    pub binding: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct RegisterArray {
    pub name: String,
    pub size: u64,
    pub bitwidth: u64,
}

#[derive(Deserialize)]
pub(crate) struct Calculation<'a> {
    pub name: String,
    pub algo: String,
    #[serde(borrow)]
    pub input: Vec<CalculationInput<'a>>,
}

#[derive(Deserialize)]
pub(crate) struct CalculationInput<'a> {
    #[serde(rename = "type")]
    pub kind: String,
    #[serde(borrow, default)]
    pub value: Value<'a>,
    #[serde(default)]
    pub bitwidth: Option<u64>,
}

#[derive(Deserialize)]
pub(crate) struct Action<'a> {
    pub name: String,
    pub id: u64,
    pub runtime_data: Vec<RuntimeData>,
    #[serde(borrow)]
    pub primitives: Vec<Primitive<'a>>,
}

#[derive(Deserialize)]
pub(crate) struct RuntimeData {
    pub name: String,
    pub bitwidth: u64,
}

#[derive(Deserialize)]
pub(crate) struct Primitive<'a> {
    pub op: String,
    #[serde(borrow)]
    pub parameters: Vec<Value<'a>>,
}

#[derive(Deserialize)]
pub(crate) struct Pipeline<'a> {
    pub name: String,
    pub init_table: Option<String>,
    #[serde(borrow)]
    pub tables: Vec<Table<'a>>,
    #[serde(default)]
    pub action_profiles: Vec<ActionProfile<'a>>,
    #[serde(default)]
    pub conditionals: Vec<Conditional<'a>>,
    #[serde(default)]
    pub action_calls: Vec<ActionCall>,
}

#[derive(Deserialize)]
pub(crate) struct ActionProfile<'a> {
    pub name: String,
    #[serde(default)]
    pub max_size: u64,
    #[serde(borrow, default)]
    pub selector: Option<Selector<'a>>,
}

/// How to select a member of a group: the hash modulo the group's size.
#[derive(Deserialize)]
pub(crate) struct Selector<'a> {
    pub algo: String,
    #[serde(borrow)]
    pub input: Vec<CalculationInput<'a>>,
}

#[derive(Deserialize)]
pub(crate) struct Table<'a> {
    pub name: String,
    pub match_type: String,
    #[serde(rename = "type")]
    pub kind: String,
    #[serde(default)]
    pub max_size: u64,
    #[serde(default)]
    pub with_counters: bool,
    #[serde(default)]
    pub action_profile: Option<String>,
    #[serde(default)]
    pub support_timeout: bool,
    #[serde(default)]
    pub direct_meters: Option<String>,
    #[serde(borrow)]
    pub key: Vec<Key<'a>>,
    pub actions: Vec<String>,
    #[serde(default)]
    pub action_ids: Option<Vec<u64>>,
    /// Maps an action name, `__HIT__` or `__MISS__` to a node name or null.
    pub next_tables: BTreeMap<String, Value<'a>>,
    #[serde(default)]
    pub base_default_next: Option<String>,
    #[serde(default)]
    pub default_entry: Option<DefaultEntry>,
    #[serde(default)]
    pub entries: Option<Vec<Entry<'a>>>,
}

#[derive(Deserialize)]
pub(crate) struct Key<'a> {
    pub match_type: String,
    #[serde(borrow)]
    pub target: Value<'a>,
    #[serde(default)]
    pub mask: Option<String>,
    #[serde(default)]
    pub name: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct DefaultEntry {
    pub action_id: u64,
    #[serde(default)]
    pub action_const: bool,
    #[serde(default)]
    pub action_data: Vec<String>,
    #[serde(default)]
    pub action_entry_const: bool,
}

#[derive(Deserialize)]
pub(crate) struct Entry<'a> {
    #[serde(borrow)]
    pub match_key: Vec<EntryKey<'a>>,
    pub action_entry: EntryAction,
    #[serde(default)]
    pub priority: i64,
}

#[derive(Deserialize)]
pub(crate) struct EntryKey<'a> {
    pub match_type: String,
    /// A hex string, or a boolean for `valid`.
    #[serde(borrow, default)]
    pub key: Value<'a>,
    #[serde(default)]
    pub mask: Option<String>,
    #[serde(default)]
    pub prefix_length: Option<u32>,
    #[serde(default)]
    pub start: Option<String>,
    #[serde(default)]
    pub end: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct EntryAction {
    pub action_id: u64,
    #[serde(default)]
    pub action_data: Vec<String>,
}

#[derive(Deserialize)]
pub(crate) struct Conditional<'a> {
    pub name: String,
    #[serde(borrow)]
    pub expression: Value<'a>,
    pub true_next: Option<String>,
    pub false_next: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct ActionCall {
    pub name: String,
    pub action_id: u64,
    pub next_node: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct Checksum<'a> {
    pub name: String,
    pub target: (String, String),
    pub calculation: String,
    #[serde(default = "yes")]
    pub update: bool,
    #[serde(default = "yes")]
    pub verify: bool,
    #[serde(borrow, default)]
    pub if_cond: Option<Value<'a>>,
}

fn yes() -> bool {
    true
}

#[derive(Deserialize)]
pub(crate) struct ExternInstance {
    pub name: String,
    #[serde(rename = "type")]
    pub kind: String,
}
