//! Uses of a value: a store to slots, or a branch.

use super::tree::Expr;
use crate::ir::{Op, Pc, Slot, WideOp, limbs, mask};
use crate::load::error::LoadError;
use crate::load::loader::Loader;

impl Loader<'_> {
    /// Lowers `e` into `d` of `width` bits, and truncates it.
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

    /// If the last operation wrote `from` and can mask, makes it write `to`, masked with `keep`.
    pub(crate) fn narrow_last(&mut self, from: Slot, to: Slot, keep: u64) -> bool {
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

    /// Lowers a condition and a branch that falls through if it holds. Returns the jumps to patch.
    pub(crate) fn branch_unless(&mut self, e: &Expr) -> Result<Pc, LoadError> {
        let v = self.lower(e, None)?;
        // Fuse with the preceding comparison.
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
