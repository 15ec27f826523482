//! Operations on values of several 64-bit limbs in two's complement.

use super::slot::Slot;

/// An operation on values of `n` 64-bit limbs in two's complement.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WideOp {
    /// Copies `a` of `from` limbs to `d` of `n`; sign-extends, zero-extends or truncates.
    Extend {
        d: Slot,
        n: u16,
        a: Slot,
        from: u16,
        signed: bool,
    },
    /// Zeroes the bits of `d` (of `n` limbs) from bit `bits` on.
    Mask {
        d: Slot,
        n: u16,
        bits: u32,
    },
    /// Sign-extends from bit `bits - 1`.
    SignExtend {
        d: Slot,
        n: u16,
        bits: u32,
    },
    Add {
        d: Slot,
        a: Slot,
        b: Slot,
        n: u16,
    },
    Sub {
        d: Slot,
        a: Slot,
        b: Slot,
        n: u16,
    },
    Mul {
        d: Slot,
        a: Slot,
        b: Slot,
        n: u16,
    },
    And {
        d: Slot,
        a: Slot,
        b: Slot,
        n: u16,
    },
    Or {
        d: Slot,
        a: Slot,
        b: Slot,
        n: u16,
    },
    Xor {
        d: Slot,
        a: Slot,
        b: Slot,
        n: u16,
    },
    Not {
        d: Slot,
        a: Slot,
        n: u16,
    },
    /// The shift count is the narrow, unsigned 64-bit value in `b`.
    Shl {
        d: Slot,
        a: Slot,
        b: Slot,
        n: u16,
    },
    /// Arithmetic shift.
    Shr {
        d: Slot,
        a: Slot,
        b: Slot,
        n: u16,
    },
    /// Unsigned quotient; division by zero gives 0.
    Div {
        d: Slot,
        a: Slot,
        b: Slot,
        n: u16,
    },
    Rem {
        d: Slot,
        a: Slot,
        b: Slot,
        n: u16,
    },
    /// -1, 0 or 1 in the narrow `d`, by a signed comparison.
    Compare {
        d: Slot,
        a: Slot,
        b: Slot,
        n: u16,
    },
    Select {
        d: Slot,
        c: Slot,
        a: Slot,
        b: Slot,
        n: u16,
    },
    /// Clamps to `0..2^bits`.
    ClampU {
        d: Slot,
        a: Slot,
        n: u16,
        bits: u32,
    },
    /// Clamps to `bits` bits of two's complement.
    ClampS {
        d: Slot,
        a: Slot,
        n: u16,
        bits: u32,
    },
}
