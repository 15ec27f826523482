//! Externs: registers of up to 64 bits, and checksums that are sums of fields, become machine code.
//! All others call the interpreter's function.

use super::translator::Translator;
use crate::ir::{FieldSum, Header, Input, Op, Pc, Slot, internal, limbs, mask};
use crate::jit::host::{CELLS, Helper};
use crate::state::offsets;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, MemFlags, Value, types};

impl Translator<'_, '_> {
    /// Calls the interpreter's code for an operation.
    pub(super) fn step(&mut self, pc: Pc) {
        match self.program.ops[pc as usize] {
            Op::Count { i, .. } => {
                self.in_memory(i);
                self.call(Helper::Step, u64::from(pc));
            }
            Op::RegisterWrite { register, i, a } => {
                self.in_memory(i);
                let width = self.program.registers[register as usize].width;
                (0..limbs(width)).for_each(|limb| self.in_memory(a + limb));
                self.call(Helper::Step, u64::from(pc));
            }
            Op::RegisterRead { d, register, i, .. } => {
                self.in_memory(i);
                let limbs = limbs(self.program.registers[register as usize].width);
                // Past the end of the array they keep their values.
                (0..limbs).for_each(|limb| self.in_memory(d + limb));
                self.call(Helper::Step, u64::from(pc));
                self.forget(d, limbs.into());
            }
            Op::Random { d, a, b, .. } => {
                [d, a, b].into_iter().for_each(|slot| self.in_memory(slot));
                self.call(Helper::Step, u64::from(pc));
                self.forget(d, 1);
            }
            Op::Meter { i, d, .. } => {
                [d, i].into_iter().for_each(|slot| self.in_memory(slot));
                self.call(Helper::Step, u64::from(pc));
                self.forget(d, 1);
            }
            Op::Hash(call) => {
                let call = self.program.hashes[call as usize];
                [call.base, call.size].into_iter().for_each(|slot| self.in_memory(slot));
                self.inputs(call.calculation);
                self.call(Helper::Step, u64::from(pc));
                self.forget(call.d, 1);
            }
            Op::SetValid { header } | Op::SetInvalid { header } => {
                self.call(Helper::Step, u64::from(pc));
                self.forget_header(&self.program.headers[header as usize]);
            }
            Op::ExtractVarbit { header, bits } => {
                self.in_memory(bits);
                let stop = self.call(Helper::Step, u64::from(pc));
                self.forget_header(&self.program.headers[header as usize]);
                [internal::PAYLOAD, internal::RANK, internal::PARSER_ERROR]
                    .into_iter()
                    .for_each(|slot| self.forget(slot, 1));
                self.stop_if(stop);
            }
            _ => {
                self.all_in_memory();
                let stop = self.call(Helper::Step, u64::from(pc));
                self.forget_all();
                self.stop_if(stop);
            }
        }
    }

    /// Forgets a header's fields and the slots that depend on its validity.
    fn forget_header(&mut self, header: &Header) {
        [internal::LENGTH, internal::MOVED].into_iter().for_each(|slot| self.forget(slot, 1));
        self.forget(header.base, header.stride.into());
        for field in &header.fields {
            self.forget(field.slot, limbs(field.width).into());
        }
        for &sibling in &header.siblings {
            self.forget(self.program.headers[sibling as usize].valid(), 1);
        }
    }

    /// The interpreter's function reads a calculation's inputs from memory.
    fn inputs(&mut self, calculation: u16) {
        for input in &self.program.calculations[calculation as usize].inputs {
            match *input {
                Input::Field { slot, width, .. } | Input::Constant { slot, width } => {
                    (0..limbs(width)).for_each(|limb| self.in_memory(slot + limb));
                }
                Input::Header { header } => {
                    for field in &self.program.headers[header as usize].fields {
                        (0..limbs(field.width)).for_each(|limb| self.in_memory(field.slot + limb));
                    }
                }
                Input::Varbit { .. } => {}
            }
        }
    }

    pub(super) fn one_limb(&self, register: u16) -> bool {
        let register = &self.program.registers[register as usize];
        register.width <= 64 && register.size > 0
    }

    /// The address of a cell. Jumps to `on` if the index is past the end, unless the index has too
    /// few bits for that.
    fn cell(&mut self, register: u16, i: Value, on: Block, beyond: &[BlockArg]) -> Value {
        let registers = &self.program.registers;
        let size = registers[register as usize].size;
        if self.bits(i) >= size {
            let there = self.builder.create_block();
            let inside = self.builder.ins().icmp_imm(IntCC::UnsignedLessThan, i, size as i64);
            self.builder.ins().brif(inside, there, &[], on, beyond);
            self.builder.switch_to_block(there);
        }
        let first = offsets(registers).nth(register.into()).unwrap_or(0);
        let cells = self.host_constant(CELLS);
        let bytes = self.builder.ins().ishl_imm(i, 3);
        let at = self.builder.ins().iadd(cells, bytes);
        self.builder.ins().iadd_imm(at, first as i64 * 8)
    }

