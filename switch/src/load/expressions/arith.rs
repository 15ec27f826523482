//! Sums, products and bitwise operations.
//!
//! bmv2 computes with unbounded integers and truncates where it stores a value; p4c writes `& mask`
//! where P4 truncates. Each value here has a bound on its bits, and each request may say that only
//! the low bits matter (`low`). Sums, products and bitwise operations are then one operation modulo
//! 2^64; a value that really needs more bits becomes a [`WideOp`].

use super::tree::{Binary, Expr, Unary};
use super::val::{BITS_MAX, Val, result_bits};
use crate::ir::{Op, Slot, WideOp, limbs, mask};
use crate::load::error::LoadError;
use crate::load::loader::Loader;

impl Loader<'_> {
    pub(crate) fn unary(
        &mut self,
        op: Unary,
        a: &Expr,
        low: Option<u32>,
    ) -> Result<Val, LoadError> {
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

    pub(crate) fn binary(
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

    pub(crate) fn arithmetic(
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

    /// Lowers `a & b`; with a nonnegative constant, only that many bits of the other operand
    /// matter.
    pub(crate) fn and(&mut self, a: &Expr, b: &Expr, low: Option<u32>) -> Result<Val, LoadError> {
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
                // For a mask of ones, the previous operation can truncate instead.
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

    /// Declares a value to have at most `bits` bits; its low limbs stay in place.
    pub(crate) fn truncated(&self, v: Val, bits: u32) -> Val {
        if v.bits > bits { Val { bits, ..v } } else { v }
    }

    /// The low `bits <= 64` bits of a value, truncated by the operation that computed it if
    /// possible.
    pub(crate) fn masked(&mut self, v: Val, bits: u32) -> Result<Val, LoadError> {
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

    /// Whether a slot holds a field or parameter, which never exceeds its width.
    pub(crate) fn is_packet_slot(&self, slot: Slot) -> bool {
        u32::from(slot) < self.temporaries_start
    }
}
