//! Longest-prefix match on one field of up to 64 bits: a trie of some bits a step, where a
//! prefix that ends inside a step fills all of the step's cells that it covers. Steps are of 8
//! bits, in large tables of 4: nodes then have 192 bytes instead of 3,072.

use super::NONE;
use rustc_hash::FxHashMap;

/// Tables of more entries have steps of 4 bits.
const SMALL_MAX: u64 = 16_384;

/// A cell of a node: the entry whose prefix ends in this step, and the node below.
#[derive(Clone, Copy, Debug)]
struct Cell {
    entry: u32,
    child: u32,
    /// Prefix length of `entry`.
    length: u8,
}

const EMPTY: Cell = Cell { entry: NONE, child: NONE, length: 0 };

#[derive(Clone, Debug)]
pub(super) struct Trie {
    width: u32,
    /// Bits a step.
    step: u32,
    /// The cells of one node after the other's.
    cells: Vec<Cell>,
    /// Prefixes that end inside a step, by their bits and a one behind them: a longer one leaves
    /// its cells to them when it goes.
    inside: FxHashMap<u64, u32>,
    /// The prefix of length 0.
    any: u32,
}

impl Trie {
    pub(super) fn new(width: u32, max_size: u64) -> Self {
        let step = if max_size > SMALL_MAX { 4 } else { 8 };
        let cells = vec![EMPTY; 1 << step];
        Trie { width, step, cells, inside: FxHashMap::default(), any: NONE }
    }

    /// The key's bits from the top of a 64-bit word on.
    fn aligned(&self, value: u64) -> u64 {
        value << (64 - self.width)
    }

    /// A prefix of less than 64 bits as one number.
    fn marked(&self, value: u64, length: u32) -> u64 {
        let marker = 1 << (63 - length);
        self.aligned(value) & !(marker | (marker - 1)) | marker
    }

    #[inline]
    pub(super) fn find(&self, value: u64) -> u32 {
        let (mut rest, mut node, mut best) = (self.aligned(value), 0usize, self.any);
        loop {
            let cell = &self.cells[node << self.step | (rest >> (64 - self.step)) as usize];
            if cell.entry != NONE {
                best = cell.entry;
            }
            if cell.child == NONE {
                return best;
            }
            node = cell.child as usize;
            rest <<= self.step;
        }
    }

    pub(super) fn insert(&mut self, value: u64, length: u32, entry: u32) {
        if length == 0 {
            self.any = entry;
            return;
        }
        if length % self.step != 0 {
            self.inside.insert(self.marked(value, length), entry);
        }
        let (first, count) = self.cells(value, length);
        for cell in &mut self.cells[first..first + count] {
            if cell.entry == NONE || u32::from(cell.length) <= length {
                (cell.entry, cell.length) = (entry, length as u8);
            }
        }
    }

    /// The cells that a prefix covers in the node where it ends, which is made if need be.
    fn cells(&mut self, value: u64, length: u32) -> (usize, usize) {
        let (mut rest, mut node, mut left) = (self.aligned(value), 0usize, length);
        while left > self.step {
            let at = node << self.step | (rest >> (64 - self.step)) as usize;
            if self.cells[at].child == NONE {
                self.cells[at].child = (self.cells.len() >> self.step) as u32;
                self.cells.resize(self.cells.len() + (1 << self.step), EMPTY);
            }
            node = self.cells[at].child as usize;
            rest <<= self.step;
            left -= self.step;
        }
        let count = 1usize << (self.step - left);
        let first = (rest >> (64 - self.step)) as usize & !(count - 1);
        (node << self.step | first, count)
    }

    pub(super) fn remove(&mut self, value: u64, length: u32, entry: u32) {
        if length == 0 {
            self.any = NONE;
            return;
        }
        if length % self.step != 0 {
            self.inside.remove(&self.marked(value, length));
        }
        // What is left for its cells: the longest prefix around it that ends in the same step.
        let step_start = (length - 1) / self.step * self.step;
        let mut heir = EMPTY;
        for shorter in (step_start + 1..length).rev() {
            if let Some(&entry) = self.inside.get(&self.marked(value, shorter)) {
                (heir.entry, heir.length) = (entry, shorter as u8);
                break;
            }
        }
        let (first, count) = self.cells(value, length);
        for cell in &mut self.cells[first..first + count] {
            if cell.entry == entry {
                (cell.entry, cell.length) = (heir.entry, heir.length);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::mask;
    use proptest::prelude::*;

    proptest! {
        /// Against a list that is searched from end to end.
        #[test]
        fn finds_what_a_list_finds(
            size in prop::sample::select(vec![1024u64, 1 << 20]),
            width in prop::sample::select(vec![9u32, 16, 31, 32, 48, 64]),
            steps in prop::collection::vec((any::<u64>(), 0u32..=64, any::<bool>()), 1..80),
            keys in prop::collection::vec((any::<u64>(), 0usize..80, 0u32..64), 50),
        ) {
            let mut trie = Trie::new(width, size);
            let mut list: Vec<(u64, u32, u32)> = vec![];
            let prefix = |value: u64, length: u32| {
                value & mask(width) & !mask(width - length)
            };
            for (i, &(value, length, remove)) in steps.iter().enumerate() {
                let length = length.min(width);
                let value = prefix(value, length);
                let known = list.iter().position(|&(v, l, _)| (v, l) == (value, length));
                if remove && !list.is_empty() {
                    let (value, length, entry) = list.swap_remove(value as usize % list.len());
                    trie.remove(value, length, entry);
                } else if known.is_none() {
                    list.push((value, length, i as u32));
                    trie.insert(value, length, i as u32);
                }
            }
            for (random, near, flip) in keys {
                // A key near a prefix, or anywhere.
                let key = list.get(near).map_or(random, |&(v, ..)| v ^ (1u64 << flip)) & mask(width);
                let longest = list.iter()
                    .filter(|&&(value, length, _)| prefix(key, length) == value)
                    .max_by_key(|&&(_, length, _)| length);
                prop_assert_eq!(trie.find(key), longest.map_or(NONE, |&(.., entry)| entry));
            }
        }
    }
}
