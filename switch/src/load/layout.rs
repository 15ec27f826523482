//! Assigns slots to all metadata and to every header field in use.
//!
//! ```text
//! 0..18                internal (crate::ir::internal); from 13 on (BRIDGED_START) kept for egress
//! ..metadata_start     headers: validity, origin, varbit, fields; stacks' next indices
//! ..bridged_end        metadata that is used before egress, and read in it
//! ..metadata_end       metadata that egress alone uses
//! ..egress_headers_end           headers that are never valid before egress
//! ..packet_end         metadata and fields of headers that egress does not use
//! parameters..         the running action's parameters
//! temporaries..        upwards
//! ..65535              constants, downwards
//! ```

use super::error::LoadError;
use super::field_plan::plan;
use super::json::Root;
use super::loader::Loader;
use super::names::FieldType;
use super::names::Names;
use super::scan::{Lifetime, Usage};
use crate::ir::{
    Field, FieldPlans, Header, NOWHERE, Op, Program, Slot, Stack, UnionStack, internal, limbs,
};
use std::collections::BTreeMap;

/// Slots for packets, at most; the rest is for constants and temporaries.
const PACKET_SLOTS_MAX: u32 = 40_000;

struct Layout<'a> {
    names: &'a Names,
    usage: &'a Usage,
    next: u32,
    headers: Vec<Header>,
}

pub(crate) fn lay_out<'a>(
    root: &'a Root<'a>,
    mut names: Names,
    usage: &Usage,
) -> Result<Loader<'a>, LoadError> {
    names.location = "headers".into();
    let mut layout =
        Layout { names: &names, usage, next: u32::from(internal::END), headers: vec![] };
    for (index, header) in root.headers.iter().enumerate() {
        layout.header(index as u16, &header.name, header.metadata)?;
    }
    layout.place_headers(&names.stacks, false)?;
    layout.check_groups()?;
    let stacks = layout.stacks()?;
    let union_stacks = layout.union_stacks()?;
    let metadata_start = layout.next;
    layout.metadata(Lifetime::Bridged)?;
    let bridged_end = layout.next;
    layout.metadata(Lifetime::Egress)?;
    let metadata_end = layout.next;
    layout.place_headers(&[], true)?;
    let egress_headers_end = layout.next;
    layout.metadata(Lifetime::Ingress)?;
    layout.place_ingress_fields()?;
    let packet_end = layout.next;
    layout.next += parameter_slots(root);
    layout.check()?;
    let mut headers = layout.headers;
    let temporaries_start = layout.next;
    for members in names.unions() {
        for &member in members {
            let siblings = members.iter().copied().filter(|&other| other != member);
            headers[member as usize].siblings = siblings.collect();
        }
    }
    let fields = field_names(&headers);
    let of_egress =
        |index: &u16| !headers[*index as usize].metadata && !usage.ingress_headers.contains(index);
    let egress_headers = (0..headers.len() as u16).filter(of_egress).collect();
    let program = Program {
        ops: vec![Op::Halt],
        headers,
        stacks,
        union_stacks,
        egress_headers,
        packet_end: packet_end as Slot,
        bridged_end: bridged_end as Slot,
        metadata_end: metadata_end as Slot,
        egress_headers_end: egress_headers_end as Slot,
        metadata_start: metadata_start as Slot,
        parameters: packet_end as Slot,
        fields,
        ..Program::default()
    };
    Ok(Loader {
        root,
        names,
        program,
        locals: vec![],
        temporary: temporaries_start,
        temporaries_start,
        // NOWHERE is the topmost slot.
        constants_start: u32::from(NOWHERE),
        constants: BTreeMap::new(),
        action_ids: BTreeMap::new(),
    })
}

/// The parameter slots of the action with the most parameters.
fn parameter_slots(root: &Root) -> u32 {
    let most = root.actions.iter().map(|action| {
        let widths = action.runtime_data.iter().map(|data| data.bitwidth.min(1 << 20) as u32);
        widths.map(|width| u32::from(limbs(width))).sum::<u32>()
    });
    // At least one: an indirect table stores its member's number there.
    most.max().unwrap_or(0).max(1)
}

fn field_names(headers: &[Header]) -> BTreeMap<(String, String), (Slot, u32)> {
    let mut fields = BTreeMap::new();
    for header in headers {
        for field in header.fields.iter().filter(|field| field.slot != NOWHERE) {
            let name = (header.name.clone(), field.name.clone());
            fields.insert(name, (field.slot, field.width));
        }
    }
    fields
}

