//! The parser: extraction of a header of fixed length, and `verify`.

use super::deparse::{is_plain, kind_of};
use super::translator::Translator;
use crate::ir::{Header, Slot, internal};
use crate::jit::host::Helper;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, MemFlags, Type, Value, types};

impl Translator<'_, '_> {
    /// Whether [`Translator::extract`] supports the header.
    pub(super) fn extracts(&self, header: u16) -> bool {
        let header = &self.program.headers[header as usize];
        !header.has_varbit && header.siblings.is_empty() && is_plain(&header.extract)
    }

    /// Does what `Machine::extract` does, step by step.
    pub(super) fn extract(&mut self, header: u16) {
        let header = &self.program.headers[header as usize];
        let bytes = u64::from(header.fixed_bytes);
        let known_cursor = self.known(internal::PAYLOAD);
        let cursor = self.read(internal::PAYLOAD);
        let end = self.builder.ins().iadd_imm(cursor, bytes as i64);
        self.need(end);
        // A header that is extracted again loses its earlier content.
        if self.known(header.valid()) != Some(0) {
            self.take_off_length(header);
        }
        let data = self.frame();
        let start = self.builder.ins().iadd(data, cursor);
        self.fields(header, start);
        self.write_constant(header.valid(), 1);
        let origin = self.builder.ins().iadd_imm(cursor, 1);
        self.write(header.origin(), origin);
        self.rank(header.rank);
        match known_cursor {
            Some(cursor) => self.write_constant(internal::PAYLOAD, cursor + bytes),
            None => self.write(internal::PAYLOAD, end),
        }
    }

    /// Stops unless the packet has bytes up to `end`; materialises those bytes.
    fn need(&mut self, end: Value) {
        let length = self.frame_length();
        let (short, on) = (self.builder.create_block(), self.builder.create_block());
        self.builder.set_cold_block(short);
        let there = self.builder.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, length, end);
        self.builder.ins().brif(there, on, &[], short, &[]);
        self.builder.switch_to_block(short);
        let stop = self.call_with(Helper::Need, &[end]);
        self.builder.ins().brif(stop, self.done, &[], on, &[]);
        self.builder.switch_to_block(on);
    }

    fn fields(&mut self, header: &Header, start: Value) {
        let mut parts = header.extract.parts.iter();
        for word in &header.extract.words {
            let loaded = self.big_endian(types::I64, start, word.byte);
            for part in parts.by_ref().take(word.count as usize) {
                let value = self.builder.ins().ushr_imm(loaded, i64::from(part.shift));
                let value = self.masked(value, part.mask);
                self.write(part.slot, value);
            }
        }
        for plan in &header.extract.others {
            let kind = kind_of(plan);
            let loaded = self.big_endian(kind, start, plan.byte);
            let value = self.builder.ins().ushr_imm(loaded, i64::from(plan.shift));
            let value = self.masked(value, plan.mask);
            self.write(plan.slot, value);
        }
    }

    pub(super) fn big_endian(&mut self, kind: Type, start: Value, byte: u16) -> Value {
        // The bytes exist, but their address may be unaligned.
        let flags = MemFlags::new().with_notrap();
        let loaded = self.builder.ins().load(kind, flags, start, i32::from(byte));
        let turned = if kind == types::I8 { loaded } else { self.builder.ins().bswap(loaded) };
        if kind == types::I64 { turned } else { self.builder.ins().uextend(types::I64, turned) }
    }

    /// Records whether the headers are still in the deparser's order.
    fn rank(&mut self, rank: u64) {
        match self.known(internal::RANK) {
            Some(before) if rank > before => self.write_constant(internal::RANK, rank),
            Some(_) => self.write_constant(internal::MOVED, 1),
            None => {
                let (before, moved) = (self.read(internal::RANK), self.read(internal::MOVED));
                let (this, one) = (self.constant(rank), self.constant(1));
                let higher = self.builder.ins().icmp(IntCC::UnsignedLessThan, before, this);
                let after = self.builder.ins().select(higher, this, before);
                let moved = self.builder.ins().select(higher, moved, one);
                self.write(internal::RANK, after);
                self.write(internal::MOVED, moved);
            }
        }
    }

    /// The parser's `verify`: its error if `a` is zero.
    pub(super) fn verify(&mut self, a: Slot, code: Slot) {
        let (a, code) = (self.read(a), self.read(code));
        let (failed, on) = (self.builder.create_block(), self.builder.create_block());
        self.builder.set_cold_block(failed);
        self.builder.ins().brif(a, on, &[], failed, &[]);
        self.builder.switch_to_block(failed);
        let at = Self::address(internal::PARSER_ERROR);
        self.builder.ins().store(MemFlags::trusted(), code, self.slots, at);
        self.builder.ins().jump(self.done, &[]);
        self.builder.switch_to_block(on);
    }
}
