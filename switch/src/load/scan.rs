//! Finds what a program refers to, before anything is lowered.
//!
//! A header field without a reference stays in the packet's bytes and costs nothing. A field that
//! may be written is stored at the end. A header that can become valid by other operations than
//! extraction (`setValid`, assignment, stacks, unions) is *built*: all its fields have slots. A
//! waiting packet does not keep what egress does not refer to, nor metadata that egress does not
//! read.

use super::error::LoadError;
use super::json::{Root, Table};
use super::names::Names;
use super::value::Value;
use crate::ir::{SET_AT_DEQUEUE, SET_BEFORE_EGRESS};
use std::collections::BTreeSet;

/// The program's references, as `(header, field)`.
#[derive(Default)]
pub(crate) struct Usage {
    pub used: BTreeSet<(u16, u16)>,
    pub written: BTreeSet<(u16, u16)>,
    pub built: BTreeSet<u16>,
    /// Headers that may be valid before egress.
    pub ingress_headers: BTreeSet<u16>,
    /// Used before egress.
    pub ingress: BTreeSet<(u16, u16)>,
    /// Used from egress on.
    pub egress: BTreeSet<(u16, u16)>,
    /// Read from egress on.
    pub egress_reads: BTreeSet<(u16, u16)>,
    /// Set by the architecture when a packet leaves its queue.
    pub set_at_dequeue: BTreeSet<(u16, u16)>,
}

/// How long a packet keeps a field of metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lifetime {
    /// From ingress to egress.
    Bridged,
    /// In egress.
    Egress,
    /// In ingress. Egress may write it, but does not read it.
    Ingress,
}

impl Usage {
    /// How long a packet keeps this field of metadata.
    pub(crate) fn lifetime(&self, key: (u16, u16)) -> Lifetime {
        if self.egress.contains(&key) && !self.ingress.contains(&key) {
            Lifetime::Egress
        } else if self.egress_reads.contains(&key) && !self.set_at_dequeue.contains(&key) {
            Lifetime::Bridged
        } else {
            Lifetime::Ingress
        }
    }
}

pub(crate) fn scan(root: &Root, names: &mut Names) -> Result<Usage, LoadError> {
    let mut scan = Scan { root, names, usage: Usage::default(), ingress: true, egress: false };
    scan.groups();
    scan.standard_metadata();
    for parser in &root.parsers {
        for state in &parser.parse_states {
            for op in &state.parser_ops {
                scan.primitive(&op.op, &op.parameters);
            }
            state.transition_key.iter().for_each(|key| scan.value(key));
        }
    }
    for pipeline in &root.pipelines {
        scan.ingress = pipeline.name == "ingress";
        scan.egress = !scan.ingress;
        for conditional in &pipeline.conditionals {
            scan.value(&conditional.expression);
        }
        for table in &pipeline.tables {
            table.key.iter().for_each(|key| scan.reference(&key.target));
            for action in actions_of(root, table) {
                for primitive in &action.primitives {
                    scan.primitive(&primitive.op, &primitive.parameters);
                }
            }
        }
        for call in &pipeline.action_calls {
            for action in root.actions.iter().filter(|action| action.id == call.action_id) {
                for primitive in &action.primitives {
                    scan.primitive(&primitive.op, &primitive.parameters);
                }
            }
        }
    }
    // The primitives have recorded which side uses which calculation.
    (scan.ingress, scan.egress) = (false, false);
    for input in root.calculations.iter().flat_map(|calculation| &calculation.input) {
        scan.input(&input.kind, &input.value);
    }
    // Selectors, checksums and lists serve both sides, so all their fields are kept.
    (scan.ingress, scan.egress) = (true, true);
    let profiles = root.pipelines.iter().flat_map(|pipeline| &pipeline.action_profiles);
    let selectors = profiles.flat_map(|profile| &profile.selector);
    for input in selectors.flat_map(|selector| &selector.input) {
        scan.input(&input.kind, &input.value);
    }
    for list in root.field_lists.iter().chain(&root.learn_lists) {
        list.elements.iter().for_each(|element| scan.value(element));
    }
    for checksum in &root.checksums {
        checksum.if_cond.iter().for_each(|condition| scan.value(condition));
        scan.calculation(&checksum.calculation);
        scan.destination(&Value::pair(&checksum.target.0, &checksum.target.1));
    }
    for meter in &root.meter_arrays {
        meter.result_target.iter().for_each(|target| scan.destination(target));
    }
    let primitives = root.deparsers.iter().flat_map(|deparser| &deparser.primitives);
    for call in primitives {
        scan.call(call);
    }
    Ok(scan.usage)
}

