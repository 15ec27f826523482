//! Finds objects by name, with errors that say what was sought.

use super::error::LoadError;
use super::json::Root;
use super::value::Value;
use std::collections::BTreeMap;
use std::fmt::Display;

/// A field as a header type declares it.
#[derive(Clone, Debug)]
pub(crate) struct FieldType {
    pub name: String,
    /// `None` for a varbit.
    pub width: Option<u32>,
    pub signed: bool,
}

/// A header type.
#[derive(Clone, Debug)]
pub(crate) struct HeaderType {
    pub name: String,
    pub fields: Vec<FieldType>,
    field_index: BTreeMap<String, u16>,
    pub max_bytes: u32,
}

/// All names of a program.
pub(crate) struct Names {
    /// The location being loaded, for errors.
    pub location: String,
    pub types: Vec<HeaderType>,
    /// Index into `types` of each header instance.
    pub headers: Vec<u16>,
    header_index: BTreeMap<String, u16>,
    header_ids: BTreeMap<u64, u16>,
    /// The name and the members of each stack.
    pub stacks: Vec<(String, Vec<u16>)>,
    unions: BTreeMap<String, Vec<u16>>,
    union_ids: BTreeMap<u64, Vec<u16>>,
    /// The name, member names and elements of each stack of unions.
    pub union_stacks: Vec<(String, Vec<String>, Vec<Vec<u16>>)>,
    registers: BTreeMap<String, u16>,
    counters: BTreeMap<String, u16>,
    meters: BTreeMap<String, u16>,
    calculations: BTreeMap<String, u16>,
    value_sets: BTreeMap<String, u16>,
}

/// The most headers of one program; far above what p4c emits.
const HEADERS_MAX: usize = 8192;
/// The widest field.
const WIDTH_MAX: u64 = 16_384;

impl Names {
    pub(crate) fn new(root: &Root) -> Result<Names, LoadError> {
        let mut names = Names {
            location: "header_types".into(),
            types: vec![],
            headers: vec![],
            header_index: BTreeMap::new(),
            header_ids: BTreeMap::new(),
            stacks: vec![],
            unions: BTreeMap::new(),
            union_ids: BTreeMap::new(),
            union_stacks: vec![],
            registers: index(root.register_arrays.iter().map(|r| &r.name)),
            counters: index(root.counter_arrays.iter().map(|c| &c.name)),
            meters: index(root.meter_arrays.iter().map(|m| &m.name)),
            calculations: index(root.calculations.iter().map(|c| &c.name)),
            value_sets: index(root.parse_vsets.iter().map(|v| &v.name)),
        };
        names.header_types(root)?;
        names.header_instances(root)?;
        names.header_groups(root)?;
        Ok(names)
    }

    fn header_types(&mut self, root: &Root) -> Result<(), LoadError> {
        for header in &root.header_types {
            self.location = format!("header type '{}'", header.name);
            if header.length_exp.is_some() {
                return Err(self.unsupported("a length expression of", &header.name));
            }
            let mut fields = vec![];
            for field in &header.fields {
                let parts = (field.first().and_then(Value::as_str), field.get(1));
                let (Some(name), Some(width)) = parts else {
                    return Err(self.malformed("a field", "[name, width, signed]", field));
                };
                let width = match (width.as_u64(), width.as_str()) {
                    (Some(width @ 1..=WIDTH_MAX), _) => Some(width as u32),
                    (_, Some("*")) => None,
                    _ => return Err(self.malformed(name, "a width of 1 to 16,384 bits", width)),
                };
                let signed = field.get(2).and_then(Value::as_bool).unwrap_or(false);
                fields.push(FieldType { name: name.to_owned(), width, signed });
            }
            if fields.iter().filter(|field| field.width.is_none()).count() > 1 {
                return Err(self.unsupported("a second varbit in", &header.name));
            }
            let name = header.name.clone();
            let field_index = index(fields.iter().map(|field| &field.name));
            let max_bytes = header.max_length.unwrap_or(0).min(1 << 16) as u32;
            self.types.push(HeaderType { name, fields, field_index, max_bytes });
        }
        Ok(())
    }

