//! Validates, invalidates and copies headers, and shifts stacks.

use super::calculation::varbit;
use super::machine::Machine;
use crate::ir::{Header, HeaderRef, Program, Slot, internal};
use narrows_common::Packet;

impl Machine {
    pub(super) fn is_valid(&self, header: &Header) -> bool {
        self.get(header.valid()) != 0
    }

    /// Bytes that a valid header occupies in the packet.
    pub(super) fn header_bytes(&self, header: &Header) -> u64 {
        let varbit = if header.has_varbit { self.get(header.varbit_bytes()) } else { 0 };
        u64::from(header.fixed_bytes) + varbit
    }

    pub(crate) fn set_valid(&mut self, program: &Program, header: u16) {
        let header = &program.headers[header as usize];
        if self.is_valid(header) {
            return;
        }
        let base = header.base as usize;
        self.slots[base..base + header.stride as usize].fill(0);
        self.set(header.valid(), 1);
        self.set(internal::MOVED, 1);
        self.slots[internal::LENGTH as usize] += u64::from(header.fixed_bytes);
        self.leave_union(program, header);
    }

    /// Invalidates the other members of a header's union: at most one is valid.
    pub(super) fn leave_union(&mut self, program: &Program, header: &Header) {
        for &sibling in &header.siblings {
            self.set_invalid(program, sibling);
        }
    }

    pub(crate) fn set_invalid(&mut self, program: &Program, header: u16) {
        let header = &program.headers[header as usize];
        if self.is_valid(header) {
            let bytes = self.header_bytes(header);
            let length = &mut self.slots[internal::LENGTH as usize];
            *length = length.saturating_sub(bytes);
            self.set(header.valid(), 0);
            self.set(internal::MOVED, 1);
        }
    }

    pub(crate) fn copy_header(&mut self, program: &Program, d: u16, a: u16) {
        if d == a {
            return;
        }
        let from = &program.headers[a as usize];
        self.set_invalid(program, d);
        if !self.is_valid(from) {
            return;
        }
        let to = &program.headers[d as usize];
        self.leave_union(program, to);
        let (start, count) = (from.base as usize, from.stride as usize);
        self.slots.copy_within(start..start + count, to.base as usize);
        // The copy has no bytes of its own in the packet.
        self.set(to.origin(), 0);
        self.set(internal::MOVED, 1);
        let bytes = self.header_bytes(to);
        self.slots[internal::LENGTH as usize] += bytes;
    }

    /// The header that a reference selects; `None` past the end of a stack.
    pub(crate) fn resolve(&self, program: &Program, header: HeaderRef) -> Option<u16> {
        match header {
            HeaderRef::Fixed(header) => Some(header),
            HeaderRef::Element { stack, i } => {
                let i = usize::try_from(self.get(i)).ok()?;
                program.stacks[stack as usize].headers.get(i).copied()
            }
        }
    }

    pub(crate) fn headers_equal(&self, program: &Program, packet: &Packet, a: u16, b: u16) -> bool {
        let (a, b) = (&program.headers[a as usize], &program.headers[b as usize]);
        if !(self.is_valid(a) && self.is_valid(b)) {
            return self.is_valid(a) == self.is_valid(b);
        }
        let fields = |header: &Header| {
            let start = header.base as usize;
            start + header.parts() as usize..start + header.stride as usize
        };
        let varbit = |header| varbit(header, &self.slots, packet);
        self.slots[fields(a)] == self.slots[fields(b)] && (!a.has_varbit || varbit(a) == varbit(b))
    }

    /// Copies the position of a variable-length field; the bytes stay in place.
    pub(crate) fn copy_varbit(&mut self, program: &Program, d: u16, a: u16) {
        let (d, a) = (&program.headers[d as usize], &program.headers[a as usize]);
        let (old, new) = (self.get(d.varbit_bytes()), self.get(a.varbit_bytes()));
        self.set(d.varbit_bytes(), new);
        self.set(d.varbit_offset(), self.get(a.varbit_offset()));
        if !d.metadata && self.is_valid(d) {
            self.set(d.origin(), 0);
            self.set(internal::MOVED, 1);
            let length = &mut self.slots[internal::LENGTH as usize];
            *length = length.saturating_sub(old) + new;
        }
    }

    fn valid_bytes(&self, program: &Program, headers: &[u16]) -> u64 {
        let headers = headers.iter().map(|&header| &program.headers[header as usize]);
        headers.filter(|header| self.is_valid(header)).map(|h| self.header_bytes(h)).sum()
    }

    /// Shifts a stack's elements up by `count`, or down; the elements shifted in are invalid (P4-16
    /// section 8.18).
    pub(crate) fn shift_stack(&mut self, program: &Program, stack: u16, count: u64, push: bool) {
        let found = &program.stacks[stack as usize];
        self.shift(program, &found.headers, count, push);
        self.shift_next(found.next, found.headers.len() as u64, count, push);
    }

    /// Shifts a stack of unions: each member moves with its element.
    pub(crate) fn shift_unions(&mut self, program: &Program, stack: u16, count: u64, push: bool) {
        let found = &program.union_stacks[stack as usize];
        for headers in &found.columns {
            self.shift(program, headers, count, push);
        }
        self.shift_next(found.next, found.unions.len() as u64, count, push);
    }

    fn shift_next(&mut self, slot: Slot, size: u64, count: u64, push: bool) {
        let (next, count) = (self.get(slot), count.min(size));
        let next = if push { (next + count).min(size) } else { next.saturating_sub(count) };
        self.set(slot, next);
    }

    fn shift(&mut self, program: &Program, headers: &[u16], count: u64, push: bool) {
        let size = headers.len();
        let count = usize::try_from(count).unwrap_or(size).min(size);
        let before = self.valid_bytes(program, headers);
        self.set(internal::MOVED, 1);
        for step in 0..size {
            // Start at the far end, so that no element is overwritten before it moves.
            let to = if push { size - 1 - step } else { step };
            let from = if push { to.checked_sub(count) } else { Some(to + count) };
            let d = &program.headers[headers[to] as usize];
            match from.filter(|&from| from < size) {
                Some(from) => {
                    let a = &program.headers[headers[from] as usize];
                    let start = a.base as usize;
                    let range = start..start + a.stride as usize;
                    self.slots.copy_within(range, d.base as usize);
                }
                None => self.set(d.valid(), 0),
            }
        }
        let after = self.valid_bytes(program, headers);
        let length = &mut self.slots[internal::LENGTH as usize];
        *length = (*length + after).saturating_sub(before);
    }

    pub(crate) fn copy_stack(&mut self, program: &Program, d: u16, a: u16) {
        let (to, from) = (&program.stacks[d as usize], &program.stacks[a as usize]);
        for (&d, &a) in to.headers.iter().zip(&from.headers) {
            self.copy_header(program, d, a);
        }
        self.set(to.next, self.get(from.next));
    }
}
