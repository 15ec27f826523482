//! Range match: entries in priority order, compared one by one.

use super::action_entries::MISS;
use crate::ir::{limbs, mask, within};

/// One field's range, inclusive, and the field's position in the key.
#[derive(Clone, Debug)]
pub(super) struct Bounds {
    pub word: u16,
    pub shift: u8,
    pub width: u32,
    pub from: Vec<u64>,
    pub to: Vec<u64>,
}

impl Bounds {
    fn hold(&self, key: &[u64]) -> bool {
        let word = self.word as usize;
        if self.width <= 64 {
            let value = key[word] >> self.shift & mask(self.width);
            return self.from[0] <= value && value <= self.to[0];
        }
        within(&self.from, &self.to, &key[word..word + limbs(self.width) as usize])
    }
}

#[derive(Clone, Debug)]
struct RangeEntry {
    value: Vec<u64>,
    mask: Vec<u64>,
    bounds: Vec<Bounds>,
    priority: i32,
    sequence: u64,
    number: u32,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Ranges {
    /// The first entry that matches wins.
    entries: Vec<RangeEntry>,
}

impl Ranges {
    pub(super) fn find(&self, key: &[u64]) -> u32 {
        let holds = |entry: &&RangeEntry| {
            let mut words = key.iter().zip(&entry.value).zip(&entry.mask);
            words.all(|((key, value), mask)| key & mask == *value)
                && entry.bounds.iter().all(|bounds| bounds.hold(key))
        };
        self.entries.iter().find(holds).map_or(MISS, |entry| entry.number)
    }

    pub(super) fn insert(
        &mut self,
        value: Vec<u64>,
        mask: Vec<u64>,
        bounds: Vec<Bounds>,
        priority: i32,
        sequence: u64,
        number: u32,
    ) {
        let order = |entry: &RangeEntry| (std::cmp::Reverse(entry.priority), entry.sequence);
        let entry = RangeEntry { value, mask, bounds, priority, sequence, number };
        let at = self.entries.partition_point(|other| order(other) < order(&entry));
        self.entries.insert(at, entry);
    }

    pub(super) fn remove(&mut self, number: u32) {
        self.entries.retain(|entry| entry.number != number);
    }
}