    fn header_instances(&mut self, root: &Root) -> Result<(), LoadError> {
        if root.headers.len() > HEADERS_MAX {
            return Err(self.too_big("more than 8,192 headers"));
        }
        for header in &root.headers {
            self.location = format!("header '{}'", header.name);
            let found = self.types.iter().position(|kind| kind.name == header.header_type);
            let Some(kind) = found else {
                return Err(self.unknown("header type", &header.header_type));
            };
            let index = self.headers.len() as u16;
            self.headers.push(kind as u16);
            let first = self.header_index.insert(header.name.clone(), index).is_none();
            if !first || self.header_ids.insert(header.id, index).is_some() {
                return Err(self.malformed("name and id", "both its own", &header.name));
            }
        }
        Ok(())
    }

    fn header_groups(&mut self, root: &Root) -> Result<(), LoadError> {
        for stack in &root.header_stacks {
            self.location = format!("header stack '{}'", stack.name);
            let members = self.members(&stack.header_ids)?;
            let same = members.iter().all(|&member| {
                let kind = self.headers[member as usize] as usize;
                self.types[kind].name == stack.header_type
            });
            if members.is_empty() || !same {
                let expected = format!("one or more headers of type {}", stack.header_type);
                return Err(self.malformed("header_ids", expected, &stack.header_ids));
            }
            self.stacks.push((stack.name.clone(), members));
        }
        for union in &root.header_unions {
            self.location = format!("header union '{}'", union.name);
            let members = self.members(&union.header_ids)?;
            self.unions.insert(union.name.clone(), members.clone());
            self.union_ids.insert(union.id, members);
        }
        for stack in &root.header_union_stacks {
            self.location = format!("header union stack '{}'", stack.name);
            let kind = root.header_union_types.iter().find(|kind| kind.name == stack.union_type);
            let Some(kind) = kind else {
                return Err(self.unknown("header union type", &stack.union_type));
            };
            let labels: Vec<_> = kind.headers.iter().map(|(label, _)| label.clone()).collect();
            let mut elements = vec![];
            for id in &stack.header_union_ids {
                match self.union_ids.get(id) {
                    Some(members) if members.len() == labels.len() => {
                        elements.push(members.clone());
                    }
                    _ => return Err(self.unknown("header union with id", id)),
                }
            }
            if elements.is_empty() {
                return Err(self.malformed("header_union_ids", "one or more", "none"));
            }
            self.union_stacks.push((stack.name.clone(), labels, elements));
        }
        Ok(())
    }

    fn members(&self, ids: &[u64]) -> Result<Vec<u16>, LoadError> {
        ids.iter()
            .map(|id| self.header_ids.get(id).copied())
            .collect::<Option<Vec<_>>>()
            .ok_or_else(|| self.malformed("header_ids", "ids of headers", ids))
    }

    pub(crate) fn header(&self, name: &str) -> Result<u16, LoadError> {
        self.header_index.get(name).copied().ok_or_else(|| self.unknown("header", name))
    }

    pub(crate) fn kind(&self, header: u16) -> &HeaderType {
        &self.types[self.headers[header as usize] as usize]
    }

    pub(crate) fn header_field(&self, header: u16, name: &str) -> Result<u16, LoadError> {
        let kind = self.kind(header);
        let unknown = || self.unknown("field", format!("{}.{name}", kind.name));
        kind.field_index.get(name).copied().ok_or_else(unknown)
    }

    pub(crate) fn field_index(&self, header: u16, field: u64) -> Result<u16, LoadError> {
        match self.kind(header).fields.get(field as usize) {
            Some(_) => Ok(field as u16),
            None => Err(self.unknown("field with index", field)),
        }
    }

    pub(crate) fn stack(&self, name: &str) -> Result<u16, LoadError> {
        let found = self.stacks.iter().position(|(stack, _)| stack == name);
        found.map(|stack| stack as u16).ok_or_else(|| self.unknown("header stack", name))
    }

