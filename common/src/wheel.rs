//! Finds the first of many timers: an exact hierarchical timing wheel.
//!
//! Source: G. Varghese and A. Lauck, Hashed and Hierarchical Timing Wheels, IEEE/ACM Transactions
//! on Networking 5(6), 1997, scheme 7, with levels of 64 slots. A timer's level is the highest
//! digit of six bits in which its instant differs from the current one; its slot is that digit's
//! value. Opening the slot moves the timer down. So setting and stopping a timer costs the same for
//! any number of timers.
//!
//! The original wheel rounds instants to its slots. Here a slot knows its first timer, so timers
//! fire in the exact order of their instants and then their numbers. A timer joins the end of its
//! slot's list, next to the previously set timer, which is still in the caches. Up to 16 timers are
//! searched linearly, without slots.

use crate::time::Time;

/// Bits of an instant inside a slot of the lowest level: 2^18 ps are 0.26 us.
const SLOT_BITS: u32 = 18;
/// Bits of a digit: a level has as many slots as an integer has bits.
const DIGIT_BITS: u32 = u64::BITS.ilog2();
/// Slots of a level.
const DIGITS: usize = 1 << DIGIT_BITS;
/// Digits of an instant.
const LEVELS: usize = (u64::BITS - SLOT_BITS).div_ceil(DIGIT_BITS) as usize;
/// Up to this many timers are searched linearly.
const FEW: usize = 16;
/// No timer.
const NONE: u32 = u32::MAX;

/// A timer, and its neighbours in the list of its slot.
#[derive(Clone, Copy, Debug)]
struct Timer {
    /// [`Time::MAX`] if it is stopped and in no list.
    at: Time,
    before: u32,
    after: u32,
}

/// A timer's instant and number: the order in which timers fire.
type Rank = (Time, u32);

/// Later than any timer.
const NEVER: Rank = (Time::MAX, NONE);

/// Earlier than any timer: the first timer of a slot must be searched for when its turn comes.
const UNKNOWN: Rank = (Time::ZERO, NONE);

/// The timers of a slot.
#[derive(Clone, Copy, Debug)]
struct Slot {
    /// [`UNKNOWN`] once the first timer has left an unordered list, regardless of who joins.
    first: Rank,
    /// The ends of the list.
    front: u32,
    back: u32,
    /// Each timer fires before the one that joined after it, as when many are set to one instant.
    is_in_order: bool,
}

impl Slot {
    const EMPTY: Slot = Slot { first: NEVER, front: NONE, back: NONE, is_in_order: true };
}

/// Timers, numbered from 0. The fields that a few timers need come first.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Wheel {
    /// The first timer of all, cached.
    first: Rank,
    timers: Vec<Timer>,
    /// By level and digit; empty while there are few timers.
    slots: Vec<Slot>,
    /// The current slot of the lowest level; earlier instants belong to it too.
    reached: u64,
    /// One bit for each nonempty slot of a level.
    filled: [u64; LEVELS],
}

impl Wheel {
    /// This many timers, all stopped.
    pub fn new(timers: usize) -> Self {
        let slots = if timers > FEW { LEVELS * DIGITS } else { 0 };
        Wheel {
            timers: vec![Timer { at: Time::MAX, before: NONE, after: NONE }; timers],
            reached: 0,
            slots: vec![Slot::EMPTY; slots],
            filled: [0; LEVELS],
            first: NEVER,
        }
    }

    /// Adds a timer, stopped.
    pub fn add(&mut self) {
        self.timers.push(Timer { at: Time::MAX, before: NONE, after: NONE });
        if self.timers.len() == FEW + 1 {
            let mut spread = Wheel { reached: self.reached, ..Wheel::new(FEW + 1) };
            for (number, timer) in self.timers.iter().enumerate() {
                spread.set(number, timer.at);
            }
            *self = spread;
        }
    }

    /// The instant of a timer; [`Time::MAX`] if it is stopped.
    pub fn at(&self, number: usize) -> Time {
        let (at, first) = self.first;
        if number as u32 == first { at } else { self.timers[number].at }
    }

    /// The first timer and its instant; of several at one instant, the lowest-numbered.
    pub fn first(&self) -> Option<(Time, usize)> {
        let (at, first) = self.first;
        (first != NONE).then_some((at, first as usize))
    }

    /// Sets a timer, replacing an earlier setting; [`Time::MAX`] stops it.
    #[inline]
    pub fn set(&mut self, number: usize, at: Time) {
        if self.at(number) != at {
            self.change(number, at);
        }
    }

    /// Sets a timer to another instant than before.
    fn change(&mut self, number: usize, at: Time) {
        let (earliest, first) = self.first;
        let is_first = number as u32 == first;
        if self.slots.is_empty() {
            self.timers[number].at = at;
            if is_first && at > earliest {
                self.first = self.search();
            } else {
                self.first = self.first.min((at, number as u32));
            }
            return;
        }
        if self.timers[number].at < Time::MAX {
            self.unlink(number as u32);
        }
        self.timers[number].at = at;
        if at < Time::MAX {
            self.link(number as u32);
        }
        if !is_first {
            self.first = self.first.min((at, number as u32));
            return;
        }
        let level = self.filled.iter().position(|&digits| digits != 0);
        self.first = level.map_or(NEVER, |level| {
            self.first_of(level * DIGITS + self.filled[level].trailing_zeros() as usize)
        });
    }

