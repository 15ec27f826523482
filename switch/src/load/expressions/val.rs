//! Where a lowered value is, and a bound on its bits.

use super::tree::Binary;
use crate::ir::Slot;

/// Where a value is and what is known of it: in `0..2^bits`, or in two's complement of `bits`.
/// Up to 64 bits it fills one slot (sign- or zero-extended), above `limbs(bits)` of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Val {
    pub slot: Slot,
    pub bits: u32,
    pub signed: bool,
}

/// No exact intermediate value gets wider than this.
pub(super) const BITS_MAX: u32 = 32_768;

impl Val {
    pub(super) fn narrow(self) -> bool {
        self.bits <= 64
    }

    /// Bits for both in one signedness.
    pub(super) fn common(self, other: Val) -> (u32, bool) {
        let signed = self.signed || other.signed;
        let bits = |v: Val| v.bits + u32::from(signed && !v.signed);
        (bits(self).max(bits(other)), signed)
    }
}

/// Bits and sign that hold the exact result.
pub(super) fn result_bits(op: Binary, a: Val, b: Val) -> (u32, bool) {
    let (bits, signed) = a.common(b);
    match op {
        Binary::Add => (bits + 1, signed),
        Binary::Sub => (bits + 1, true),
        Binary::Mul => (a.bits + b.bits + u32::from(signed), signed),
        _ => (bits, signed),
    }
}
