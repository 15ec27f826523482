//! Entries by a hash of what they ask. The entries hold the rest, so that a million of them
//! take 16 bytes each here.

use rustc_hash::FxHashMap;

#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    first: FxHashMap<u64, u32>,
    /// Entries whose hash another one has: hardly ever any.
    others: Vec<(u64, u32)>,
}

impl Index {
    pub(super) fn len(&self) -> usize {
        self.first.len() + self.others.len()
    }

    /// The entry of this hash that is `meant`.
    pub(super) fn find(&self, hash: u64, meant: impl Fn(u32) -> bool) -> Option<u32> {
        let first = self.first.get(&hash).copied().filter(|&entry| meant(entry));
        first.or_else(|| {
            let mut same = self.others.iter().filter(|(other, _)| *other == hash);
            same.find(|(_, entry)| meant(*entry)).map(|&(_, entry)| entry)
        })
    }

    pub(super) fn insert(&mut self, hash: u64, entry: u32) {
        if let Some(before) = self.first.insert(hash, entry) {
            self.others.push((hash, before));
        }
    }

    pub(super) fn remove(&mut self, hash: u64, entry: u32) {
        if self.first.get(&hash) != Some(&entry) {
            self.others.retain(|&other| other != (hash, entry));
            return;
        }
        match self.others.iter().position(|(other, _)| *other == hash) {
            Some(at) => drop(self.first.insert(hash, self.others.swap_remove(at).1)),
            None => drop(self.first.remove(&hash)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_entries_of_one_hash_are_told_apart() {
        let mut index = Index::default();
        [1, 2, 3].into_iter().for_each(|entry| index.insert(7, entry));
        for removed in [2, 3, 1] {
            assert_eq!(index.find(7, |entry| entry == removed), Some(removed));
            let before = index.len();
            index.remove(7, removed);
            assert_eq!(index.find(7, |entry| entry == removed), None);
            assert_eq!(index.len(), before - 1);
        }
    }
}
