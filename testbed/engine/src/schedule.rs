//! When each source of events is next due: a tree of minima over all sources.
//!
//! A world has a fixed set of sources (every switch's and every host's timer), and each knows its
//! own next instant. The tree holds one key a source, eight to a node, and above them the least of
//! each node; changing a key costs a node a level, and usually stops early. A node is a cache line,
//! so the first of 20,000 sources is found in five lines.

use narrows_common::Time;

/// Keys in a node.
const WIDTH: usize = 8;

#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Node([Time; WIDTH]);

impl Node {
    fn least(&self) -> Time {
        let [a, b, c, d, e, f, g, h] = self.0;
        a.min(b).min(c.min(d)).min(e.min(f).min(g.min(h)))
    }

    /// Where the least stands; of equal ones the first. Pairs, since branches would be guesses.
    fn place_of_least(&self) -> usize {
        let first = |a: usize, b: usize| if self.0[b] < self.0[a] { b } else { a };
        first(first(first(0, 1), first(2, 3)), first(first(4, 5), first(6, 7)))
    }
}

/// The next instant of every source. Of several due at once the lowest-numbered comes first.
#[derive(Debug)]
pub struct Schedule {
    /// The sources' keys at first, then for each node of the level before the least in it; the last
    /// level is one node.
    levels: Vec<Vec<Node>>,
}

impl Schedule {
    /// A schedule of `sources` sources, none of them due.
    pub fn new(sources: usize) -> Self {
        let mut levels = Vec::new();
        let mut nodes = sources.max(1);
        while nodes > 1 || levels.is_empty() {
            nodes = nodes.div_ceil(WIDTH);
            levels.push(vec![Node([Time::MAX; WIDTH]); nodes]);
        }
        Schedule { levels }
    }

    /// Says when `source` is next due; [`Time::MAX`] for never.
    pub fn set(&mut self, source: usize, at: Time) {
        let (mut place, mut key) = (source, at);
        for level in &mut self.levels {
            let node = &mut level[place / WIDTH];
            let known = &mut node.0[place % WIDTH];
            if *known == key {
                return;
            }
            *known = key;
            key = node.least();
            place /= WIDTH;
        }
    }

    /// The source that is due first, and when.
    pub fn next(&self) -> (Time, usize) {
        let (mut at, mut place) = (Time::MAX, 0);
        for level in self.levels.iter().rev() {
            let node = &level[place];
            let least = node.place_of_least();
            at = node.0[least];
            place = place * WIDTH + least;
        }
        (at, place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_is_the_minimum(sources in 1usize..600, changes in prop::collection::vec((0usize..600, 0u64..50), 1..300)) {
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
