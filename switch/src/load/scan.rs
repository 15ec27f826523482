//! Finds what a program refers to, before anything is lowered.
//!
//! A header field without a reference stays in the packet's bytes and costs nothing. A field that
//! may be written is stored at the end. A header that can become valid by other operations than
//! extraction (`setValid`, assignment, stacks, unions) is *built*: all its fields have slots. A
//! waiting packet does not keep what egress does not refer to. Metadata without a reference gets no
//! slot.

use super::error::LoadError;
use super::json::{Root, Table};
use super::names::Names;
use super::value::Value;
use crate::ir::SET_BEFORE_EGRESS;
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

    /// A `[header, field]` pair, or a header's name.
    fn reference(&mut self, pair: &Value) {
        let (Some(header), Some(field)) = (pair[0].as_str(), pair[1].as_str()) else { return };
        let Ok(header) = self.names.header(header) else { return };
        let Ok(field) = self.names.header_field(header, field) else { return };
        self.usage.used.insert((header, field));
        self.sides([(header, field)].into_iter());
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

    fn destination(&mut self, pair: &Value) {
        self.reference(pair);
        let (Some(header), Some(field)) = (pair[0].as_str(), pair[1].as_str()) else { return };
        let Ok(header) = self.names.header(header) else { return };
        let Ok(field) = self.names.header_field(header, field) else { return };
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
        self.sides(fields.map(|field| (header, field)));
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
            self.value(parameter);
            let kind = parameter["type"].as_str().unwrap_or("");
            if let ("calculation", Some(name)) = (kind, parameter["value"].as_str()) {
                self.calculation(name);
            }
            let first_only = matches!(op, "assign" | "set" | "register_read" | "modify_field");
            if kind == "field" && (i == 0 || !first_only) && op != "register_write" {
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
