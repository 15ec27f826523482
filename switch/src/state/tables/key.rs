//! Converts an entry's matches to words of its table's key.

use crate::ir::{FieldMatch, MatchKind, Table as Declared, prefix_mask};

/// Keys of up to this many words are looked up in place.
pub(crate) const NARROW_WORDS: usize = 2;

/// Longest prefix first, or highest priority first.
pub(super) fn tuple_rank(declared: &Declared, length: u32, priority: i32) -> i32 {
    if declared.kind == MatchKind::Lpm { length as i32 } else { priority }
}

/// A match in the words of the key, its mask, and its prefix length.
pub(super) fn words(declared: &Declared, matches: &[FieldMatch]) -> (Vec<u64>, Vec<u64>, u32) {
    let count = declared.words as usize;
    let (mut value, mut keep, mut length) = (vec![0; count], vec![0; count], 0);
    for (part, field) in matches.iter().zip(&declared.key) {
        let all = prefix_mask(field.width, field.width);
        let (limbs, mask) = match part {
            FieldMatch::Exact(limbs) => (limbs, all),
            FieldMatch::Lpm(limbs, prefix) => {
                length = *prefix;
                (limbs, prefix_mask(field.width, *prefix))
            }
            FieldMatch::Ternary(limbs, mask) => (limbs, mask.clone()),
            // `Ranges` compares them.
            FieldMatch::Range(limbs, _) => (limbs, vec![0; limbs.len()]),
        };
        for (i, (&limb, &mask)) in limbs.iter().zip(&mask).enumerate() {
            let fixed = field.mask.as_ref().map_or(u64::MAX, |fixed| fixed[i]);
            let word = field.word as usize + i;
            value[word] |= (limb & mask & fixed) << field.shift;
            keep[word] |= (mask & fixed) << field.shift;
        }
    }
    (value, keep, length)
}
