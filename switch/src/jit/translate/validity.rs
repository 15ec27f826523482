//! Headers made valid or invalid by operations other than extraction.

use super::known::{Known, agreed};
use super::translator::Translator;
use crate::ir::{Header, internal};
use cranelift_codegen::ir::InstBuilder;
use cranelift_codegen::ir::condcodes::IntCC;

/// The most slots of a header, each of which needs a store.
const STRIDE_MAX: u16 = 256;

impl Translator<'_, '_> {
    /// Whether [`Translator::set_valid`] and [`Translator::set_invalid`] support the header.
    pub(super) fn sets(&self, header: u16) -> bool {
        let header = &self.program.headers[header as usize];
        !header.has_varbit && header.siblings.is_empty() && header.stride <= STRIDE_MAX
    }

    /// Does what `Machine::set_valid` does.
    pub(super) fn set_valid(&mut self, header: u16) {
        let header = &self.program.headers[header as usize];
        match self.known(header.valid()) {
            Some(0) => self.make_valid(header),
            Some(_) => {}
            None => {
                let (make, on) = (self.builder.create_block(), self.builder.create_block());
                let valid = self.read(header.valid());
                let before = self.known_here();
                self.builder.ins().brif(valid, on, &[], make, &[]);
                self.builder.switch_to_block(make);
                self.make_valid(header);
                self.builder.ins().jump(on, &[]);
                self.builder.switch_to_block(on);
                let mut after = agreed(&[&before, &self.known_here()]);
                after.insert(header.valid(), Known::Constant(1));
                self.go_back_to(after);
            }
        }
    }

    fn make_valid(&mut self, header: &Header) {
        for slot in header.base..header.base + header.stride {
            self.write_constant(slot, u64::from(slot == header.valid()));
        }
        self.write_constant(internal::MOVED, 1);
        let length = self.read(internal::LENGTH);
        let length = self.builder.ins().iadd_imm(length, i64::from(header.fixed_bytes));
        self.write(internal::LENGTH, length);
    }

    /// Does what `Machine::set_invalid` does.
    pub(super) fn set_invalid(&mut self, header: u16) {
        let header = &self.program.headers[header as usize];
        if self.known(header.valid()) == Some(0) {
            return;
        }
        self.take_off_length(header);
        let (valid, moved) = (self.read(header.valid()), self.read(internal::MOVED));
        let moved = self.builder.ins().bor(valid, moved);
        self.write(internal::MOVED, moved);
        self.write_constant(header.valid(), 0);
    }

    /// Subtracts the bytes of a valid header from the frame's length.
    pub(super) fn take_off_length(&mut self, header: &Header) {
        let bytes = i64::from(header.fixed_bytes);
        let (valid, length) = (self.read(header.valid()), self.read(internal::LENGTH));
        let zero = self.constant(0);
        let less = self.builder.ins().iadd_imm(length, -bytes);
        let short = self.builder.ins().icmp_imm(IntCC::UnsignedLessThan, length, bytes);
        let less = self.builder.ins().select(short, zero, less);
        let length = self.builder.ins().select(valid, less, length);
        self.write(internal::LENGTH, length);
    }
}
