//! How an entry matches one field of its table's key.

use super::slot::{limbs, mask};

/// How an entry matches one field of the key. Limbs are least significant first.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum FieldMatch {
    Exact(Vec<u64>),
    /// Value and prefix length.
    Lpm(Vec<u64>, u32),
    /// Value and mask.
    Ternary(Vec<u64>, Vec<u64>),
    /// First and last value, inclusive.
    Range(Vec<u64>, Vec<u64>),
}

impl FieldMatch {
    pub(crate) fn limbs(&self) -> usize {
        match self {
            FieldMatch::Exact(value)
            | FieldMatch::Lpm(value, _)
            | FieldMatch::Ternary(value, _)
            | FieldMatch::Range(value, _) => value.len(),
        }
    }

    /// Whether a value with as many limbs matches; a prefix must be converted to a mask first.
    pub(crate) fn holds(&self, value: &[u64]) -> bool {
        match self {
            FieldMatch::Exact(wanted) | FieldMatch::Lpm(wanted, _) => value == wanted,
            FieldMatch::Ternary(wanted, mask) => {
                let masked = value.iter().zip(mask).map(|(value, mask)| value & mask);
                masked.eq(wanted.iter().copied())
            }
            FieldMatch::Range(from, to) => within(from, to, value),
        }
    }
}

/// Clears the bits that a match ignores, so that equal matches compare equal.
pub(crate) fn normalise(part: &mut FieldMatch, width: u32) {
    match part {
        FieldMatch::Lpm(value, length) => {
            for (limb, keep) in value.iter_mut().zip(prefix_mask(width, *length)) {
                *limb &= keep;
            }
        }
        FieldMatch::Ternary(value, keep) => {
            value.iter_mut().zip(keep.iter()).for_each(|(limb, keep)| *limb &= keep);
        }
        FieldMatch::Exact(_) | FieldMatch::Range(..) => {}
    }
}

/// The mask of a prefix, in limbs.
pub(crate) fn prefix_mask(width: u32, length: u32) -> Vec<u64> {
    let limbs = limbs(width);
    let below = |bits: u32, limb: u32| mask(bits.saturating_sub(limb * 64));
    (0..u32::from(limbs)).map(|limb| below(width, limb) & !below(width - length, limb)).collect()
}

/// Whether a number lies between two others with as many limbs, inclusive.
pub(crate) fn within(from: &[u64], to: &[u64], value: &[u64]) -> bool {
    let not_above = |a: &[u64], b: &[u64]| a.iter().rev().le(b.iter().rev());
    not_above(from, value) && not_above(value, to)
}
