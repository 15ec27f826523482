//! What the entries of a table ask, by row, and which row asks a thing. An entry is a few words
//! in one vector, as its table's key has them; rows are found by a hash of these words.

use super::MISS;
use crate::ir::field_match::FieldMatch;
use crate::ir::program::{KeyField, MatchKind, limbs};
use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

/// The first word of a row without an entry.
const VACANT: u64 = u64::MAX;

#[derive(Clone, Debug)]
pub(super) struct Asked {
    /// Of each field of the key, with its limbs.
    kinds: Vec<(MatchKind, usize)>,
    /// Whether priorities tell entries apart: only where they decide.
    by_priority: bool,
    /// Priority and action of a row, and its matches' words.
    words: Vec<u64>,
    stride: usize,
    rows: HashTable<u32>,
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

impl Asked {
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
        // A miss asks for nothing.
        let words = vec![VACANT; stride];
        Asked { kinds, by_priority, words, stride, rows: HashTable::new() }
    }

    /// How many entries there are.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    fn row(words: &[u64], stride: usize, row: u32) -> &[u64] {
        &words[row as usize * stride..][..stride]
    }

    /// What tells an entry from the others.
    fn identity(by_priority: bool, entry: &[u64]) -> (u64, &[u64]) {
        (if by_priority { entry[0] >> 32 } else { 0 }, &entry[1..])
    }

    /// The row that asks this.
    pub(super) fn find(&self, matches: &[FieldMatch], priority: i32) -> Option<u32> {
        let wanted = flat(matches, priority, 0);
        let wanted = Self::identity(self.by_priority, &wanted);
        let of = |row| Self::identity(self.by_priority, Self::row(&self.words, self.stride, row));
        self.rows.find(FxBuildHasher.hash_one(wanted), |&row| of(row) == wanted).copied()
    }

    /// Stores what a row asks, which no other does.
    pub(super) fn insert(&mut self, row: u32, matches: &[FieldMatch], priority: i32, action: u16) {
        let entry = flat(matches, priority, action);
        let start = row as usize * self.stride;
        if self.words.len() < start + self.stride {
            self.words.resize(start + self.stride, VACANT);
        }
        self.words[start..start + self.stride].copy_from_slice(&entry);
        let (by_priority, words, stride) = (self.by_priority, &self.words, self.stride);
        let hash = |row: &u32| {
            FxBuildHasher.hash_one(Self::identity(by_priority, Self::row(words, stride, *row)))
        };
        self.rows.insert_unique(hash(&row), row, hash);
    }

    /// Forgets what a row asks.
    pub(super) fn remove(&mut self, row: u32) {
        let entry = Self::row(&self.words, self.stride, row);
        let hash = FxBuildHasher.hash_one(Self::identity(self.by_priority, entry));
        if let Ok(found) = self.rows.find_entry(hash, |&known| known == row) {
            found.remove();
        }
        self.words[row as usize * self.stride] = VACANT;
    }

    pub(super) fn set_action(&mut self, row: u32, action: u16) {
        let word = &mut self.words[row as usize * self.stride];
        *word = *word >> 32 << 32 | u64::from(action);
    }

    /// Whether an entry has the row.
    pub(super) fn is_taken(&self, row: u32) -> bool {
        row != MISS
            && self.words.get(row as usize * self.stride).is_some_and(|&word| word != VACANT)
    }

    /// The matches, the priority and the action of the row of an entry.
    pub(super) fn entry(&self, row: u32) -> (Vec<FieldMatch>, i32, u16) {
        let entry = Self::row(&self.words, self.stride, row);
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
