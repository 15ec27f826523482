//! When each source of events is next due: a tournament tree over all sources.
//!
//! A world has a fixed set of sources (every switch's and host's timer, every direction of every
//! link), and each knows its own next instant. The tree holds one key a source and its root is
//! the earliest; changing a key costs one comparison a level, and usually stops early. Compared
//! with a heap of events it stays as small as the world, however many packets are in flight.

use narrows_common::Time;

/// The next instant of every source. Of several due at once the lowest-numbered comes first.
#[derive(Debug)]
pub struct Schedule {
    due: Vec<Time>,
    /// A complete binary tree in level order: node `n` has the children `2n` and `2n + 1`, the
    /// leaves are the sources, and each node holds the source that is due first below it.
    winner: Vec<u32>,
    leaves: usize,
}

impl Schedule {
    /// A schedule of `sources` sources, none of them due.
    pub fn new(sources: usize) -> Self {
        let leaves = sources.next_power_of_two().max(2);
        let mut winner = vec![0; 2 * leaves];
        for leaf in 0..leaves {
            winner[leaves + leaf] = leaf as u32;
        }
        for node in (1..leaves).rev() {
            winner[node] = winner[2 * node];
        }
        Schedule { due: vec![Time::MAX; leaves], winner, leaves }
    }

    /// Says when `source` is next due; [`Time::MAX`] for never.
    pub fn set(&mut self, source: usize, at: Time) {
        if self.due[source] == at {
            return;
        }
        self.due[source] = at;
        let mut node = (self.leaves + source) / 2;
        while node >= 1 {
            let (left, right) = (self.winner[2 * node], self.winner[2 * node + 1]);
            let first =
                if self.due[left as usize] <= self.due[right as usize] { left } else { right };
            // A subtree won by another source before and after cannot change what is above it.
            if self.winner[node] == first && first as usize != source {
                return;
            }
            self.winner[node] = first;
            node /= 2;
        }
    }

    /// The source that is due first, and when.
    pub fn next(&self) -> (Time, usize) {
        let source = self.winner[1] as usize;
        (self.due[source], source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_root_is_the_minimum(sources in 1usize..40, changes in prop::collection::vec((0usize..40, 0u64..50), 1..300)) {
            let mut schedule = Schedule::new(sources);
            let mut naive = vec![Time::MAX; sources];
            for (source, at) in changes {
                let (source, at) = (source % sources, if at == 49 { Time::MAX } else { Time::from_ps(at) });
                schedule.set(source, at);
                naive[source] = at;
                let expected = naive.iter().enumerate().map(|(source, &at)| (at, source)).min().unwrap();
                prop_assert_eq!(schedule.next().0, expected.0);
                if expected.0 < Time::MAX {
                    prop_assert_eq!(schedule.next().1, expected.1);
                }
            }
        }
    }
}
