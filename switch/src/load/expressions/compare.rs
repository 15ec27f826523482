//! Comparisons, and the conditional operator.

use super::tree::{Binary, Expr};
use super::val::Val;
use crate::ir::{Op, WideOp, limbs};
use crate::load::error::LoadError;
use crate::load::loader::Loader;

impl Loader<'_> {
    pub(crate) fn compare(&mut self, op: Binary, a: Val, b: Val) -> Result<Val, LoadError> {
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
            // Reduce to a comparison of -1, 0 or 1 with 0; an unsigned value gets a sign bit.
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

    pub(crate) fn select(
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
}
