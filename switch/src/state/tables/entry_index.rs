//! The matches of a table's entries, and the entry number of given matches. An entry is a few words
//! in one vector; a hash of these words finds its number.

use super::action_entries::MISS;
use crate::ir::{FieldMatch, KeyField, MatchKind, limbs};
use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

/// The first word of an unused number.
const VACANT: u64 = u64::MAX;

#[derive(Clone, Debug)]
pub(super) struct EntryIndex {
    /// The kind and the limbs of each key field.
    kinds: Vec<(MatchKind, usize)>,
    /// Whether two entries may differ only in their priorities.
    by_priority: bool,
    /// By number: priority and action, then the words of the matches.
    words: Vec<u64>,
    stride: usize,
    numbers: HashTable<u32>,
}

/// An entry's words.
fn flat(matches: &[FieldMatch], priority: i32, action: u16) -> Vec<u64> {
    let mut words = vec![u64::from(priority as u32) << 32 | u64::from(action)];
    for part in matches {
        match part {
            FieldMatch::Exact(value) => words.extend(value),
            FieldMatch::Lpm(value, length) => {
                words.extend(value);
                words.push(u64::from(*length));
            }
            FieldMatch::Ternary(first, second) | FieldMatch::Range(first, second) => {
                words.extend(first);
                words.extend(second);
            }
        }
    }
    words
}

impl EntryIndex {
    pub(super) fn new(key: &[KeyField]) -> Self {
        let kinds: Vec<_> =
            key.iter().map(|field| (field.kind, limbs(field.width) as usize)).collect();
        let words = kinds.iter().map(|&(kind, limbs)| match kind {
            MatchKind::Exact => limbs,
            MatchKind::Lpm => limbs + 1,
            MatchKind::Ternary | MatchKind::Range => 2 * limbs,
        });
        let stride = 1 + words.sum::<usize>();
        let decides = |kind| matches!(kind, MatchKind::Ternary | MatchKind::Range);
        let by_priority = kinds.iter().any(|&(kind, _)| decides(kind));
        // The entry of a miss matches nothing.
        let words = vec![VACANT; stride];
        EntryIndex { kinds, by_priority, words, stride, numbers: HashTable::new() }
    }

    /// The number of entries.
    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    fn words_of(words: &[u64], stride: usize, number: u32) -> &[u64] {
        &words[number as usize * stride..][..stride]
    }

    /// The part of an entry that is unique in its table.
    fn identity(by_priority: bool, entry: &[u64]) -> (u64, &[u64]) {
        (if by_priority { entry[0] >> 32 } else { 0 }, &entry[1..])
    }

    /// The number of the entry with these matches.
    pub(super) fn find(&self, matches: &[FieldMatch], priority: i32) -> Option<u32> {
        let wanted = flat(matches, priority, 0);
        let wanted = Self::identity(self.by_priority, &wanted);
        let of = |number| {
            Self::identity(self.by_priority, Self::words_of(&self.words, self.stride, number))
        };
        self.numbers.find(FxBuildHasher.hash_one(wanted), |&number| of(number) == wanted).copied()
    }

    /// Stores an entry that does not exist yet.
    pub(super) fn insert(
        &mut self,
        number: u32,
        matches: &[FieldMatch],
        priority: i32,
        action: u16,
    ) {
        let entry = flat(matches, priority, action);
        let start = number as usize * self.stride;
        if self.words.len() < start + self.stride {
            self.words.resize(start + self.stride, VACANT);
        }
        self.words[start..start + self.stride].copy_from_slice(&entry);
        let (by_priority, words, stride) = (self.by_priority, &self.words, self.stride);
        let hash = |number: &u32| {
            FxBuildHasher
                .hash_one(Self::identity(by_priority, Self::words_of(words, stride, *number)))
        };
        self.numbers.insert_unique(hash(&number), number, hash);
    }

    /// Removes an entry.
    pub(super) fn remove(&mut self, number: u32) {
        let entry = Self::words_of(&self.words, self.stride, number);
        let hash = FxBuildHasher.hash_one(Self::identity(self.by_priority, entry));
        if let Ok(found) = self.numbers.find_entry(hash, |&known| known == number) {
            found.remove();
        }
        self.words[number as usize * self.stride] = VACANT;
    }

    pub(super) fn set_action(&mut self, number: u32, action: u16) {
        let word = &mut self.words[number as usize * self.stride];
        *word = *word >> 32 << 32 | u64::from(action);
    }

    /// Whether the number is in use.
    pub(super) fn is_taken(&self, number: u32) -> bool {
        number != MISS
            && self.words.get(number as usize * self.stride).is_some_and(|&word| word != VACANT)
    }

    /// An entry's matches, priority and action.
    pub(super) fn entry(&self, number: u32) -> (Vec<FieldMatch>, i32, u16) {
        let entry = Self::words_of(&self.words, self.stride, number);
        let mut rest = &entry[1..];
        let mut take = |count: usize| {
            let (first, after) = rest.split_at(count);
            rest = after;
            first.to_vec()
        };
        let matches = self.kinds.iter().map(|&(kind, limbs)| match kind {
            MatchKind::Exact => FieldMatch::Exact(take(limbs)),
            MatchKind::Lpm => FieldMatch::Lpm(take(limbs), take(1)[0] as u32),
            MatchKind::Ternary => FieldMatch::Ternary(take(limbs), take(limbs)),
            MatchKind::Range => FieldMatch::Range(take(limbs), take(limbs)),
        });
        (matches.collect(), (entry[0] >> 32) as i32, entry[0] as u16)
    }
}
