//! Shifts and casts.

use super::tree::{Binary, Cast, Expr};
use super::val::{BITS_MAX, Val};
use crate::ir::{Op, WideOp, limbs, mask};
use crate::load::error::LoadError;
use crate::load::loader::Loader;

impl Loader<'_> {
    pub(crate) fn shift(
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
        // One more bit keeps an unsigned value positive under the arithmetic right shift.
        let bits = if op == Binary::Shr && !signed { bits + 1 } else { bits };
        let (n, a) = (limbs(bits), self.extend(v, bits)?);
        let d = self.temporary(n)?;
        self.emit_wide(match op {
            Binary::Shl => WideOp::Shl { d, a, b: count, n },
            _ => WideOp::Shr { d, a, b: count, n },
        });
        Ok(Val { slot: d, bits, signed })
    }

    pub(crate) fn cast(
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
        // One slot holds a signed value, or an unsigned value with a clear top bit.
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
}
