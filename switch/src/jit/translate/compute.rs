//! Operations that compute on values of up to 64 bits.

use super::translator::Translator;
use crate::ir::{Op, Pc, Slot};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};

impl Translator<'_, '_> {
    pub(super) fn masked(&mut self, value: Value, mask: u64) -> Value {
        let bits = self.bits(value);
        if bits & !mask == 0 {
            return value;
        }
        let masked = self.builder.ins().band_imm(value, mask as i64);
        self.with_bits(masked, bits & mask)
    }

    fn compare(&mut self, condition: IntCC, d: Slot, a: Slot, b: Slot) {
        let (a, b) = (self.read(a), self.read(b));
        let holds = self.builder.ins().icmp(condition, a, b);
        let value = self.builder.ins().uextend(types::I64, holds);
        let value = self.with_bits(value, 1);
        self.write(d, value);
    }

    /// `value` if `count` is below 64, otherwise 0.
    fn unless_shifted_out(&mut self, count: Value, value: Value) -> Value {
        let zero = self.constant(0);
        let inside = self.builder.ins().icmp_imm(IntCC::UnsignedLessThan, count, 64);
        self.builder.ins().select(inside, value, zero)
    }

    /// A quotient or remainder; division by zero, which processors do not define, gives 0.
    fn divide(&mut self, a: Value, b: Value, remainder: bool) -> Value {
        let (zero, one) = (self.constant(0), self.constant(1));
        let none = self.builder.ins().icmp_imm(IntCC::Equal, b, 0);
        let divisor = self.builder.ins().select(none, one, b);
        let found = match remainder {
            true => self.builder.ins().urem(a, divisor),
            false => self.builder.ins().udiv(a, divisor),
        };
        self.builder.ins().select(none, zero, found)
    }

    fn clamp(&mut self, value: Value, above: IntCC, limit: u64) -> Value {
        let limit = self.constant(limit);
        let beyond = self.builder.ins().icmp(above, value, limit);
        self.builder.ins().select(beyond, limit, value)
    }

    /// Translates an operation that does not jump.
    pub(super) fn op(&mut self, pc: Pc) {
        let op = self.program.ops[pc as usize];
        match op {
            Op::Move { d, a, mask } => {
                let value = self.read(a);
                let value = self.masked(value, mask);
                self.write(d, value);
            }
            Op::Add { d, a, b, mask }
            | Op::Sub { d, a, b, mask }
            | Op::Mul { d, a, b, mask }
            | Op::And { d, a, b, mask }
            | Op::Or { d, a, b, mask }
            | Op::Xor { d, a, b, mask }
            | Op::Shl { d, a, b, mask }
            | Op::Shr { d, a, b, mask }
            | Op::Sar { d, a, b, mask }
            | Op::Div { d, a, b, mask }
            | Op::Rem { d, a, b, mask } => {
                let (a, b) = (self.read(a), self.read(b));
                let value = self.binary(&op, a, b);
                let value = self.masked(value, mask);
                self.write(d, value);
            }
            Op::Not { d, a, mask } => {
                let value = self.read(a);
                let value = self.builder.ins().bnot(value);
                let value = self.masked(value, mask);
                self.write(d, value);
            }
            Op::Select { d, c, a, b } => {
                let (c, a, b) = (self.read(c), self.read(a), self.read(b));
                let value = self.builder.ins().select(c, a, b);
                self.write(d, value);
            }
            Op::SignExtend { d, a, bits } => {
                let (value, shift) = (self.read(a), 64 - i64::from(bits));
                let value = self.builder.ins().ishl_imm(value, shift);
                let value = self.builder.ins().sshr_imm(value, shift);
                self.write(d, value);
            }
            Op::Eq { d, a, b } => self.compare(IntCC::Equal, d, a, b),
            Op::Ne { d, a, b } => self.compare(IntCC::NotEqual, d, a, b),
            Op::LessU { d, a, b } => self.compare(IntCC::UnsignedLessThan, d, a, b),
            Op::LessEqU { d, a, b } => self.compare(IntCC::UnsignedLessThanOrEqual, d, a, b),
            Op::LessS { d, a, b } => self.compare(IntCC::SignedLessThan, d, a, b),
            Op::LessEqS { d, a, b } => self.compare(IntCC::SignedLessThanOrEqual, d, a, b),
            Op::ClampU { d, a, max } => {
                let value = self.read(a);
                let value = self.clamp(value, IntCC::UnsignedGreaterThan, max);
                self.write(d, value);
            }
            Op::ClampPositive { d, a, max } => {
                let value = self.read(a);
                let value = self.clamp(value, IntCC::SignedLessThan, 0);
                let value = self.clamp(value, IntCC::UnsignedGreaterThan, max);
                self.write(d, value);
            }
            Op::ClampS { d, a, bits } => {
                let (value, max) = (self.read(a), (1u64 << (bits - 1)) - 1);
                let value = self.clamp(value, IntCC::SignedGreaterThan, max);
                let value = self.clamp(value, IntCC::SignedLessThan, !max);
                self.write(d, value);
            }
            Op::StackLast { d, stack } => {
                let next = self.read(self.program.stacks[stack as usize].next);
                let value = self.builder.ins().iadd_imm(next, -1);
                self.write(d, value);
            }
            Op::StackCount { d, stack } => {
                let value = self.read(self.program.stacks[stack as usize].next);
                self.write(d, value);
            }
            Op::Extract { header } if self.extracts(header) => self.extract(header),
            Op::SetValid { header } if self.sets(header) => self.set_valid(header),
            Op::SetInvalid { header } if self.sets(header) => self.set_invalid(header),
            Op::VerifyChecksum(i) => self.verify_checksum(pc, i),
            Op::UpdateChecksum(i) => self.update_checksum(pc, i),
            Op::Verify { a, code } => self.verify(a, code),
            Op::RegisterRead { d, register, i, mask } if self.one_limb(register) => {
                self.read_register(d, register, i, mask);
            }
            Op::RegisterWrite { register, i, a } if self.one_limb(register) => {
                self.write_register(register, i, a);
            }
            _ => self.step(pc),
        }
    }

    fn binary(&mut self, op: &Op, a: Value, b: Value) -> Value {
        match op {
            Op::Add { .. } => self.builder.ins().iadd(a, b),
            Op::Sub { .. } => self.builder.ins().isub(a, b),
            Op::Mul { .. } => self.builder.ins().imul(a, b),
            Op::And { .. } => {
                let both = self.builder.ins().band(a, b);
                self.with_bits(both, self.bits(a) & self.bits(b))
            }
            Op::Or { .. } => {
                let either = self.builder.ins().bor(a, b);
                self.with_bits(either, self.bits(a) | self.bits(b))
            }
            Op::Xor { .. } => self.builder.ins().bxor(a, b),
            Op::Shl { .. } => {
                let shifted = self.builder.ins().ishl(a, b);
                self.unless_shifted_out(b, shifted)
            }
            Op::Shr { .. } => {
                let shifted = self.builder.ins().ushr(a, b);
                self.unless_shifted_out(b, shifted)
            }
            Op::Sar { .. } => {
                let count = self.clamp(b, IntCC::UnsignedGreaterThan, 63);
                self.builder.ins().sshr(a, count)
            }
            Op::Div { .. } => self.divide(a, b, false),
            Op::Rem { .. } => self.divide(a, b, true),
            other => unreachable!("{other:?} has no two operands"),
        }
    }
}
