//! Ternary match by tuple space search (Srinivasan, Suri and Varghese, SIGCOMM 1999): one hash
//! table per mask in use, searched from the highest rank down.

use super::action_entries::MISS;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::collections::hash_map::Entry;

/// An entry's position in the order: higher rank first, then the older entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    rank: i32,
    sequence: u64,
    entry: u32,
}

impl Candidate {
    fn beats(&self, other: &Candidate) -> bool {
        self.rank > other.rank || (self.rank == other.rank && self.sequence < other.sequence)
    }
}

/// A key: two words in place, or any number of words on the heap.
pub(super) trait Key: std::hash::Hash + Eq + Clone + std::fmt::Debug {
    /// The type of the look-up key.
    type Words: ?Sized;
    fn of(words: &[u64]) -> Self;
    /// The entries of `words & mask`.
    fn find<'a>(words: &Self::Words, mask: &Self, map: &'a Entries<Self>) -> Option<&'a Same>;
}

/// Entries by their masked key.
type Entries<K> = FxHashMap<K, Same>;

/// Entries with the same masked key.
#[derive(Clone, Debug)]
pub(super) struct Same {
    best: Candidate,
    /// The other candidates, in order.
    others: Vec<Candidate>,
}

impl Same {
    fn insert(&mut self, mut candidate: Candidate) {
        if candidate.beats(&self.best) {
            core::mem::swap(&mut candidate, &mut self.best);
        }
        let first_beaten = self.others.iter().position(|other| candidate.beats(other));
        self.others.insert(first_beaten.unwrap_or(self.others.len()), candidate);
    }

    /// False if no entry remains.
    fn remove(&mut self, entry: u32) -> bool {
        self.others.retain(|candidate| candidate.entry != entry);
        if self.best.entry != entry {
            return true;
        }
        let left = !self.others.is_empty();
        if left {
            self.best = self.others.remove(0);
        }
        left
    }
}

impl Key for [u64; 2] {
    type Words = [u64; 2];

    fn of(words: &[u64]) -> Self {
        [words[0], words.get(1).copied().unwrap_or(0)]
    }

    #[inline]
    fn find<'a>(words: &[u64; 2], mask: &Self, map: &'a Entries<Self>) -> Option<&'a Same> {
        map.get(&[words[0] & mask[0], words[1] & mask[1]])
    }
}

impl Key for Box<[u64]> {
    type Words = [u64];

    fn of(words: &[u64]) -> Self {
        words.into()
    }

    fn find<'a>(words: &[u64], mask: &Self, map: &'a Entries<Self>) -> Option<&'a Same> {
        let masked: Self = words.iter().zip(mask).map(|(word, mask)| word & mask).collect();
        map.get(&masked)
    }
}

#[derive(Clone, Debug)]
struct Group<K> {
    mask: K,
    /// The number of entries of each rank.
    ranks: BTreeMap<i32, u32>,
    highest: i32,
    map: Entries<K>,
}

#[derive(Clone, Debug)]
pub(super) struct TupleSpace<K> {
    groups: Vec<Group<K>>,
}

impl<K> Default for TupleSpace<K> {
    fn default() -> Self {
        TupleSpace { groups: vec![] }
    }
}

impl<K: Key> TupleSpace<K> {
    #[inline]
    pub(super) fn find(&self, key: &K::Words) -> u32 {
        let mut best: Option<&Candidate> = None;
        for group in &self.groups {
            if best.is_some_and(|best| best.rank > group.highest) {
                break;
            }
            if let Some(same) = K::find(key, &group.mask, &group.map)
                && best.is_none_or(|best| same.best.beats(best))
            {
                best = Some(&same.best);
            }
        }
        best.map_or(MISS, |best| best.entry)
    }

    pub(super) fn insert(
        &mut self,
        value: &[u64],
        mask: &[u64],
        rank: i32,
        sequence: u64,
        entry: u32,
    ) {
        let mask = K::of(mask);
        let known = self.groups.iter().position(|group| group.mask == mask);
        let at = known.unwrap_or_else(|| {
            self.groups.push(Group {
                mask,
                ranks: BTreeMap::new(),
                highest: i32::MIN,
                map: FxHashMap::default(),
            });
            self.groups.len() - 1
        });
        let group = &mut self.groups[at];
        *group.ranks.entry(rank).or_insert(0) += 1;
        let candidate = Candidate { rank, sequence, entry };
        match group.map.entry(K::of(value)) {
            Entry::Vacant(vacant) => {
                vacant.insert(Same { best: candidate, others: vec![] });
            }
            Entry::Occupied(mut same) => same.get_mut().insert(candidate),
        }
        if rank > group.highest || known.is_none() {
            group.highest = rank;
            self.order();
        }
    }

    pub(super) fn remove(&mut self, value: &[u64], mask: &[u64], rank: i32, entry: u32) {
        let mask = K::of(mask);
        let Some(at) = self.groups.iter().position(|group| group.mask == mask) else { return };
        let group = &mut self.groups[at];
        let value = K::of(value);
        if group.map.get_mut(&value).is_some_and(|same| !same.remove(entry)) {
            group.map.remove(&value);
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
        /// Compares with a linear search of a list.
        #[test]
        fn finds_what_a_list_finds(
            steps in prop::collection::vec((0u64..16, 0u64..16, 0u64..4, 0u64..4, 0i32..4, 0u8..4), 1..60),
            keys in prop::collection::vec((0u64..16, 0u64..4), 30),
        ) {
            let mut tuples = TupleSpace::<[u64; 2]>::default();
            let mut wide = TupleSpace::<Box<[u64]>>::default();
            let mut list: Vec<([u64; 2], [u64; 2], i32, u32)> = vec![];
            for (i, &(value, mask, value2, mask2, rank, action)) in steps.iter().enumerate() {
                if action == 0 && !list.is_empty() {
                    let (value, mask, rank, entry) = list.remove(value as usize % list.len());
                    tuples.remove(&value, &mask, rank, entry);
                    wide.remove(&value, &mask, rank, entry);
                } else {
                    let (value, mask) = ([value & mask, value2 & mask2], [mask, mask2]);
                    let entry = i as u32 + 1;
                    list.push((value, mask, rank, entry));
                    tuples.insert(&value, &mask, rank, i as u64, entry);
                    wide.insert(&value, &mask, rank, i as u64, entry);
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
                let best = best.map_or(MISS, |(_, entry)| entry);
                prop_assert_eq!(tuples.find(&[a, b]), best);
                prop_assert_eq!(wide.find(&[a, b]), best);
            }
        }
    }
}