    /// Past the end of the array the destination keeps its value.
    pub(super) fn read_register(&mut self, d: Slot, register: u16, i: Slot, mask: u64) {
        let (i, before) = (self.read(i), self.read(d));
        let on = self.builder.create_block();
        let value = self.builder.append_block_param(on, types::I64);
        let at = self.cell(register, i, on, &[before.into()]);
        let cell = self.builder.ins().load(types::I64, MemFlags::trusted(), at, 0);
        let cell = self.masked(cell, mask);
        self.builder.ins().jump(on, &[cell.into()]);
        self.builder.switch_to_block(on);
        self.write(d, value);
    }

    /// Past the end of the array the write has no effect.
    pub(super) fn write_register(&mut self, register: u16, i: Slot, a: Slot) {
        let (i, a) = (self.read(i), self.read(a));
        let on = self.builder.create_block();
        let at = self.cell(register, i, on, &[]);
        let width = self.program.registers[register as usize].width;
        let value = self.masked(a, mask(width));
        self.builder.ins().store(MemFlags::trusted(), value, at, 0);
        self.builder.ins().jump(on, &[]);
        self.builder.switch_to_block(on);
    }

    /// A sum of one valid header's fields, as `calculate` computes it.
    fn sum(&mut self, sum: &FieldSum) -> Value {
        let (mut total, mut most) = (self.constant(0), 0u64);
        for &(slot, shift) in &sum.fields {
            let part = self.read(slot);
            most = most.saturating_add(self.bits(part) << shift);
            let part = self.builder.ins().ishl_imm(part, i64::from(shift));
            total = self.builder.ins().iadd(total, part);
        }
        // Like `externs::hash::fold_sum`, while the sum may have more than 16 bits.
        while most > 0xffff {
            let low = self.masked(total, 0xffff);
            let high = self.builder.ins().ushr_imm(total, 16);
            total = self.builder.ins().iadd(low, high);
            most = (most.saturating_add(1) >> 16) + 0xfffe;
        }
        let folded = self.builder.ins().bnot(total);
        self.masked(folded, 0xffff)
    }

    pub(super) fn verify_checksum(&mut self, pc: Pc, i: u32) {
        let checksum = self.program.checksums[i as usize];
        let calculation = &self.program.calculations[checksum.calculation as usize];
        let valid_of = |sum: &FieldSum| self.program.headers[sum.header as usize].valid();
        let sum = calculation.sum.as_ref().filter(|sum| valid_of(sum) == checksum.valid);
        let Some(sum) = sum else {
            [checksum.valid, checksum.target].into_iter().for_each(|slot| self.in_memory(slot));
            self.inputs(checksum.calculation);
            self.call(Helper::Step, u64::from(pc));
            self.forget(internal::CHECKSUM_ERROR, 1);
            return;
        };
        let (sum, target) = (self.sum(sum), self.read(checksum.target));
        let valid = self.read(checksum.valid);
        let [differs, wrong, on] = [(); 3].map(|()| self.builder.create_block());
        [differs, wrong].into_iter().for_each(|block| self.builder.set_cold_block(block));
        let same = self.builder.ins().icmp(IntCC::Equal, target, sum);
        self.builder.ins().brif(same, on, &[], differs, &[]);
        self.builder.switch_to_block(differs);
        self.builder.ins().brif(valid, wrong, &[], on, &[]);
        self.builder.switch_to_block(wrong);
        self.write_constant(internal::CHECKSUM_ERROR, 1);
        self.builder.ins().jump(on, &[]);
        self.builder.switch_to_block(on);
        self.forget(internal::CHECKSUM_ERROR, 1);
    }

    pub(super) fn update_checksum(&mut self, pc: Pc, i: u32) {
        let checksum = self.program.checksums[i as usize];
        let calculation = &self.program.calculations[checksum.calculation as usize];
        match &calculation.sum {
            Some(sum) => {
                let valid = self.read(self.program.headers[sum.header as usize].valid());
                let (sum, none) = (self.sum(sum), self.constant(0xffff));
                let sum = self.builder.ins().select(valid, sum, none);
                let sum = self.with_bits(sum, 0xffff);
                let sum = self.masked(sum, checksum.mask);
                self.write(checksum.target, sum);
            }
            None => {
                self.inputs(checksum.calculation);
                self.call(Helper::Step, u64::from(pc));
                self.forget(checksum.target, 1);
            }
        }
    }
}
