//! The slot of a lowered value, and a bound on its bits.

use super::tree::Binary;
use crate::ir::Slot;

/// A value's slot and range: `0..2^bits`, or two's complement of `bits` bits. Up to 64 bits it
/// fills one slot (sign- or zero-extended), beyond that `limbs(bits)` slots.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Val {
    pub slot: Slot,
    pub bits: u32,
    pub signed: bool,
}

/// The widest exact intermediate value.
pub(super) const BITS_MAX: u32 = 32_768;

impl Val {
    pub(super) fn narrow(self) -> bool {
        self.bits <= 64
    }

    /// The bits and the sign that can represent both values.
    pub(super) fn common(self, other: Val) -> (u32, bool) {
        let signed = self.signed || other.signed;
        let bits = |v: Val| v.bits + u32::from(signed && !v.signed);
        (bits(self).max(bits(other)), signed)
    }
}

/// The bits and the sign of the exact result.
pub(super) fn result_bits(op: Binary, a: Val, b: Val) -> (u32, bool) {
    let (bits, signed) = a.common(b);
    match op {
        Binary::Add => (bits + 1, signed),
        Binary::Sub => (bits + 1, true),
        Binary::Mul => (a.bits + b.bits + u32::from(signed), signed),
        _ => (bits, signed),
    }
}
