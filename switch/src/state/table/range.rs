//! Range match: entries in order of priority, compared one after another.

use super::MISS;
use crate::ir::field_match::within;
use crate::ir::program::{limbs, mask};

/// One field's range, inclusive, and where the key has the field.
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
struct Row {
    value: Vec<u64>,
    mask: Vec<u64>,
    bounds: Vec<Bounds>,
    priority: i32,
    sequence: u64,
    entry: u32,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Ranges {
    /// The first that holds is the one.
    rows: Vec<Row>,
}

impl Ranges {
    pub(super) fn find(&self, key: &[u64]) -> u32 {
        let holds = |row: &&Row| {
            let mut words = key.iter().zip(&row.value).zip(&row.mask);
            words.all(|((key, value), mask)| key & mask == *value)
                && row.bounds.iter().all(|bounds| bounds.hold(key))
        };
        self.rows.iter().find(holds).map_or(MISS, |row| row.entry)
    }

    pub(super) fn insert(
        &mut self,
        value: Vec<u64>,
        mask: Vec<u64>,
        bounds: Vec<Bounds>,
        priority: i32,
        sequence: u64,
        entry: u32,
    ) {
        let order = |row: &Row| (std::cmp::Reverse(row.priority), row.sequence);
        let row = Row { value, mask, bounds, priority, sequence, entry };
        let at = self.rows.partition_point(|other| order(other) < order(&row));
        self.rows.insert(at, row);
    }

    pub(super) fn remove(&mut self, entry: u32) {
        self.rows.retain(|row| row.entry != entry);
    }
}
