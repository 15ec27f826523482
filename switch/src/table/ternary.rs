//! Ternary match by tuple space search (Srinivasan, Suri and Varghese, SIGCOMM 1999): a hash
//! table for each mask in use, those with the highest rank first.

use super::NONE;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// An entry's place in the order: higher rank first, then the older.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    rank: i32,
    sequence: u64,
    entry: u32,
}

impl Candidate {
    fn beats(&self, other: &Candidate) -> bool {
        self.rank > other.rank || (self.rank == other.rank && self.sequence < other.sequence)
    }
}

/// A masked key: two words in place, or any number on the heap.
pub(super) trait Key: std::hash::Hash + Eq + Clone + std::fmt::Debug {
    fn of(words: &[u64]) -> Self;
    /// Makes it `key & mask`, without an allocation.
    fn set(&mut self, key: &[u64], mask: &[u64]);
}

impl Key for [u64; 2] {
    fn of(words: &[u64]) -> Self {
        [words[0], words.get(1).copied().unwrap_or(0)]
    }

    #[inline]
    fn set(&mut self, key: &[u64], mask: &[u64]) {
        self[0] = key[0] & mask[0];
        if let ([_, key], [_, mask]) = (key, mask) {
            self[1] = key & mask;
        }
    }
}

impl Key for Box<[u64]> {
    fn of(words: &[u64]) -> Self {
        words.into()
    }

    fn set(&mut self, key: &[u64], mask: &[u64]) {
        let parts = key.iter().zip(mask);
        self.iter_mut().zip(parts).for_each(|(d, (word, mask))| *d = word & mask);
    }
}

#[derive(Clone, Debug)]
struct Group<K> {
    mask: Box<[u64]>,
    /// How many entries have each rank.
    ranks: BTreeMap<i32, u32>,
    highest: i32,
    /// Entries with one masked key, the best first.
    map: FxHashMap<K, Vec<Candidate>>,
}

#[derive(Clone, Debug)]
pub(super) struct TupleSpace<K> {
    groups: Vec<Group<K>>,
    masked: K,
}

impl<K: Key> TupleSpace<K> {
    pub(super) fn new(words: usize) -> Self {
        TupleSpace { groups: vec![], masked: K::of(&vec![0; words]) }
    }

    #[inline]
    pub(super) fn find(&mut self, key: &[u64]) -> u32 {
        let mut best: Option<Candidate> = None;
        for group in &self.groups {
            if best.is_some_and(|best| best.rank > group.highest) {
                break;
            }
            self.masked.set(key, &group.mask);
            if let Some([first, ..]) = group.map.get(&self.masked).map(Vec::as_slice)
                && best.is_none_or(|best| first.beats(&best))
            {
                best = Some(*first);
            }
        }
        best.map_or(NONE, |best| best.entry)
    }

    pub(super) fn insert(
        &mut self,
        value: &[u64],
        mask: &[u64],
        rank: i32,
        sequence: u64,
        entry: u32,
    ) {
        let known = self.groups.iter().position(|group| *group.mask == *mask);
        let at = known.unwrap_or_else(|| {
            self.groups.push(Group {
                mask: mask.into(),
                ranks: BTreeMap::new(),
                highest: i32::MIN,
                map: FxHashMap::default(),
            });
            self.groups.len() - 1
        });
        let group = &mut self.groups[at];
        *group.ranks.entry(rank).or_insert(0) += 1;
        let candidate = Candidate { rank, sequence, entry };
        let same = group.map.entry(K::of(value)).or_default();
        let place = same.iter().position(|other| candidate.beats(other)).unwrap_or(same.len());
        same.insert(place, candidate);
        if rank > group.highest || known.is_none() {
            group.highest = rank;
            self.order();
        }
    }

    pub(super) fn remove(&mut self, value: &[u64], mask: &[u64], rank: i32, entry: u32) {
        let Some(at) = self.groups.iter().position(|group| *group.mask == *mask) else { return };
        let group = &mut self.groups[at];
        let value = K::of(value);
        if let Some(same) = group.map.get_mut(&value) {
            same.retain(|candidate| candidate.entry != entry);
            if same.is_empty() {
                group.map.remove(&value);
            }
        }
        if let Some(count) = group.ranks.get_mut(&rank) {
            *count -= 1;
            if *count == 0 {
                group.ranks.remove(&rank);
            }
        }
        match group.ranks.last_key_value() {
            None => drop(self.groups.remove(at)),
            Some((&highest, _)) if highest != group.highest => {
                group.highest = highest;
                self.order();
            }
            Some(_) => {}
        }
    }

    fn order(&mut self) {
        self.groups.sort_by_key(|group| std::cmp::Reverse(group.highest));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a list that is searched from end to end.
        #[test]
        fn finds_what_a_list_finds(
            steps in prop::collection::vec((0u64..16, 0u64..16, 0u64..4, 0u64..4, 0i32..4, 0u8..4), 1..60),
            keys in prop::collection::vec((0u64..16, 0u64..4), 30),
        ) {
            let mut tuples = TupleSpace::<[u64; 2]>::new(2);
            let mut wide = TupleSpace::<Box<[u64]>>::new(2);
            let mut list: Vec<([u64; 2], [u64; 2], i32, u32)> = vec![];
            for (i, &(value, mask, value2, mask2, rank, action)) in steps.iter().enumerate() {
                if action == 0 && !list.is_empty() {
                    let (value, mask, rank, entry) = list.remove(value as usize % list.len());
                    tuples.remove(&value, &mask, rank, entry);
                    wide.remove(&value, &mask, rank, entry);
                } else {
                    let (value, mask) = ([value & mask, value2 & mask2], [mask, mask2]);
                    list.push((value, mask, rank, i as u32));
                    tuples.insert(&value, &mask, rank, i as u64, i as u32);
                    wide.insert(&value, &mask, rank, i as u64, i as u32);
                }
            }
            for (a, b) in keys {
                let mut best: Option<(i32, u32)> = None;
                for &(value, mask, rank, entry) in &list {
                    let hit = [a & mask[0], b & mask[1]] == value;
                    if hit && best.is_none_or(|(highest, _)| rank > highest) {
                        best = Some((rank, entry));
                    }
                }
                let best = best.map_or(NONE, |(_, entry)| entry);
                prop_assert_eq!(tuples.find(&[a, b]), best);
                prop_assert_eq!(wide.find(&[a, b]), best);
            }
        }
    }
}
