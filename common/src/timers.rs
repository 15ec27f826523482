//! Finds the first of many timers.

use crate::time::Time;
use crate::tournament::{Rank, Tournament};

/// Timers, numbered from 0. Of several at one instant, the lowest-numbered comes first.
#[derive(Clone, Debug)]
pub struct Timers {
    tournament: Tournament,
    len: usize,
}

/// The order in which timers fire; [`Rank::MAX`] for one that is stopped.
fn rank(number: usize, at: Time) -> Rank {
    match at {
        Time::MAX => Rank::MAX,
        _ => Rank::from(at.as_ps()) << u64::BITS | number as Rank,
    }
}

fn instant(rank: Rank) -> Time {
    Time::from_ps((rank >> u64::BITS) as u64)
}

impl Timers {
    /// This many timers, all stopped.
    pub fn new(timers: usize) -> Self {
        Timers { tournament: Tournament::new(timers), len: timers }
    }

    /// Adds a timer, stopped.
    pub fn add(&mut self) {
        self.len += 1;
        if self.len > self.tournament.contenders() {
            let before = std::mem::replace(&mut self.tournament, Tournament::new(self.len));
            for number in 0..self.len - 1 {
                self.tournament.set(number, before.get(number));
            }
        }
    }

    /// The instant of a timer; [`Time::MAX`] if it is stopped.
    ///
    /// # Panics
    /// If there is no such timer.
    #[inline]
    pub fn at(&self, number: usize) -> Time {
        match self.first() {
            // The first one is in the nearest cache.
            Some((at, first)) if first == number => at,
            _ => instant(self.tournament.get(number)),
        }
    }

    /// The first timer and its instant.
    #[inline]
    pub fn first(&self) -> Option<(Time, usize)> {
        let least = self.tournament.least();
        let at = instant(least);
        (at < Time::MAX).then_some((at, least as u64 as usize))
    }

    /// Sets a timer, replacing an earlier setting; [`Time::MAX`] stops it.
    ///
    /// # Panics
    /// If there is no such timer.
    #[inline]
    pub fn set(&mut self, number: usize, at: Time) {
        if self.at(number) != at {
            self.change(number, at);
        }
    }

    /// Sets a timer, unless it comes first already.
    ///
    /// # Panics
    /// If there is no such timer.
    #[inline]
    pub fn bring_forward(&mut self, number: usize, at: Time) {
        if at < self.at(number) {
            self.change(number, at);
        }
    }

    fn change(&mut self, number: usize, at: Time) {
        self.tournament.set(number, rank(number, at));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Compares with a linear search: timers set, stopped, and added.
        #[test]
        fn the_first_is_the_minimum(
            timers in prop_oneof![0usize..3, 10usize..20, 100usize..200],
            steps in prop::collection::vec((0u8..8, 0usize..200, prop_oneof![0u64..4, 0u64..u64::MAX / 2]), 1..300),
        ) {
            let mut tree = Timers::new(timers);
            let mut list = vec![Time::MAX; timers];
            for (what, number, at) in steps {
                let (number, at) = match what {
                    0 => {
                        tree.add();
                        list.push(Time::MAX);
                        (list.len() - 1, Time::from_ps(at))
                    }
                    _ if list.is_empty() => continue,
                    1 => (number % list.len(), Time::MAX),
                    _ => (number % list.len(), Time::from_ps(at)),
                };
                match what {
                    2 => {
                        tree.bring_forward(number, at);
                        list[number] = list[number].min(at);
                    }
                    _ => {
                        tree.set(number, at);
                        list[number] = at;
                    }
                }
                let at = list[number];
                prop_assert_eq!(tree.at(number), at);
                let first = list.iter().enumerate().map(|(number, &at)| (at, number)).min();
                prop_assert_eq!(tree.first(), first.filter(|&(at, _)| at < Time::MAX));
            }
        }
    }
}
