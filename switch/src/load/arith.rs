//! Lowers expressions to operations, with exact results in as few bits as can be proved enough.
//!
//! bmv2 computes with unbounded integers and cuts off where a value is stored; p4c writes
//! `& mask` where P4 cuts off. Each value here carries a bound on its bits, and each request may
//! say that only the low bits matter (`low`). Sums, products and bitwise operations then work
//! modulo 2^64 in one operation; what really needs more becomes [`Wide`].

use super::error::LoadError;
use super::expr::{Binary, Cast, Expr, Part, Unary};
use super::loader::Loader;
use crate::ir::{Integer, NOWHERE, Op, Pc, Slot, WideOp, limbs, mask};

/// Where a value is and what is known of it: in `0..2^bits`, or in two's complement of `bits`.
/// Up to 64 bits it fills one slot (sign- or zero-extended), above `limbs(bits)` of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Val {
    pub slot: Slot,
    pub bits: u32,
    pub signed: bool,
}

/// No exact intermediate value gets wider than this.
const BITS_MAX: u32 = 32_768;

impl Val {
    fn narrow(self) -> bool {
        self.bits <= 64
    }

    /// Bits for both in one signedness.
    fn common(self, other: Val) -> (u32, bool) {
        let signed = self.signed || other.signed;
        let bits = |v: Val| v.bits + u32::from(signed && !v.signed);
        (bits(self).max(bits(other)), signed)
    }
}

