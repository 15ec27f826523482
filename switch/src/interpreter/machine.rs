//! The state that a program runs on: slots, tables, externs. Headers come and go here.

use crate::interpreter::calculation::BitBuffer;
use crate::interpreter::fields;
use crate::ir::op::{Slot, internal};
use crate::ir::program::{Header, HeaderRef, Program};
use crate::state::counter::Count;
use crate::state::meter::Meter;
use crate::state::profile::Profile;
use crate::state::register::Registers;
use crate::state::table::Table;
use crate::state::value_set::Members;
use crate::switch::Engine;
use crate::tm::{Bridged, Item};
use narrows_common::{Packet, Rng, Time};

/// As many as a [`crate::ir::op::Slot`] reaches, so that no index needs a check.
pub(crate) type Slots = [u64; 65_536];

/// Everything of a switch that its program can read or write.
pub(crate) struct Machine {
    pub slots: Box<Slots>,
    pub tables: Vec<Table>,
    pub registers: Registers,
    pub counters: Vec<Vec<Count>>,
    pub meters: Vec<Vec<Meter>>,
    pub direct_meters: Vec<Vec<Meter>>,
    pub value_sets: Vec<Members>,
    pub profiles: Vec<Profile>,
    /// A select's key, while it is looked for in a value set.
    pub key: Vec<u64>,
    pub buffer: BitBuffer,
    pub rng: Rng,
    pub now: Time,
    /// Whether native code runs where there is some.
    pub native: bool,
    /// Log messages, while somebody wants them.
    pub log: Option<Vec<String>>,
    /// Bytes put together by the deparser.
    pub scratch: Vec<u8>,
}

impl Machine {
    pub(crate) fn new(program: &Program, engine: Engine, rng: Rng) -> Self {
        let slots = vec![0u64; 65_536].into_boxed_slice();
        let Ok(mut slots) = <Box<Slots>>::try_from(slots) else {
            unreachable!("the length is 65,536");
        };
        for &(slot, value) in &program.constants {
            slots[slot as usize] = value;
        }
        let sized = |size: u64| size as usize;
        Machine {
            slots,
            tables: program.tables.iter().map(|table| Table::new(program, table)).collect(),
            registers: Registers::new(&program.registers),
            counters: program
                .counters
                .iter()
                .map(|counter| vec![Count::default(); sized(counter.size)])
                .collect(),
            meters: program
                .meters
                .iter()
                .map(|meter| vec![Meter::default(); sized(meter.size)])
                .collect(),
            direct_meters: vec![vec![]; program.tables.len()],
            value_sets: vec![Members::default(); program.value_sets.len()],
            profiles: vec![Profile::default(); program.profiles.len()],
            key: vec![],
            buffer: BitBuffer::default(),
            rng,
            now: Time::ZERO,
            // Made now, so that no packet waits for it.
            native: engine == Engine::Native && program.native().is_some(),
            log: None,
            scratch: vec![],
        }
    }

    /// A slot's value.
    #[inline]
    pub(crate) fn get(&self, slot: crate::ir::op::Slot) -> u64 {
        self.slots[slot as usize]
    }

    #[inline]
    pub(crate) fn set(&mut self, slot: crate::ir::op::Slot, value: u64) {
        self.slots[slot as usize] = value;
    }

    /// Forgets the packet before.
    #[inline]
    pub(crate) fn reset(&mut self, program: &Program, at: Time, length: u64) {
        self.invalidate_egress_headers(program);
        self.now = at;
        let slots = &mut *self.slots;
        slots[..program.metadata_end as usize].fill(0);
        slots[program.egress_headers_end as usize..program.packet_end as usize].fill(0);
        slots[internal::LENGTH as usize] = length;
        slots[internal::ARRIVED as usize] = length;
    }

    /// Leaves with a packet what egress may read of what ingress left.
    #[inline]
    pub(crate) fn save_bridged(&self, program: &Program, item: &mut Item) {
        item.bridged = Bridged::Slots;
        item.slots.clear();
        item.slots.extend_from_slice(&self.slots[..program.bridged_end as usize]);
    }

    /// Takes up a packet that comes to egress. What egress alone uses is zero then.
    #[inline]
    pub(crate) fn restore_bridged(&mut self, program: &Program, item: &Item) {
        let egress_only = program.bridged_end as usize..program.metadata_end as usize;
        match item.bridged {
            Bridged::InMachine => {}
            Bridged::Slots => {
                self.invalidate_egress_headers(program);
                self.slots[..egress_only.start].copy_from_slice(&item.slots);
                self.slots[egress_only].fill(0);
            }
            Bridged::WithEgressHeaders => {
                self.slots[..item.slots.len()].copy_from_slice(&item.slots)
            }
        }
    }

    /// Headers that only egress makes valid are not, once another packet comes into the machine.
    /// They never are while the headers lie as they were extracted.
    #[inline]
    pub(crate) fn invalidate_egress_headers(&mut self, program: &Program) {
        if self.get(internal::MOVED) == 0 {
            return;
        }
        for &header in &program.egress_headers {
            self.set(program.headers[header as usize].valid(), 0);
        }
    }