impl Layout<'_> {
    /// Takes `count` slots.
    fn take(&mut self, count: u16) -> Result<Slot, LoadError> {
        let slot = self.next;
        self.next += u32::from(count);
        self.check()?;
        Ok(slot as Slot)
    }

    fn check(&self) -> Result<(), LoadError> {
        if self.next > PACKET_SLOTS_MAX {
            return Err(self.names.too_big("more than 40,000 slots of header fields"));
        }
        Ok(())
    }

    /// Reads a header instance; its slots are assigned later.
    fn header(&mut self, index: u16, name: &str, metadata: bool) -> Result<(), LoadError> {
        let kind = self.names.kind(index);
        let (mut fields, mut bit, mut has_varbit) = (vec![], 0u32, false);
        for FieldType { name, width, signed } in &kind.fields {
            fields.push(Field {
                name: name.clone(),
                width: width.unwrap_or(0),
                signed: *signed,
                slot: NOWHERE,
                bit,
                after_varbit: has_varbit,
                varbit: width.is_none(),
            });
            if width.is_none() && bit % 8 != 0 && !metadata {
                return Err(self.names.unsupported("a varbit inside a byte in", &kind.name));
            }
            has_varbit |= width.is_none();
            bit += width.unwrap_or(0);
            if bit > 1 << 18 {
                return Err(self.names.too_big(format!("header type '{}'", kind.name)));
            }
        }
        if bit % 8 != 0 && !metadata {
            return Err(self.names.malformed(
                format!("header type '{}'", kind.name),
                "whole bytes",
                format!("{bit} bits"),
            ));
        }
        self.headers.push(Header {
            name: name.to_owned(),
            header_type: self.names.headers[index as usize],
            metadata,
            base: NOWHERE,
            stride: 0,
            fields,
            fixed_bytes: bit / 8,
            max_bytes: kind.max_bytes,
            has_varbit,
            built: false,
            rank: 0,
            extract: FieldPlans::default(),
            patch: FieldPlans::default(),
            siblings: vec![],
        });
        Ok(())
    }

    /// Places stacks first, each in one piece with a constant stride.
    fn place_headers(
        &mut self,
        stacks: &[(String, Vec<u16>)],
        with_egress_headers: bool,
    ) -> Result<(), LoadError> {
        let members = stacks.iter().flat_map(|(_, members)| members.iter().copied());
        let all = 0..self.headers.len() as u16;
        for index in members.chain(all) {
            let header = &self.headers[index as usize];
            let wanted = with_egress_headers || self.usage.ingress_headers.contains(&index);
            if header.base == NOWHERE && !header.metadata && wanted {
                self.place_header(index)?;
            }
        }
        Ok(())
    }

    /// Checks that stacks and unions contain headers, not metadata.
    fn check_groups(&self) -> Result<(), LoadError> {
        let stacks = self.names.stacks.iter().flat_map(|(_, members)| members);
        for &member in stacks.chain(self.names.unions().flatten()) {
            let header = &self.headers[member as usize];
            if header.metadata {
                return Err(self
                    .names
                    .unsupported("in a stack or union, the metadata", &header.name));
            }
        }
        Ok(())
    }

    fn place_header(&mut self, index: u16) -> Result<(), LoadError> {
        let built = self.usage.built.contains(&index);
        let base = self.take(self.headers[index as usize].parts())?;
        self.place_fields(index, |usage, key| {
            built || usage.written.contains(&key) || usage.egress.contains(&key)
        })?;
        let header = &mut self.headers[index as usize];
        header.base = base;
        header.built = built;
        header.stride = (self.next - u32::from(base)) as u16;
        Ok(())
    }

    /// Places fields that egress neither uses nor writes back; then plans how to read and write
    /// each header's fields.
    fn place_ingress_fields(&mut self) -> Result<(), LoadError> {
        for index in 0..self.headers.len() as u16 {
            if self.headers[index as usize].metadata {
                continue;
            }
            self.place_fields(index, |usage, key| usage.used.contains(&key))?;
            let header = &self.headers[index as usize];
            let (mut extract, mut patch) = (FieldPlans::default(), FieldPlans::default());
            let placed = |(_, field): &(usize, &Field)| field.slot != NOWHERE;
            for (i, field) in header.fields.iter().enumerate().filter(placed) {
                plan(&mut extract, header, field);
                if header.built || self.usage.written.contains(&(index, i as u16)) {
                    plan(&mut patch, header, field);
                }
            }
            let header = &mut self.headers[index as usize];
            (header.extract, header.patch) = (extract, patch);
        }
        Ok(())
    }

    /// Assigns slots to the wanted fields of a header that have none.
    fn place_fields(
        &mut self,
        index: u16,
        is_wanted: impl Fn(&Usage, (u16, u16)) -> bool,
    ) -> Result<(), LoadError> {
        for i in 0..self.headers[index as usize].fields.len() {
            let field = &self.headers[index as usize].fields[i];
            let is_new = field.slot == NOWHERE && !field.varbit;
            if is_new && is_wanted(self.usage, (index, i as u16)) {
                let slot = self.take(limbs(field.width))?;
                self.headers[index as usize].fields[i].slot = slot;
            }
        }
        Ok(())
    }

    fn stacks(&mut self) -> Result<Vec<Stack>, LoadError> {
        let names = self.names;
        let stack = |(_, headers): &(String, Vec<u16>)| {
            let next = self.take(1)?;
            Ok(Stack { headers: headers.clone(), next })
        };
        names.stacks.iter().map(stack).collect()
    }

    fn union_stacks(&mut self) -> Result<Vec<UnionStack>, LoadError> {
        let names = self.names;
        let stack = |(_, _, unions): &(String, Vec<String>, Vec<Vec<u16>>)| {
            let column = |member| unions.iter().map(|union| union[member]).collect();
            let columns = (0..unions[0].len()).map(column).collect();
            Ok(UnionStack { unions: unions.clone(), columns, next: self.take(1)? })
        };
        names.union_stacks.iter().map(stack).collect()
    }

    /// Assigns slots to the metadata of a lifetime.
    fn metadata(&mut self, lifetime: Lifetime) -> Result<(), LoadError> {
        for index in 0..self.headers.len() as u16 {
            let header = &self.headers[index as usize];
            if !header.metadata {
                continue;
            }
            if header.has_varbit && header.base == NOWHERE {
                self.headers[index as usize].base = self.take(header.parts())?;
            }
            self.place_fields(index, |usage, key| usage.lifetime(key) == lifetime)?;
        }
        Ok(())
    }
}