impl Loader<'_> {
    /// Lowers to a value of which the low `low` bits are right, all of them if `None`.
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
                // -1 while the stack is empty, cut to 32 bits as P4's lastIndex.
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
    fn valid(&mut self, header: u16) -> Result<Slot, LoadError> {
        let header = &self.program.headers[header as usize];
        if header.metadata { self.constant(1) } else { Ok(header.valid()) }
    }

    fn field(&mut self, header: u16, field: u16, low: Option<u32>) -> Result<Val, LoadError> {
        let field = &self.program.headers[header as usize].fields[field as usize];
        if field.varbit || field.slot == NOWHERE {
            return Err(self.names.unsupported("arithmetic on the field", &field.name));
        }
        let (slot, width, signed) = (field.slot, field.width, field.signed);
        self.as_signed(Val { slot, bits: width, signed: false }, signed, low)
    }

    /// Slots hold the raw bits; a signed field's value is their two's complement.
    fn as_signed(&mut self, v: Val, signed: bool, low: Option<u32>) -> Result<Val, LoadError> {
        if !signed || low.is_some_and(|low| low <= v.bits) {
            return Ok(v);
        }
        self.sign_extend(v, v.bits)
    }

    /// Two's complement of the low `width` bits of `v`.
    fn sign_extend(&mut self, v: Val, width: u32) -> Result<Val, LoadError> {
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

    fn element(
        &mut self,
        stack: u16,
        index: &Expr,
        part: Part,
        low: Option<u32>,
    ) -> Result<Val, LoadError> {
        let i = self.narrow_unsigned(index)?;
        self.load_element(stack, i, part, low)
    }

    fn load_element(
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

    /// Offset from a header's base, width and sign of a part of any element.
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

    fn small(&mut self, value: u64) -> Result<Val, LoadError> {
        let bits = (64 - value.leading_zeros()).max(1);
        Ok(Val { slot: self.constant(value)?, bits, signed: false })
    }

    fn integer(&mut self, integer: &Integer, low: Option<u32>) -> Result<Val, LoadError> {
        if let Some(low @ ..=64) = low {
            let value = integer.to_limbs(1)[0];
            return Ok(Val { slot: self.constant(value)?, bits: low.max(1), signed: false });
        }
        let bits = integer.bits().max(1) + u32::from(integer.negative);
        let slot = self.constant_limbs(integer.to_limbs(limbs(bits) as usize))?;
        Ok(Val { slot, bits, signed: integer.negative })
    }

    /// An operand that must be an exact, unsigned number below 2^64: an index, a shift count.
    pub(crate) fn narrow_unsigned(&mut self, e: &Expr) -> Result<Slot, LoadError> {
        let v = self.lower(e, None)?;
        if v.narrow() && !v.signed {
            return Ok(v.slot);
        }
        // Negative or beyond 2^64: as the largest, which no index reaches and shifts all out.
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
    fn extend(&mut self, v: Val, bits: u32) -> Result<Slot, LoadError> {
        let (n, from) = (limbs(bits), limbs(v.bits));
        if n == from {
            return Ok(v.slot);
        }
        let d = self.temporary(n)?;
        self.emit_wide(WideOp::Extend { d, n, a: v.slot, from, signed: v.signed });
        Ok(d)
    }

    fn unary(&mut self, op: Unary, a: &Expr, low: Option<u32>) -> Result<Val, LoadError> {
        match op {
            Unary::Not => {
                let v = self.lower(a, None)?;
                let (d, one) = (self.temporary(1)?, self.constant(1)?);
                self.emit(Op::Xor { d, a: v.slot, b: one, mask: 1 });
                Ok(Val { slot: d, bits: 1, signed: false })
            }
            Unary::ToBool => {
                let v = self.lower(a, None)?;
                if v.bits == 1 && !v.signed {
                    return Ok(v);
                }
                let zero = self.small(0)?;
                self.compare(Binary::Ne, v, zero)
            }
            Unary::Complement => {
                let v = self.lower(a, low)?;
                let (bits, exact) = match low {
                    Some(low) => (low, false),
                    None => (v.bits + u32::from(!v.signed), true),
                };
                let d = self.temporary(limbs(bits))?;
                if bits <= 64 {
                    self.emit(Op::Not { d, a: v.slot, mask: u64::MAX });
                } else {
                    let a = self.extend(v, bits)?;
                    self.emit_wide(WideOp::Not { d, a, n: limbs(bits) });
                }
                Ok(Val { slot: d, bits, signed: exact })
            }
        }
    }

    fn binary(
        &mut self,
        op: Binary,
        a: &Expr,
        b: &Expr,
        low: Option<u32>,
    ) -> Result<Val, LoadError> {
        match op {
            Binary::Add | Binary::Sub | Binary::Mul | Binary::Or | Binary::Xor => {
                let (a, b) = (self.lower(a, low)?, self.lower(b, low)?);
                let (bits, signed) = match low {
                    Some(low) => (low, false),
                    None => result_bits(op, a, b),
                };
                self.arithmetic(op, a, b, bits, signed)
            }
            Binary::And => self.and(a, b, low),
            Binary::Shl | Binary::Shr => self.shift(op, a, b, low),
            Binary::Div | Binary::Rem => {
                let (a, b) = (self.lower(a, None)?, self.lower(b, None)?);
                let (bits, signed) = a.common(b);
                if signed {
                    return Err(self.names.unsupported("division of", "signed values"));
                }
                self.arithmetic(op, a, b, bits, false)
            }
            Binary::LogicalAnd | Binary::LogicalOr => {
                let (a, b) = (self.lower(a, None)?.slot, self.lower(b, None)?.slot);
                let d = self.temporary(1)?;
                self.emit(match op {
                    Binary::LogicalAnd => Op::And { d, a, b, mask: 1 },
                    _ => Op::Or { d, a, b, mask: 1 },
                });
                Ok(Val { slot: d, bits: 1, signed: false })
            }
            Binary::Eq
            | Binary::Ne
            | Binary::Less
            | Binary::LessEq
            | Binary::Greater
            | Binary::GreaterEq => {
                let (a, b) = (self.lower(a, None)?, self.lower(b, None)?);
                self.compare(op, a, b)
            }
        }
    }

    fn arithmetic(
        &mut self,
        op: Binary,
        a: Val,
        b: Val,
        bits: u32,
        signed: bool,
    ) -> Result<Val, LoadError> {
        if bits > BITS_MAX {
            return Err(self.names.too_big(format!("an intermediate value of {bits} bits")));
        }
        let n = limbs(bits);
        let d = self.temporary(n)?;
        let mask = u64::MAX;
        if n == 1 {
            let (a, b) = (a.slot, b.slot);
            self.emit(match op {
                Binary::Add => Op::Add { d, a, b, mask },
                Binary::Sub => Op::Sub { d, a, b, mask },
                Binary::Mul => Op::Mul { d, a, b, mask },
                Binary::Or => Op::Or { d, a, b, mask },
                Binary::Xor => Op::Xor { d, a, b, mask },
                Binary::And => Op::And { d, a, b, mask },
                Binary::Div => Op::Div { d, a, b, mask },
                Binary::Rem => Op::Rem { d, a, b, mask },
                Binary::Shl => Op::Shl { d, a, b, mask },
                Binary::Shr if signed => Op::Sar { d, a, b, mask },
                Binary::Shr => Op::Shr { d, a, b, mask },
                _ => unreachable!("comparisons are lowered by compare()"),
            });
        } else {
            let (a, b) = (self.extend(a, bits)?, self.extend(b, bits)?);
            self.emit_wide(match op {
                Binary::Add => WideOp::Add { d, a, b, n },
                Binary::Sub => WideOp::Sub { d, a, b, n },
                Binary::Mul => WideOp::Mul { d, a, b, n },
                Binary::Or => WideOp::Or { d, a, b, n },
                Binary::Xor => WideOp::Xor { d, a, b, n },
                Binary::And => WideOp::And { d, a, b, n },
                Binary::Div => WideOp::Div { d, a, b, n },
                Binary::Rem => WideOp::Rem { d, a, b, n },
                _ => unreachable!("shifts and comparisons are lowered elsewhere"),
            });
        }
        Ok(Val { slot: d, bits, signed })
    }

    /// `a & b`; with a constant that is not negative, only that many bits of the other matter.
    fn and(&mut self, a: &Expr, b: &Expr, low: Option<u32>) -> Result<Val, LoadError> {
        let (value, constant) = match (a, b) {
            (value, Expr::Constant(c)) | (Expr::Constant(c), value) if !c.negative => (value, c),
            _ => {
                let (a, b) = (self.lower(a, low)?, self.lower(b, low)?);
                let (bits, signed) = match (low, a.signed, b.signed) {
                    (Some(low), ..) => (low, false),
                    (None, false, false) => (a.bits.max(b.bits), false),
                    (None, false, true) => (a.bits, false),
                    (None, true, false) => (b.bits, false),
                    (None, true, true) => (a.bits.max(b.bits), true),
                };
                let (a, b) = (self.truncated(a, bits), self.truncated(b, bits));
                return self.arithmetic(Binary::And, a, b, bits, signed);
            }
        };
        let bits = constant.bits().max(1);
        let bits = low.map_or(bits, |low| low.min(bits));
        let v = self.lower(value, Some(bits))?;
        if bits <= 64 {
            let low_bits = mask(bits) & constant.to_limbs(1)[0];
            if !v.signed && v.bits <= 64 && low_bits == mask(bits) {
                // A mask of ones: the operation before can cut off itself.
                return self.masked(v, bits);
            }
            let (d, b) = (self.temporary(1)?, self.constant(low_bits)?);
            self.emit(Op::And { d, a: v.slot, b, mask: u64::MAX });
            return Ok(Val { slot: d, bits, signed: false });
        }
        let n = limbs(bits);
        let slot = self.constant_limbs(constant.to_limbs(n as usize))?;
        let (v, b) = (self.truncated(v, bits), Val { slot, bits, signed: false });
        self.arithmetic(Binary::And, v, b, bits, false)
    }

    /// A value seen as no wider than `bits`; its low limbs are where they were.
    fn truncated(&self, v: Val, bits: u32) -> Val {
        if v.bits > bits { Val { bits, ..v } } else { v }
    }

    /// The low `bits <= 64` bits of a value, by the operation that made it if that can be.
    fn masked(&mut self, v: Val, bits: u32) -> Result<Val, LoadError> {
        if v.bits < bits {
            return Ok(v);
        }
        let keep = mask(bits);
        if u32::from(v.slot) >= self.temporaries_start && self.narrow_last(v.slot, v.slot, keep) {
            return Ok(Val { slot: v.slot, bits, signed: false });
        }
        if v.bits == bits && self.is_packet_slot(v.slot) {
            return Ok(v);
        }
        let d = self.temporary(1)?;
        self.emit(Op::Move { d, a: v.slot, mask: keep });
        Ok(Val { slot: d, bits, signed: false })
    }

    /// Fields and parameters never exceed their width.
    fn is_packet_slot(&self, slot: Slot) -> bool {
        u32::from(slot) < self.temporaries_start
    }

    /// If the last operation wrote `from` and can mask, makes it write `to` and cut to `keep`.
    fn narrow_last(&mut self, from: Slot, to: Slot, keep: u64) -> bool {
        let Some(last) = self.program.ops.last_mut() else { return false };
        match last {
            Op::Move { d, mask, .. }
            | Op::Add { d, mask, .. }
            | Op::Sub { d, mask, .. }
            | Op::Mul { d, mask, .. }
            | Op::And { d, mask, .. }
            | Op::Or { d, mask, .. }
            | Op::Xor { d, mask, .. }
            | Op::Not { d, mask, .. }
            | Op::Shl { d, mask, .. }
            | Op::Shr { d, mask, .. }
            | Op::Sar { d, mask, .. }
            | Op::Div { d, mask, .. }
            | Op::Rem { d, mask, .. }
                if *d == from =>
            {
                *d = to;
                *mask &= keep;
                true
            }
            _ => false,
        }
    }

    fn shift(
        &mut self,
        op: Binary,
        a: &Expr,
        b: &Expr,
        low: Option<u32>,
    ) -> Result<Val, LoadError> {
        let constant = match b {
            Expr::Constant(count) if !count.negative => count.to_u64(),
            _ => None,
        };
        let (v, bits, signed) = if op == Binary::Shr {
            let v = self.lower(a, None)?;
            (v, v.bits, v.signed)
        } else {
            match (low, constant) {
                (Some(low), _) => (self.lower(a, Some(low))?, low, false),
                (None, Some(count)) if count <= u64::from(BITS_MAX) => {
                    let v = self.lower(a, None)?;
                    (v, v.bits + count as u32, v.signed)
                }
                _ => {
                    let what = "a left shift that nothing cuts off";
                    return Err(self.names.unsupported(what, "<<"));
                }
            }
        };
        let count = self.narrow_unsigned(b)?;
        if bits <= 64 {
            let count = Val { slot: count, bits: 64, signed: false };
            return self.arithmetic(op, v, count, bits, signed);
        }
        if bits > BITS_MAX {
            return Err(self.names.too_big(format!("an intermediate value of {bits} bits")));
        }
        // One bit more keeps an unsigned value positive under the arithmetic right shift.
        let bits = if op == Binary::Shr && !signed { bits + 1 } else { bits };
        let (n, a) = (limbs(bits), self.extend(v, bits)?);
        let d = self.temporary(n)?;
        self.emit_wide(match op {
            Binary::Shl => WideOp::Shl { d, a, b: count, n },
            _ => WideOp::Shr { d, a, b: count, n },
        });
        Ok(Val { slot: d, bits, signed })
    }

    fn compare(&mut self, op: Binary, a: Val, b: Val) -> Result<Val, LoadError> {
        let (op, a, b) = match op {
            Binary::Greater => (Binary::Less, b, a),
            Binary::GreaterEq => (Binary::LessEq, b, a),
            _ => (op, a, b),
        };
        let (bits, signed) = a.common(b);
        let d = self.temporary(1)?;
        let (a, b) = if bits <= 64 {
            (a.slot, b.slot)
        } else {
            // Reduce to comparing -1, 0 or 1 with 0; unsigned values get a bit for the sign.
            let bits = bits + u32::from(!signed);
            let (a, b) = (self.extend(a, bits)?, self.extend(b, bits)?);
            let order = self.temporary(1)?;
            self.emit_wide(WideOp::Compare { d: order, a, b, n: limbs(bits) });
            (order, self.constant(0)?)
        };
        let signed = signed || bits > 64;
        self.emit(match (op, signed) {
            (Binary::Eq, _) => Op::Eq { d, a, b },
            (Binary::Ne, _) => Op::Ne { d, a, b },
            (Binary::Less, false) => Op::LessU { d, a, b },
            (Binary::Less, true) => Op::LessS { d, a, b },
            (_, false) => Op::LessEqU { d, a, b },
            (_, true) => Op::LessEqS { d, a, b },
        });
        Ok(Val { slot: d, bits: 1, signed: false })
    }

    fn cast(
        &mut self,
        cast: Cast,
        a: &Expr,
        width: u32,
        low: Option<u32>,
    ) -> Result<Val, LoadError> {
        if cast == Cast::Wrap {
            if low.is_some_and(|low| low <= width) {
                return self.lower(a, low);
            }
            let v = self.lower(a, Some(width))?;
            return self.sign_extend(v, width);
        }
        let v = self.lower(a, None)?;
        let signed = cast == Cast::SaturateSigned;
        // One slot holds a signed value as such, or an unsigned one with its top bit clear.
        if v.bits <= 63 || (v.bits == 64 && (v.signed || !signed)) {
            let d = self.temporary(1)?;
            self.emit(match (cast, v.signed) {
                (Cast::SaturateSigned, _) => Op::ClampS { d, a: v.slot, bits: width.min(64) as u8 },
                (_, true) => Op::ClampPositive { d, a: v.slot, max: mask(width) },
                (_, false) => Op::ClampU { d, a: v.slot, max: mask(width) },
            });
            return Ok(Val { slot: d, bits: width.min(64), signed });
        }
        let bits = v.bits.max(width) + 1;
        let (n, a) = (limbs(bits), self.extend(v, bits)?);
        let d = self.temporary(n)?;
        self.emit_wide(if signed {
            WideOp::ClampS { d, a, n, bits: width }
        } else {
            WideOp::ClampU { d, a, n, bits: width }
        });
        Ok(Val { slot: d, bits: width, signed })
    }

    fn select(
        &mut self,
        condition: &Expr,
        then: &Expr,
        other: &Expr,
        low: Option<u32>,
    ) -> Result<Val, LoadError> {
        let c = self.lower(condition, None)?.slot;
        let (a, b) = (self.lower(then, low)?, self.lower(other, low)?);
        let (bits, signed) = low.map_or(a.common(b), |low| (low, false));
        let n = limbs(bits);
        let d = self.temporary(n)?;
        if n == 1 {
            self.emit(Op::Select { d, c, a: a.slot, b: b.slot });
        } else {
            let (a, b) = (self.extend(a, bits)?, self.extend(b, bits)?);
            self.emit_wide(WideOp::Select { d, c, a, b, n });
        }
        Ok(Val { slot: d, bits, signed })
    }

    /// Lowers `e` into `d` of `width` bits, cutting off what does not fit.
    pub(crate) fn lower_into(&mut self, e: &Expr, d: Slot, width: u32) -> Result<(), LoadError> {
        let v = self.lower(e, Some(width))?;
        if width <= 64 {
            let temporary = u32::from(v.slot) >= self.temporaries_start
                && u32::from(v.slot) < self.constants_start;
            if !(temporary && self.narrow_last(v.slot, d, mask(width))) {
                self.emit(Op::Move { d, a: v.slot, mask: mask(width) });
            }
            return Ok(());
        }
        let n = limbs(width);
        let from = limbs(v.bits);
        self.emit_wide(WideOp::Extend { d, n, a: v.slot, from, signed: v.signed });
        self.emit_wide(WideOp::Mask { d, n, bits: width });
        Ok(())
    }

    /// Lowers a condition and a branch: falls through when it holds. Returns the jumps to patch.
    pub(crate) fn branch_unless(&mut self, e: &Expr) -> Result<Pc, LoadError> {
        let v = self.lower(e, None)?;
        // Fuse with the comparison just made.
        match self.program.ops.last() {
            Some(&Op::Eq { d, a, b }) if d == v.slot => {
                self.program.ops.pop();
                Ok(self.emit(Op::JumpNe { a, b, to: 0 }))
            }
            Some(&Op::Ne { d, a, b }) if d == v.slot => {
                self.program.ops.pop();
                Ok(self.emit(Op::JumpEq { a, b, to: 0 }))
            }
            _ => Ok(self.emit(Op::JumpZero { a: v.slot, to: 0 })),
        }
    }

    /// Sets the target of a jump.
    pub(crate) fn patch(&mut self, at: Pc, target: Pc) {
        match &mut self.program.ops[at as usize] {
            Op::Jump(to)
            | Op::JumpZero { to, .. }
            | Op::JumpEq { to, .. }
            | Op::JumpNe { to, .. } => *to = target,
            other => unreachable!("{other:?} is no jump"),
        }
    }
}

/// Bits and sign that hold the exact result.
fn result_bits(op: Binary, a: Val, b: Val) -> (u32, bool) {
    let (bits, signed) = a.common(b);
    match op {
        Binary::Add => (bits + 1, signed),
        Binary::Sub => (bits + 1, true),
        Binary::Mul => (a.bits + b.bits + u32::from(signed), signed),
        _ => (bits, signed),
    }
}
