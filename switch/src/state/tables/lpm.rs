//! Longest-prefix match on one field of up to 64 bits: a multibit trie. A prefix that ends inside a
//! step fills all cells that it covers there. Each step has 8 bits. In large tables the first step
//! has 16 and the others have 4, with nodes of 128 bytes instead of 2,048.

use super::action_entries::MISS;

/// Tables with more entries have small nodes.
const SMALL_MAX: u64 = 16_384;

/// A cell of a node: the entry whose prefix ends in this step, and the offset of the next node's
/// cells; 0 for none.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct Cell {
    entry: u32,
    child: u32,
}

/// Bits of the first step and of the others, for a table of this size.
pub(crate) fn steps(max_size: u64) -> (u32, u32) {
    if max_size > SMALL_MAX { (16, 4) } else { (8, 8) }
}

#[derive(Clone, Debug)]
pub(super) struct Trie {
    width: u32,
    /// Bits of the first step and of the others.
    first: u32,
    step: u32,
    /// The cells, node by node.
    cells: Vec<Cell>,
    /// Prefix lengths by entry.
    lengths: Vec<u8>,
    /// The prefix of length 0.
    any: u32,
}

impl Trie {
    pub(super) fn new(width: u32, max_size: u64) -> Self {
        let (first, step) = steps(max_size);
        let cells = vec![Cell::default(); 1 << first];
        Trie { width, first, step, cells, lengths: vec![], any: MISS }
    }

    /// The address of the cells, and the entry of the prefix of length 0.
    pub(super) fn parts(&self) -> (usize, u32) {
        (self.cells.as_ptr().expose_provenance(), self.any)
    }

    /// The key, shifted to the top of a 64-bit word.
    fn aligned(&self, value: u64) -> u64 {
        value << (64 - self.width)
    }

    #[inline]
    pub(super) fn find(&self, value: u64) -> u32 {
        let mut rest = self.aligned(value);
        let mut cell = self.cells[(rest >> (64 - self.first)) as usize];
        rest <<= self.first;
        let mut best = self.any;
        loop {
            if cell.entry != MISS {
                best = cell.entry;
            }
            if cell.child == 0 {
                return best;
            }
            cell = self.cells[cell.child as usize + (rest >> (64 - self.step)) as usize];
            rest <<= self.step;
        }
    }

    pub(super) fn insert(&mut self, value: u64, length: u32, entry: u32) {
        if self.lengths.len() <= entry as usize {
            self.lengths.resize(entry as usize + 1, 0);
        }
        self.lengths[entry as usize] = length as u8;
        if length == 0 {
            self.any = entry;
            return;
        }
        let (first, count) = self.cells(value, length);
        for cell in &mut self.cells[first..first + count] {
            if cell.entry == MISS || u32::from(self.lengths[cell.entry as usize]) <= length {
                cell.entry = entry;
            }
        }
    }

    /// The cells that a prefix covers in the node where it ends; creates the node if necessary.
    fn cells(&mut self, value: u64, length: u32) -> (usize, usize) {
        let (mut rest, mut node, mut left) = (self.aligned(value), 0usize, length);
        let mut step = self.first;
        while left > step {
            let at = node + (rest >> (64 - step)) as usize;
            if self.cells[at].child == 0 {
                self.cells[at].child = self.cells.len() as u32;
                self.cells.resize(self.cells.len() + (1 << self.step), Cell::default());
            }
            node = self.cells[at].child as usize;
            rest <<= step;
            left -= step;
            step = self.step;
        }
        let count = 1usize << (step - left);
        let first = (rest >> (64 - step)) as usize & !(count - 1);
        (node + first, count)
    }

    /// Removes an entry's prefix. `entry_of` returns the entry whose prefix is this one's first
    /// bits.
    pub(super) fn remove(
        &mut self,
        value: u64,
        length: u32,
        entry: u32,
        entry_of: impl Fn(u32) -> Option<u32>,
    ) {
        if length == 0 {
            self.any = MISS;
            return;
        }
        // Its cells now belong to the longest prefix around it that ends in the same step.
        let step_start = match length.checked_sub(self.first + 1) {
            None => 0,
            Some(below) => self.first + below / self.step * self.step,
        };
        let heir = (step_start + 1..length).rev().find_map(entry_of).unwrap_or(MISS);
        let (first, count) = self.cells(value, length);
        for cell in &mut self.cells[first..first + count] {
            if cell.entry == entry {
                cell.entry = heir;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::mask;
    use proptest::prelude::*;

    proptest! {
        /// Compares with a linear search of a list.
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
                    trie.remove(value, length, entry, |shorter| {
                        let same = |&&(v, l, _): &&(u64, u32, u32)| {
                            (v, l) == (prefix(value, shorter), shorter)
                        };
                        list.iter().find(same).map(|&(.., entry)| entry)
                    });
                } else if known.is_none() {
                    let entry = i as u32 + 1;
                    list.push((value, length, entry));
                    trie.insert(value, length, entry);
                }
            }
            for (random, near, flip) in keys {
                // A key near a prefix, or anywhere.
                let key = list.get(near).map_or(random, |&(v, ..)| v ^ (1u64 << flip)) & mask(width);
                let longest = list.iter()
                    .filter(|&&(value, length, _)| prefix(key, length) == value)
                    .max_by_key(|&&(_, length, _)| length);
                prop_assert_eq!(trie.find(key), longest.map_or(MISS, |&(.., entry)| entry));
            }
        }
    }
}
