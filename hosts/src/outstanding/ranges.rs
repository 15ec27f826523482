//! A sorted set of disjoint ranges of stream positions, with the sum of their lengths.
//!
//! Stored in a ring, not a tree: ranges are added at the top and removed at the bottom, a look-up
//! is a binary search, and a ring that has grown allocates nothing.

use narrows_common::prefetch::prefetch;
use std::collections::VecDeque;

/// Disjoint, non-adjacent ranges `[start, end)` in ascending order.
#[derive(Clone, Debug, Default)]
pub struct RangeSet {
    ranges: VecDeque<(u64, u64)>,
    total_bytes: u64,
}

impl RangeSet {
    /// The number of ranges.
    pub fn len(&self) -> usize {
        self.ranges.len()
    }

    /// True if there are no ranges.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The bytes in all ranges.
    pub fn total_bytes(&self) -> u64 {
        self.total_bytes
    }

    /// The lowest range.
    pub fn first(&self) -> Option<(u64, u64)> {
        self.ranges.front().copied()
    }

    /// The highest range.
    pub fn last(&self) -> Option<(u64, u64)> {
        self.ranges.back().copied()
    }

    /// The ranges from the highest down.
    pub fn descending(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.ranges.iter().rev().copied()
    }

    /// Asks for the memory of the highest range.
    pub fn prefetch(&self) {
        self.ranges.back().into_iter().for_each(prefetch);
    }

    /// The index of the first range that ends at or above `position`.
    fn index_of(&self, position: u64) -> usize {
        match self.ranges.back() {
            // Nearly all arrivals belong at the top.
            Some(&(start, end)) if position >= start => {
                self.ranges.len() - (position <= end) as usize
            }
            _ => self.ranges.partition_point(|&(_, end)| end < position),
        }
    }

    /// The range that contains `position`.
    pub fn containing(&self, position: u64) -> Option<(u64, u64)> {
        // Ranges are not adjacent, so `position + 1` finds the one that ends above it.
        let range = *self.ranges.get(self.index_of(position + 1))?;
        (range.0 <= position).then_some(range)
    }

    /// The first range that starts above `position`.
    pub fn next_above(&self, position: u64) -> Option<(u64, u64)> {
        let index = self.index_of(position + 1);
        let range = *self.ranges.get(index)?;
        if range.0 > position { Some(range) } else { self.ranges.get(index + 1).copied() }
    }

    /// Adds `[start, end)`, and calls `newly` with every part of it that is new.
    pub fn insert(&mut self, start: u64, end: u64, mut newly: impl FnMut(u64, u64)) {
        if start >= end {
            return;
        }
        let index = self.index_of(start);
        let (mut merged, mut covered_to, mut swallowed) = ((start, end), start, 0);
        while let Some(&(old_start, old_end)) = self.ranges.get(index + swallowed) {
            if old_start > end {
                break;
            }
            if covered_to < old_start {
                self.total_bytes += old_start - covered_to;
                newly(covered_to, old_start);
            }
            merged = (merged.0.min(old_start), merged.1.max(old_end));
            covered_to = covered_to.max(old_end);
            swallowed += 1;
        }
        if covered_to < end {
            self.total_bytes += end - covered_to;
            newly(covered_to, end);
        }
        match swallowed {
            0 => self.ranges.insert(index, merged),
            _ => {
                self.ranges[index] = merged;
                if swallowed > 1 {
                    self.ranges.drain(index + 1..index + swallowed);
                }
            }
        }
    }

    /// Removes everything below `position`; returns the number of bytes removed.
    pub fn remove_below(&mut self, position: u64) -> u64 {
        let before = self.total_bytes;
        while let Some(range) = self.ranges.front_mut() {
            if range.1 > position {
                if range.0 < position {
                    self.total_bytes -= position - range.0;
                    range.0 = position;
                }
                break;
            }
            self.total_bytes -= range.1 - range.0;
            self.ranges.pop_front();
        }
        before - self.total_bytes
    }

    /// Bytes of the ranges within `[start, end)`; the cost is the number of ranges between.
    pub fn bytes_between(&self, start: u64, end: u64) -> u64 {
        let mut bytes = 0;
        let mut index = self.index_of(start);
        while let Some(&(from, to)) = self.ranges.get(index) {
            if from >= end {
                break;
            }
            bytes += to.min(end).saturating_sub(from.max(start));
            index += 1;
        }
        bytes
    }

    /// Removes everything.
    pub fn clear(&mut self) {
        self.ranges.clear();
        self.total_bytes = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[derive(Clone, Debug)]
    enum Op {
        Insert(u64, u64),
        RemoveBelow(u64),
    }

    fn op() -> impl Strategy<Value = Op> {
        prop_oneof![
            9 => (0u64..200, 0u64..30).prop_map(|(start, len)| Op::Insert(start, start + len)),
            1 => (0u64..200).prop_map(Op::RemoveBelow),
        ]
    }

    proptest! {
        /// Compares the set of ranges with a set of single positions.
        #[test]
        fn agrees_with_a_set_of_positions(ops in prop::collection::vec(op(), 1..60)) {
            let (mut ranges, mut positions) = (RangeSet::default(), BTreeSet::new());
            for op in ops {
                match op {
                    Op::Insert(start, end) => {
                        let mut fresh = BTreeSet::new();
                        ranges.insert(start, end, |from, to| fresh.extend(from..to));
                        let expected: BTreeSet<u64> = (start..end).filter(|p| !positions.contains(p)).collect();
                        prop_assert_eq!(fresh, expected);
                        positions.extend(start..end);
                    }
                    Op::RemoveBelow(position) => {
                        let kept = positions.split_off(&position);
                        prop_assert_eq!(ranges.remove_below(position), positions.len() as u64);
                        positions = kept;
                    }
                }
                prop_assert_eq!(ranges.total_bytes(), positions.len() as u64);
                for p in 0..240u64 {
                    prop_assert_eq!(ranges.containing(p).is_some(), positions.contains(&p), "{}", p);
                }
                let above = |p: u64| (p + 1..300).find(|q| positions.contains(q) && !positions.contains(&(q - 1)));
                for p in [0, 50, 100, 199] {
                    prop_assert_eq!(ranges.next_above(p).map(|r| r.0), above(p));
                }
                prop_assert_eq!(ranges.bytes_between(40, 120), positions.range(40..120).count() as u64);
            }
        }
    }
}
