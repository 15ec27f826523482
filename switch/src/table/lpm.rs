//! Longest-prefix match on one field of up to 64 bits: a trie of 8 bits a step, where a prefix
//! that ends inside a step fills all of the step's cells that it covers.

use super::NONE;
use rustc_hash::FxHashMap;

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
    nodes: Vec<[Cell; 256]>,
    /// Prefixes by value and length.
    prefixes: FxHashMap<(u64, u32), u32>,
    /// The prefix of length 0.
    any: u32,
}

impl Trie {
    pub(super) fn new(width: u32) -> Self {
        Trie { width, nodes: vec![[EMPTY; 256]], prefixes: FxHashMap::default(), any: NONE }
    }

    /// The key's bits from the top of a 64-bit word on.
    fn aligned(&self, value: u64) -> u64 {
        value << (64 - self.width)
    }

    #[inline]
    pub(super) fn find(&self, value: u64) -> u32 {
        let (mut rest, mut node, mut best) = (self.aligned(value), 0usize, self.any);
        loop {
            let cell = &self.nodes[node][(rest >> 56) as usize];
            if cell.entry != NONE {
                best = cell.entry;
            }
            if cell.child == NONE {
                return best;
            }
            node = cell.child as usize;
            rest <<= 8;
        }
    }

    pub(super) fn insert(&mut self, value: u64, length: u32, entry: u32) {
        self.prefixes.insert((value, length), entry);
        if length == 0 {
            self.any = entry;
            return;
        }
        let (node, first, count) = self.cells(value, length);
        for cell in &mut self.nodes[node][first..first + count] {
            if cell.entry == NONE || u32::from(cell.length) <= length {
                (cell.entry, cell.length) = (entry, length as u8);
            }
        }
    }

    /// The node where a prefix ends, made if need be, and the cells it covers there.
    fn cells(&mut self, value: u64, length: u32) -> (usize, usize, usize) {
        let (mut rest, mut node, mut left) = (self.aligned(value), 0usize, length);
        while left > 8 {
            let byte = (rest >> 56) as usize;
            if self.nodes[node][byte].child == NONE {
                self.nodes.push([EMPTY; 256]);
                self.nodes[node][byte].child = self.nodes.len() as u32 - 1;
            }
            node = self.nodes[node][byte].child as usize;
            rest <<= 8;
            left -= 8;
        }
        let count = 1usize << (8 - left);
        let first = (rest >> 56) as usize & !(count - 1);
        (node, first, count)
    }

    pub(super) fn remove(&mut self, value: u64, length: u32) {
        let Some(removed) = self.prefixes.remove(&(value, length)) else { return };
        if length == 0 {
            self.any = NONE;
            return;
        }
        // What is left for its cells: the longest prefix around it that ends in the same step.
        let step_start = (length - 1) / 8 * 8;
        let mut heir = EMPTY;
        for shorter in (step_start + 1..length).rev() {
            let keep = super::prefix_mask(self.width, shorter)[0];
            if let Some(&entry) = self.prefixes.get(&(value & keep, shorter)) {
                (heir.entry, heir.length) = (entry, shorter as u8);
                break;
            }
        }
        let (node, first, count) = self.cells(value, length);
        for cell in &mut self.nodes[node][first..first + count] {
            if cell.entry == removed {
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
            width in prop::sample::select(vec![9u32, 16, 31, 32, 48, 64]),
            steps in prop::collection::vec((any::<u64>(), 0u32..=64, any::<bool>()), 1..80),
            keys in prop::collection::vec((any::<u64>(), 0usize..80, 0u32..64), 50),
        ) {
            let mut trie = Trie::new(width);
            let mut list: Vec<(u64, u32, u32)> = vec![];
            let prefix = |value: u64, length: u32| {
                value & mask(width) & !mask(width - length)
            };
            for (i, &(value, length, remove)) in steps.iter().enumerate() {
                let length = length.min(width);
                let value = prefix(value, length);
                let known = list.iter().position(|&(v, l, _)| (v, l) == (value, length));
                if remove && !list.is_empty() {
                    let (value, length, _) = list.swap_remove(value as usize % list.len());
                    trie.remove(value, length);
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