    pub(crate) fn stack_field(&self, stack: u16, name: &str) -> Result<u16, LoadError> {
        self.header_field(self.stacks[stack as usize].1[0], name)
    }

    pub(crate) fn union(&self, name: &str) -> Result<&[u16], LoadError> {
        match self.unions.get(name) {
            Some(members) => Ok(members),
            None => Err(self.unknown("header union", name)),
        }
    }

    pub(crate) fn unions(&self) -> impl Iterator<Item = &[u16]> {
        self.unions.values().map(Vec::as_slice)
    }

    pub(crate) fn union_stack(&self, name: &str) -> Result<u16, LoadError> {
        let found = self.union_stacks.iter().position(|(stack, ..)| stack == name);
        found.map(|stack| stack as u16).ok_or_else(|| self.unknown("header union stack", name))
    }

    /// The index of the union member with this name.
    pub(crate) fn union_member(&self, stack: u16, name: &str) -> Result<u16, LoadError> {
        let labels = &self.union_stacks[stack as usize].1;
        let found = labels.iter().position(|label| label == name);
        found
            .map(|member| member as u16)
            .ok_or_else(|| self.unknown("member of the header union stack", name))
    }

    pub(crate) fn register(&self, name: &str) -> Result<u16, LoadError> {
        self.find(&self.registers, "register array", name)
    }
    pub(crate) fn counter(&self, name: &str) -> Result<u16, LoadError> {
        self.find(&self.counters, "counter array", name)
    }
    pub(crate) fn meter(&self, name: &str) -> Result<u16, LoadError> {
        self.find(&self.meters, "meter array", name)
    }
    pub(crate) fn calculation(&self, name: &str) -> Result<u16, LoadError> {
        self.find(&self.calculations, "calculation", name)
    }
    pub(crate) fn value_set(&self, name: &str) -> Result<u16, LoadError> {
        self.find(&self.value_sets, "value set", name)
    }

    fn find(
        &self,
        map: &BTreeMap<String, u16>,
        kind: &'static str,
        name: &str,
    ) -> Result<u16, LoadError> {
        map.get(name).copied().ok_or_else(|| self.unknown(kind, name))
    }

    /// The string at `value[key]`.
    pub(crate) fn text<'v>(&self, value: &'v Value, key: &str) -> Result<&'v str, LoadError> {
        value[key].as_str().ok_or_else(|| self.malformed(key, "a string", value))
    }

    pub(crate) fn string<'v>(&self, value: &'v Value) -> Result<&'v str, LoadError> {
        value.as_str().ok_or_else(|| self.malformed("a name", "a string", value))
    }

    pub(crate) fn unknown(&self, kind: &'static str, name: impl Display) -> LoadError {
        LoadError::Unknown { location: self.location.clone(), kind, name: name.to_string() }
    }

    pub(crate) fn unsupported(&self, what: impl Display, name: impl Display) -> LoadError {
        LoadError::Unsupported {
            location: self.location.clone(),
            what: what.to_string(),
            name: name.to_string(),
        }
    }

    pub(crate) fn malformed(
        &self,
        what: impl Display,
        expected: impl Display,
        found: impl serde::Serialize,
    ) -> LoadError {
        let mut found = serde_json::to_string(&found).unwrap_or_default();
        if let Some((end, _)) = found.char_indices().nth(80) {
            found.truncate(end);
            found.push_str("...");
        }
        LoadError::Malformed {
            location: self.location.clone(),
            what: what.to_string(),
            expected: expected.to_string(),
            found,
        }
    }

    pub(crate) fn too_big(&self, what: impl Display) -> LoadError {
        LoadError::TooBig { location: self.location.clone(), what: what.to_string() }
    }
}

fn index<'a>(names: impl Iterator<Item = &'a String>) -> BTreeMap<String, u16> {
    names.enumerate().map(|(i, name)| (name.clone(), i as u16)).collect()
}
