//! Headers in the packet's bytes: the parser's extraction of one of fixed length, and its
//! `verify`; and the deparser's writing back of fields where they were.

use super::host::Helper;
use super::translate::Translator;
use crate::op::{Slot, internal};
use crate::program::{FieldPlan, FieldPlans, Header, Window};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, MemFlags, Type, Value, types};

impl Translator<'_, '_> {
    /// Whether [`Translator::extract`] can do it.
    pub(super) fn extracts(&self, header: u16) -> bool {
        let header = &self.program.headers[header as usize];
        let bits = |plan: &FieldPlan| matches!(plan.window, Window::Bits { .. });
        !header.has_varbit && header.siblings.is_empty() && !header.extract.others.iter().any(bits)
    }

    /// As `Machine::extract`, step by step.
    pub(super) fn extract(&mut self, header: u16) {
        let header = &self.program.headers[header as usize];
        let bytes = u64::from(header.fixed_bytes);
        let known_cursor = self.known(internal::PAYLOAD);
        let cursor = self.read(internal::PAYLOAD);
        let end = self.builder.ins().iadd_imm(cursor, bytes as i64);
        self.need(end);
        self.forget_length(header, bytes);
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

    /// Stops unless the packet has bytes up to `end`; they are real ones then.
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

    /// A header that is extracted a second time loses what it held.
    fn forget_length(&mut self, header: &Header, bytes: u64) {
        if self.known(header.valid()) == Some(0) {
            return;
        }
        let (valid, length) = (self.read(header.valid()), self.read(internal::LENGTH));
        let zero = self.constant(0);
        let less = self.builder.ins().iadd_imm(length, -(bytes as i64));
        let short = self.builder.ins().icmp_imm(IntCC::UnsignedLessThan, length, bytes as i64);
        let less = self.builder.ins().select(short, zero, less);
        let length = self.builder.ins().select(valid, less, length);
        self.write(internal::LENGTH, length);
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

    fn big_endian(&mut self, kind: Type, start: Value, byte: u16) -> Value {
        // The bytes are there, but no matter where.
        let flags = MemFlags::new().with_notrap();
        let loaded = self.builder.ins().load(kind, flags, start, i32::from(byte));
        let turned = if kind == types::I8 { loaded } else { self.builder.ins().bswap(loaded) };
        if kind == types::I64 { turned } else { self.builder.ins().uextend(types::I64, turned) }
    }

    /// Whether headers still lie in the order in which they leave.
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

    /// The parser's `verify`: its error when `a` is zero.
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

    /// Whether [`Translator::patch`] can do it.
    pub(super) fn patches(&self) -> bool {
        let bits = |plan: &FieldPlan| matches!(plan.window, Window::Bits { .. });
        let headers = &self.program.headers;
        let patched = self.program.patched.iter().map(|&header| &headers[header as usize]);
        patched.into_iter().all(|header| !header.patch.others.iter().any(bits))
    }

    /// As `deparse` does it while the headers lie as they were extracted.
    pub(super) fn patch(&mut self) {
        let program = self.program;
        for &header in &program.patched {
            let header = &program.headers[header as usize];
            let (valid, there) = (self.builder.create_block(), self.builder.create_block());
            let next = self.builder.create_block();
            let is_valid = self.read(header.valid());
            let before = self.known_here();
            self.builder.ins().brif(is_valid, valid, &[], next, &[]);
            self.builder.switch_to_block(valid);
            let origin = self.read(header.origin());
            let start = self.builder.ins().iadd_imm(origin, -1);
            let end = self.builder.ins().iadd_imm(start, i64::from(header.fixed_bytes));
            let length = self.frame_length();
            let inside = self.builder.ins().icmp(IntCC::UnsignedLessThanOrEqual, end, length);
            self.builder.ins().brif(inside, there, &[], next, &[]);
            self.builder.switch_to_block(there);
            let data = self.frame();
            let start = self.builder.ins().iadd(data, start);
            self.put_fields(&header.patch, start);
            self.builder.ins().jump(next, &[]);
            self.builder.switch_to_block(next);
            self.go_back_to(before);
        }
    }

    fn put_fields(&mut self, plans: &FieldPlans, start: Value) {
        let mut parts = plans.parts.iter();
        for word in &plans.words {
            let mut value = self.big_endian(types::I64, start, word.byte);
            for part in parts.by_ref().take(word.count as usize) {
                value = self.put(value, part.slot, part.shift, part.mask);
            }
            self.put_big_endian(types::I64, value, start, word.byte);
        }
        for plan in &plans.others {
            let kind = kind_of(plan);
            let value = self.big_endian(kind, start, plan.byte);
            let value = self.put(value, plan.slot, plan.shift, plan.mask);
            self.put_big_endian(kind, value, start, plan.byte);
        }
    }

    /// `value` with a field in its place.
    fn put(&mut self, value: Value, slot: Slot, shift: u8, mask: u64) -> Value {
        let field = self.read(slot);
        let field = self.masked(field, mask);
        let field = self.builder.ins().ishl_imm(field, i64::from(shift));
        let rest = self.masked(value, !(mask << shift));
        self.builder.ins().bor(rest, field)
    }

    fn put_big_endian(&mut self, kind: Type, value: Value, start: Value, byte: u16) {
        let cut = if kind == types::I64 { value } else { self.builder.ins().ireduce(kind, value) };
        let turned = if kind == types::I8 { cut } else { self.builder.ins().bswap(cut) };
        let flags = MemFlags::new().with_notrap();
        self.builder.ins().store(flags, turned, start, i32::from(byte));
    }
}

/// What is loaded for a field that stands alone.
fn kind_of(plan: &FieldPlan) -> Type {
    match plan.window {
        Window::One => types::I8,
        Window::Two => types::I16,
        Window::Four => types::I32,
        Window::Bits { .. } => unreachable!("extracts() and patches() leave these out"),
    }
}