    /// The first timer of a nonempty slot.
    fn first_of(&mut self, slot: usize) -> Rank {
        let slot = &mut self.slots[slot];
        if slot.first == UNKNOWN {
            slot.first = NEVER;
            let mut next = slot.front;
            while let Some(timer) = self.timers.get(next as usize) {
                slot.first = slot.first.min((timer.at, next));
                next = timer.after;
            }
        }
        slot.first
    }

    /// Advances to the first timer's instant. Setting another timer first is valid too, but makes
    /// the lists longer.
    pub fn reach(&mut self) {
        let Some((at, _)) = self.first() else { return };
        let slot = if self.slots.is_empty() { 0 } else { self.slot_of(at) };
        self.reached = self.slot_in_time(at);
        if slot < DIGITS {
            return;
        }
        let mut next = self.empty(slot).front;
        while next != NONE {
            let number = next;
            next = self.timers[number as usize].after;
            self.link(number);
        }
    }

    /// The first of a few timers.
    fn search(&self) -> Rank {
        let mut first = NEVER;
        for (number, timer) in self.timers.iter().enumerate() {
            if timer.at < first.0 {
                first = (timer.at, number as u32);
            }
        }
        first
    }

    fn slot_in_time(&self, at: Time) -> u64 {
        (at.as_ps() >> SLOT_BITS).max(self.reached)
    }

    /// The slot of a timer due at `at`.
    fn slot_of(&self, at: Time) -> usize {
        let slot = self.slot_in_time(at);
        let highest_bit = (slot ^ self.reached).checked_ilog2();
        let level = highest_bit.map_or(0, |bit| bit / DIGIT_BITS);
        let digit = slot >> (level * DIGIT_BITS) & (DIGITS as u64 - 1);
        level as usize * DIGITS + digit as usize
    }

    fn empty(&mut self, slot: usize) -> Slot {
        self.filled[slot / DIGITS] &= !(1 << (slot % DIGITS));
        core::mem::replace(&mut self.slots[slot], Slot::EMPTY)
    }

    /// Appends a timer to its slot's list.
    fn link(&mut self, number: u32) {
        let at = self.timers[number as usize].at;
        let index = self.slot_of(at);
        self.filled[index / DIGITS] |= 1 << (index % DIGITS);
        let slot = &mut self.slots[index];
        if slot.first != UNKNOWN {
            slot.first = slot.first.min((at, number));
        }
        let before = core::mem::replace(&mut slot.back, number);
        match self.timers.get_mut(before as usize) {
            Some(last) => {
                last.after = number;
                slot.is_in_order &= (last.at, before) < (at, number);
            }
            None => slot.front = number,
        }
        let timer = &mut self.timers[number as usize];
        (timer.before, timer.after) = (before, NONE);
    }

    /// Removes a timer from its slot's list.
    fn unlink(&mut self, number: u32) {
        let Timer { at, before, after } = self.timers[number as usize];
        let index = self.slot_of(at);
        let slot = &mut self.slots[index];
        match self.timers.get_mut(before as usize) {
            Some(timer) => timer.after = after,
            None => slot.front = after,
        }
        match self.timers.get_mut(after as usize) {
            Some(timer) => timer.before = before,
            None => slot.back = before,
        }
        if slot.front == NONE {
            self.empty(index);
        } else if slot.first.1 == number {
            let in_order = slot.is_in_order;
            slot.first = if in_order { (self.timers[after as usize].at, after) } else { UNKNOWN };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Compares with a linear search: timers set after, at and before the current instant,
        /// stopped, added, and fired.
        #[test]
        fn the_first_is_the_minimum(
            timers in prop_oneof![0usize..3, 10usize..20, 100usize..200],
            steps in prop::collection::vec((0u8..8, 0usize..200, prop_oneof![0u64..4, 0u64..1 << 24, 0u64..1 << 40, 0u64..u64::MAX / 2]), 1..300),
        ) {
            let mut wheel = Wheel::new(timers);
            let mut list = vec![Time::MAX; timers];
            let mut now = Time::ZERO;
            for (what, number, ahead) in steps {
                let first = list.iter().enumerate().map(|(number, &at)| (at, number)).min();
                let first = first.filter(|&(at, _)| at < Time::MAX);
                prop_assert_eq!(wheel.first(), first);
                let ahead = Time::from_ps(now.as_ps().saturating_add(ahead));
                let (number, at) = match (what, first) {
                    (0, _) => {
                        wheel.add();
                        list.push(Time::MAX);
                        (list.len() - 1, ahead)
                    }
                    (1, _) if !list.is_empty() => (number % list.len(), Time::MAX),
                    (2, _) if !list.is_empty() => (number % list.len(), Time::from_ps(now.as_ps() / 2)),
                    (3..6, Some((at, number))) => {
                        wheel.reach();
                        now = at.max(now);
                        (number, if what == 3 { Time::MAX } else { ahead })
                    }
                    _ if list.is_empty() => continue,
                    _ => (number % list.len(), ahead),
                };
                wheel.set(number, at);
                list[number] = at;
                prop_assert_eq!(wheel.at(number), at);
            }
        }
    }
}
