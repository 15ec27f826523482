//! Lowers names, constants and operators to operations; other files have the operators' details.

use super::tree::{Expr, Part};
use super::val::Val;
use crate::ir::{Integer, NOWHERE, Op, Slot, WideOp, limbs, mask};
use crate::load::error::LoadError;
use crate::load::loader::Loader;

impl Loader<'_> {
    /// Lowers to a value with `low` correct low bits, or all of them for `None`.
    pub(crate) fn lower(&mut self, e: &Expr, low: Option<u32>) -> Result<Val, LoadError> {
        match e {
            Expr::Field { header, field } => self.field(*header, *field, low),
            Expr::Valid(header) => Ok(Val { slot: self.valid(*header)?, bits: 1, signed: false }),
            Expr::Element { stack, index, part } => self.element(*stack, index, *part, low),
            Expr::Last { stack, field } => {
                let last = self.temporary(1)?;
                self.emit(Op::StackLast { d: last, stack: *stack });
                self.load_element(*stack, last, Part::Field(*field), low)
            }
            Expr::Constant(integer) => self.integer(integer, low),
            Expr::Bool(bool) => self.small(u64::from(*bool)),
            Expr::Local(index) => match self.locals.get(*index as usize) {
                Some(&(slot, bits)) => Ok(Val { slot, bits, signed: false }),
                None => Err(self.names.unknown("parameter with index", index)),
            },
            Expr::Register { register, index } => {
                let i = self.narrow_unsigned(index)?;
                let width = self.program.registers[*register as usize].width;
                let d = self.temporary(limbs(width))?;
                self.emit(Op::RegisterRead { d, register: *register, i, mask: u64::MAX });
                Ok(Val { slot: d, bits: width, signed: false })
            }
            Expr::Unary(op, a) => self.unary(*op, a, low),
            Expr::Binary(op, a, b) => self.binary(*op, a, b, low),
            Expr::Cast(cast, a, width) => self.cast(*cast, a, *width, low),
            Expr::Select { condition, then, other } => self.select(condition, then, other, low),
            Expr::LastIndex(stack) => {
                let d = self.temporary(1)?;
                self.emit(Op::StackLast { d, stack: *stack });
                // -1 while the stack is empty, truncated to the 32 bits of P4's lastIndex.
                self.emit(Op::Move { d, a: d, mask: mask(32) });
                Ok(Val { slot: d, bits: 32, signed: false })
            }
            Expr::StackCount(stack) => {
                let d = self.temporary(1)?;
                self.emit(Op::StackCount { d, stack: *stack });
                Ok(Val { slot: d, bits: 32, signed: false })
            }
            Expr::ValidUnion(members) => {
                let d = self.temporary(1)?;
                let zero = self.constant(0)?;
                self.emit(Op::Move { d, a: zero, mask: 1 });
                for &member in members {
                    let b = self.valid(member)?;
                    self.emit(Op::Or { d, a: d, b, mask: 1 });
                }
                Ok(Val { slot: d, bits: 1, signed: false })
            }
            Expr::SameHeader(a, b) => {
                self.real_header(*a)?;
                self.real_header(*b)?;
                let d = self.temporary(1)?;
                self.emit(Op::HeadersEqual { d, a: *a, b: *b });
                Ok(Val { slot: d, bits: 1, signed: false })
            }
            Expr::SameVarbit(a, b) => {
                let d = self.temporary(1)?;
                self.emit(Op::VarbitsEqual { d, a: *a, b: *b });
                Ok(Val { slot: d, bits: 1, signed: false })
            }
            Expr::Lookahead { offset, width } => {
                let d = self.temporary(limbs(u32::from(*width)))?;
                self.emit(Op::Lookahead { d, offset: *offset, width: *width });
                Ok(Val { slot: d, bits: u32::from(*width), signed: false })
            }
        }
    }

    /// The validity slot of a header; 1 for metadata.
    pub(crate) fn valid(&mut self, header: u16) -> Result<Slot, LoadError> {
        let header = &self.program.headers[header as usize];
        if header.metadata { self.constant(1) } else { Ok(header.valid()) }
    }

    pub(crate) fn field(
        &mut self,
        header: u16,
        field: u16,
        low: Option<u32>,
    ) -> Result<Val, LoadError> {
        let field = &self.program.headers[header as usize].fields[field as usize];
        if field.varbit || field.slot == NOWHERE {
            return Err(self.names.unsupported("arithmetic on the field", &field.name));
        }
        let (slot, width, signed) = (field.slot, field.width, field.signed);
        self.as_signed(Val { slot, bits: width, signed: false }, signed, low)
    }

    /// Slots hold raw bits; a signed field's value is their two's complement.
    pub(crate) fn as_signed(
        &mut self,
        v: Val,
        signed: bool,
        low: Option<u32>,
    ) -> Result<Val, LoadError> {
        if !signed || low.is_some_and(|low| low <= v.bits) {
            return Ok(v);
        }
        self.sign_extend(v, v.bits)
    }

    /// Two's complement of the low `width` bits of `v`.
    pub(crate) fn sign_extend(&mut self, v: Val, width: u32) -> Result<Val, LoadError> {
        let n = limbs(width);
        let d = self.temporary(n)?;
        if width <= 64 {
            self.emit(Op::SignExtend { d, a: v.slot, bits: width as u8 });
        } else {
            let from = limbs(v.bits);
            self.emit_wide(WideOp::Extend { d, n, a: v.slot, from, signed: v.signed });
            self.emit_wide(WideOp::SignExtend { d, n, bits: width });
        }
        Ok(Val { slot: d, bits: width, signed: true })
    }

    pub(crate) fn element(
        &mut self,
        stack: u16,
        index: &Expr,
        part: Part,
        low: Option<u32>,
    ) -> Result<Val, LoadError> {
        let i = self.narrow_unsigned(index)?;
        self.load_element(stack, i, part, low)
    }

    pub(crate) fn load_element(
        &mut self,
        stack: u16,
        i: Slot,
        part: Part,
        low: Option<u32>,
    ) -> Result<Val, LoadError> {
        let (offset, width, signed) = self.element_part(stack, part)?;
        let d = self.temporary(limbs(width))?;
        for limb in 0..limbs(width) {
            self.emit(Op::LoadElement { d: d + limb, i, stack, offset: offset + limb });
        }
        self.as_signed(Val { slot: d, bits: width, signed: false }, signed, low)
    }

    /// The offset from a header's base, the width and the sign of one part of any element.
    pub(crate) fn element_part(
        &self,
        stack: u16,
        part: Part,
    ) -> Result<(u16, u32, bool), LoadError> {
        let first = self.program.stacks[stack as usize].headers[0];
        let header = &self.program.headers[first as usize];
        match part {
            Part::Valid => Ok((0, 1, false)),
            Part::Field(field) => {
                let field = &header.fields[field as usize];
                if field.varbit {
                    return Err(self.names.unsupported("arithmetic on the field", &field.name));
                }
                Ok((field.slot - header.base, field.width, field.signed))
            }
        }
    }

    pub(crate) fn small(&mut self, value: u64) -> Result<Val, LoadError> {
        let bits = (64 - value.leading_zeros()).max(1);
        Ok(Val { slot: self.constant(value)?, bits, signed: false })
    }

    pub(crate) fn integer(
        &mut self,
        integer: &Integer,
        low: Option<u32>,
    ) -> Result<Val, LoadError> {
        if let Some(low @ ..=64) = low {
            let value = integer.to_limbs(1)[0];
            return Ok(Val { slot: self.constant(value)?, bits: low.max(1), signed: false });
        }
        let bits = integer.bits().max(1) + u32::from(integer.negative);
        let slot = self.constant_limbs(integer.to_limbs(limbs(bits) as usize))?;
        Ok(Val { slot, bits, signed: integer.negative })
    }

    /// Lowers an operand that must be an exact, unsigned number below 2^64: an index or a shift
    /// count.
    pub(crate) fn narrow_unsigned(&mut self, e: &Expr) -> Result<Slot, LoadError> {
        let v = self.lower(e, None)?;
        if v.narrow() && !v.signed {
            return Ok(v.slot);
        }
        // A negative value, or one of 2^64 and above, becomes the largest: no index reaches it, and
        // it shifts all bits out.
        let n = limbs(v.bits + 1);
        let a = self.extend(v, v.bits + 1)?;
        let (clamped, differs, d) = (self.temporary(n)?, self.temporary(1)?, self.temporary(1)?);
        let ones = self.constant(u64::MAX)?;
        self.emit_wide(WideOp::ClampU { d: clamped, a, n, bits: 64 });
        self.emit_wide(WideOp::Compare { d: differs, a: clamped, b: a, n });
        self.emit(Op::Select { d, c: differs, a: ones, b: clamped });
        Ok(d)
    }

    /// `v` in as many limbs as `bits` needs.
    pub(crate) fn extend(&mut self, v: Val, bits: u32) -> Result<Slot, LoadError> {
        let (n, from) = (limbs(bits), limbs(v.bits));
        if n == from {
            return Ok(v.slot);
        }
        let d = self.temporary(n)?;
        self.emit_wide(WideOp::Extend { d, n, a: v.slot, from, signed: v.signed });
        Ok(d)
    }
}
