//! The parser's operations: extract a header, skip bits, look ahead.

use super::fields;
use super::machine::Machine;
use crate::ir::{Program, Slot, internal};
use narrows_common::Packet;

impl Machine {
    /// Extracts a header from the packet; returns the error code if that fails.
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
            // The header is extracted a second time: its earlier content is lost.
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

    /// Skips bits.
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
        // No header holds the skipped bytes, so they do not leave with the packet.
        let length = &mut self.slots[internal::LENGTH as usize];
        *length = length.saturating_sub(bits / 8);
        Ok(())
    }

    pub(crate) fn lookahead(
        &mut self,
        program: &Program,
        packet: &mut Packet,
        d: Slot,
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

/// Extracts the next element of a stack.
pub(super) fn extract_next(
    program: &Program,
    m: &mut Machine,
    packet: &mut Packet,
    stack: u16,
    bits: u64,
) -> Result<(), u64> {
    let found = &program.stacks[stack as usize];
    let next = m.get(found.next);
    let Some(&header) = found.headers.get(next as usize) else {
        return Err(program.errors.stack_out_of_bounds);
    };
    m.extract(program, packet, header, bits)?;
    m.set(found.next, next + 1);
    Ok(())
}

/// Extracts a member of the next union of a stack of unions.
pub(super) fn extract_next_union(
    program: &Program,
    m: &mut Machine,
    packet: &mut Packet,
    stack: u16,
    member: u16,
) -> Result<(), u64> {
    let found = &program.union_stacks[stack as usize];
    let next = m.get(found.next);
    let Some(union) = found.unions.get(next as usize) else {
        return Err(program.errors.stack_out_of_bounds);
    };
    m.extract(program, packet, union[member as usize], 0)?;
    m.set(found.next, next + 1);
    Ok(())
}