    fn is_valid(&self, header: &Header) -> bool {
        self.get(header.valid()) != 0
    }

    /// Bytes that a valid header has in the packet.
    fn header_bytes(&self, header: &Header) -> u64 {
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

    /// At most one header of a union is valid.
    fn leave_union(&mut self, program: &Program, header: &Header) {
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
        // It has no bytes of its own in the packet.
        self.set(to.origin(), 0);
        self.set(internal::MOVED, 1);
        let bytes = self.header_bytes(to);
        self.slots[internal::LENGTH as usize] += bytes;
    }

    /// The header meant, `None` beyond a stack.
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
        let varbit = |header| crate::interpreter::calculation::varbit(header, &self.slots, packet);
        self.slots[fields(a)] == self.slots[fields(b)] && (!a.has_varbit || varbit(a) == varbit(b))
    }

    /// Copies the place of a variable-length field; its bytes stay where they are.
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

    /// Moves a stack's elements up by `count`, or down; those that come in are not valid
    /// (P4-16 section 8.18).
    pub(crate) fn shift_stack(&mut self, program: &Program, stack: u16, count: u64, push: bool) {
        let found = &program.stacks[stack as usize];
        self.shift(program, &found.headers, count, push);
        self.shift_next(found.next, found.headers.len() as u64, count, push);
    }

    /// The same for a stack of unions: each member moves with its element.
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
            // From the far end, so that nothing is overwritten before it moves.
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

    /// The parser takes a header off the packet; the error's code when it can't.
    #[inline]
    pub(crate) fn extract(
        &mut self,
        program: &Program,
        packet: &mut Packet,
        header: u16,
        varbit_bits: u64,
    ) -> Result<(), u64> {
        let header = &program.headers[header as usize];
        let cursor = self.get(internal::PAYLOAD) as usize;
        let mut total = header.fixed_bytes as usize;
        if header.has_varbit {
            if varbit_bits % 8 != 0 {
                return Err(program.errors.parser_invalid_argument);
            }
            total = total.saturating_add((varbit_bits / 8) as usize);
        }
        if packet.len() - cursor < total {
            return Err(program.errors.packet_too_short);
        }
        if header.has_varbit && header.max_bytes != 0 && total > header.max_bytes as usize {
            return Err(program.errors.header_too_short);
        }
        if self.is_valid(header) {
            // Extracted a second time: what it held is lost.
            let bytes = self.header_bytes(header);
            let length = &mut self.slots[internal::LENGTH as usize];
            *length = length.saturating_sub(bytes);
        }
        let end = cursor + total;
        packet.materialise(end);
        let bytes = &packet.data[cursor..end];
        let varbit_bytes = total - header.fixed_bytes as usize;
        if header.has_varbit {
            let varbit = header.fields.iter().find(|field| field.varbit);
            let offset = cursor + varbit.map_or(0, |field| field.bit as usize / 8);
            self.set(header.varbit_offset(), offset as u64);
            self.set(header.varbit_bytes(), varbit_bytes as u64);
        }
        fields::read(&mut self.slots, &header.extract, bytes, varbit_bytes);
        self.set(header.valid(), 1);
        self.set(header.origin(), cursor as u64 + 1);
        if header.rank > self.get(internal::RANK) {
            self.set(internal::RANK, header.rank);
        } else {
            self.set(internal::MOVED, 1);
        }
        self.set(internal::PAYLOAD, end as u64);
        if !header.siblings.is_empty() {
            self.leave_union(program, header);
        }
        Ok(())
    }

    /// The parser skips bits.
    pub(crate) fn advance(
        &mut self,
        program: &Program,
        packet: &mut Packet,
        bits: u64,
    ) -> Result<(), u64> {
        if bits % 8 != 0 {
            return Err(program.errors.parser_invalid_argument);
        }
        let cursor = self.get(internal::PAYLOAD) as usize;
        let left = packet.len() - cursor;
        if bits / 8 > left as u64 {
            return Err(program.errors.packet_too_short);
        }
        let end = cursor + (bits / 8) as usize;
        packet.materialise(end);
        self.set(internal::PAYLOAD, end as u64);
        self.set(internal::MOVED, 1);
        // No header holds what was skipped, so it leaves with none.
        let length = &mut self.slots[internal::LENGTH as usize];
        *length = length.saturating_sub(bits / 8);
        Ok(())
    }

    pub(crate) fn lookahead(
        &mut self,
        program: &Program,
        packet: &mut Packet,
        d: crate::ir::op::Slot,
        offset: u16,
        width: u16,
    ) -> Result<(), u64> {
        let cursor = self.get(internal::PAYLOAD) as usize;
        let end = cursor + (offset as usize + width as usize).div_ceil(8);
        if end > packet.len() {
            return Err(program.errors.packet_too_short);
        }
        packet.materialise(end);
        let bytes = &packet.data[cursor..end];
        fields::read_bits(&mut self.slots, d, bytes, u32::from(offset), u32::from(width));
        Ok(())
    }
}