/// A table's actions by id, since several actions may share a name.
pub(crate) fn actions_of<'a>(
    root: &'a Root<'a>,
    table: &'a Table<'a>,
) -> impl Iterator<Item = &'a super::json::Action<'a>> {
    root.actions.iter().filter(|action| match &table.action_ids {
        Some(ids) => ids.contains(&action.id),
        None => table.actions.contains(&action.name),
    })
}

struct Scan<'a> {
    root: &'a Root<'a>,
    names: &'a Names,
    usage: Usage,
    /// Whether the scanned code runs before egress, or from egress on.
    ingress: bool,
    egress: bool,
}

impl Scan<'_> {
    /// The fields that the architecture sets, and those that every program has.
    fn standard_metadata(&mut self) {
        for (header, field) in SET_BEFORE_EGRESS {
            let (header, field) = self.root.aliased(header, field);
            self.reference(&Value::pair(header, field));
        }
        self.reference(&Value::pair("standard_metadata", "egress_spec"));
        // It is set when a packet leaves its queue.
        (self.ingress, self.egress) = (false, true);
        self.reference(&Value::pair("standard_metadata", "egress_port"));
        (self.ingress, self.egress) = (true, false);
        for (header, field) in SET_AT_DEQUEUE {
            let (header, field) = self.root.aliased(header, field);
            let key = self.key(&Value::pair(header, field));
            self.usage.set_at_dequeue.extend(key);
        }
    }

    fn groups(&mut self) {
        for (_, members) in &self.names.stacks {
            self.usage.built.extend(members);
            self.usage.ingress_headers.extend(members);
        }
        for members in self.names.unions() {
            self.usage.built.extend(members);
            self.usage.ingress_headers.extend(members);
        }
    }

    /// The field that a `[header, field]` pair names.
    fn key(&self, pair: &Value) -> Option<(u16, u16)> {
        let header = self.names.header(pair[0].as_str()?).ok()?;
        Some((header, self.names.header_field(header, pair[1].as_str()?).ok()?))
    }

    /// Records a `[header, field]` pair as read.
    fn reference(&mut self, pair: &Value) {
        let key = self.key(pair);
        self.used(key);
        if self.egress {
            self.usage.egress_reads.extend(key);
        }
    }

    fn used(&mut self, key: Option<(u16, u16)>) {
        self.usage.used.extend(key);
        self.sides(key.into_iter());
    }

    /// Records on which side of the queue fields are used.
    fn sides(&mut self, fields: impl Iterator<Item = (u16, u16)> + Clone) {
        if self.ingress {
            self.usage.ingress.extend(fields.clone());
        }
        if self.egress {
            self.usage.egress.extend(fields);
        }
    }

    /// Records a `[header, field]` pair as written.
    fn destination(&mut self, pair: &Value) {
        let key = self.key(pair);
        self.used(key);
        let Some((header, field)) = key else { return };
        self.usage.written.insert((header, field));
        if self.names.kind(header).fields[field as usize].width.is_none() {
            self.usage.built.insert(header);
        }
    }

    fn built(&mut self, value: &Value) {
        let header = value["value"].as_str().and_then(|name| self.names.header(name).ok());
        let Some(header) = header else { return };
        self.usage.built.insert(header);
        let fields = 0..self.names.kind(header).fields.len() as u16;
        let keys = fields.map(|field| (header, field));
        self.sides(keys.clone());
        if self.egress {
            self.usage.egress_reads.extend(keys);
        }
    }

    /// The inputs of a calculation.
    fn calculation(&mut self, name: &str) {
        let root = self.root;
        let found = root.calculations.iter().filter(|calculation| calculation.name == name);
        for input in found.flat_map(|calculation| &calculation.input) {
            self.input(&input.kind, &input.value);
        }
    }

    fn input(&mut self, kind: &str, value: &Value) {
        match kind {
            "field" => self.reference(value),
            "header" => {
                let header = value.as_str().and_then(|name| self.names.header(name).ok());
                self.usage.built.extend(header);
            }
            _ => {}
        }
    }

    /// Records everything in a value as read.
    fn value(&mut self, value: &Value) {
        match value {
            Value::Object(pairs) => {
                if value["type"] == "field" {
                    self.reference(&value["value"]);
                }
                // A comparison of headers reads all their fields.
                let compares = value["op"] == "==" || value["op"] == "!=";
                if compares && value["left"]["type"] == "header" {
                    self.built(&value["left"]);
                    self.built(&value["right"]);
                }
                pairs.iter().for_each(|(_, inner)| self.value(inner));
            }
            Value::Array(array) => array.iter().for_each(|inner| self.value(inner)),
            _ => {}
        }
    }

    fn call(&mut self, call: &Value) {
        if let (Some(op), Some(parameters)) = (call["op"].as_str(), call["parameters"].as_array()) {
            self.primitive(op, parameters);
        }
    }

    fn primitive(&mut self, op: &str, parameters: &[Value]) {
        // A parser's `primitive` wraps the call.
        if op == "primitive" {
            parameters.iter().for_each(|call| self.call(call));
            return;
        }
        for (i, parameter) in parameters.iter().enumerate() {
            let kind = parameter["type"].as_str().unwrap_or("");
            let only_first = matches!(op, "assign" | "set" | "register_read" | "modify_field");
            if i > 0 || !only_first || kind != "field" {
                self.value(parameter);
            }
            if let ("calculation", Some(name)) = (kind, parameter["value"].as_str()) {
                self.calculation(name);
            }
            if kind == "field" && (i == 0 || !only_first) && op != "register_write" {
                self.destination(&parameter["value"]);
            }
            let extracts = matches!(op, "extract" | "extract_VL" | "remove_header");
            // `mark_to_drop` has the whole standard metadata as its parameter, but sets two fields.
            if kind == "header" && !extracts && op != "mark_to_drop" {
                self.built(parameter);
            }
            if matches!(kind, "header" | "regular") && !self.egress {
                let name = parameter["value"].as_str();
                self.usage
                    .ingress_headers
                    .extend(name.and_then(|name| self.names.header(name).ok()));
            }
        }
        if op == "mark_to_drop" {
            for field in ["egress_spec", "mcast_grp"] {
                self.destination(&Value::pair("standard_metadata", field));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bottleneck() -> String {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../p4/build/v1model.json");
        std::fs::read_to_string(path).expect("the bottleneck")
    }

    #[test]
    fn a_packet_keeps_metadata_as_long_as_it_is_read() {
        let text = bottleneck();
        let root: Root = serde_json::from_str(&text).expect("a program");
        let mut names = Names::new(&root).expect("names");
        let usage = scan(&root, &mut names).expect("usage");
        for (header, field, lifetime) in [
            ("scalars", "metadata_t.flow_id", Lifetime::Bridged),
            ("standard_metadata", "priority", Lifetime::Bridged),
            // A copy for a report keeps it.
            ("scalars", "metadata_t.queue_delay", Lifetime::Bridged),
            ("scalars", "metadata_t.may_mark", Lifetime::Egress),
            ("scalars", "metadata_t.src_port", Lifetime::Ingress),
            // Egress writes this to drop a packet.
            ("standard_metadata", "mcast_grp", Lifetime::Ingress),
            ("standard_metadata", "egress_spec", Lifetime::Ingress),
        ] {
            let header = names.header(header).expect("a header");
            let key = (header, names.header_field(header, field).expect("a field"));
            assert_eq!(usage.lifetime(key), lifetime, "{field}");
        }
    }

    #[test]
    fn the_names_of_fields_set_at_dequeue_are_those_of_their_slots() {
        let text = bottleneck();
        let root: Root = serde_json::from_str(&text).expect("a program");
        let program = crate::load::load(&text).expect("a program");
        let named: Vec<_> = SET_AT_DEQUEUE
            .iter()
            .map(|(header, field)| root.aliased(header, field))
            .filter_map(|(header, field)| {
                program.fields.get(&(header.to_owned(), field.to_owned())).map(|&(slot, _)| slot)
            })
            .collect();
        let set: Vec<_> = program.standard.set_at_dequeue().map(|field| field.slot).into();
        let set: Vec<_> = set.into_iter().filter(|&slot| slot != crate::ir::NOWHERE).collect();
        assert!(set.len() > 5);
        assert_eq!(named, set);
    }
}
