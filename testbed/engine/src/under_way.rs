//! Packets under way on links, all of them together, in the order of their arrival.
//!
//! Whoever sends a packet has already worked out when it arrives: the end of its transmission plus
//! the propagation delay. A *pipe* is one direction of a link; of packets that arrive at one instant
//! the lowest-numbered pipe's comes first, and of one pipe's that which was sent first.
//!
//! A radix heap (Ahuja, Mehlhorn, Orlin and Tarjan: Faster Algorithms for the Shortest Path
//! Problem, J. ACM 37(2), 1990) with digits of seven bits: since time never goes back, a packet need
//! not be sorted among the others before its turn is near. It waits in a bucket by the highest digit
//! in which its instant differs from the one reached, and by that digit, and moves to a lower one
//! when that is opened: twice on a path of 50 ms. Those of the last few microseconds are sorted. What
//! a packet costs depends on how far ahead it is sent, not on how many links there are, and what it
//! touches was touched by the packet before.

use narrows_common::{Packet, Time};

/// Bits of an instant within which packets are sorted: 2^23 ps are 8.4 us.
const SORTED_BITS: u32 = 23;
/// Bits of a digit: as many buckets as an integer has bits.
const DIGIT_BITS: u32 = u128::BITS.ilog2();
/// Buckets of a level.
const DIGITS: usize = 1 << DIGIT_BITS;
/// Digits of an instant.
const LEVELS: usize = (u64::BITS - SORTED_BITS).div_ceil(DIGIT_BITS) as usize;

/// A packet to come.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    at: Time,
    pipe: u32,
    /// Where in `packets` it is.
    packet: u32,
}

impl Arrival {
    /// The order in which packets arrive.
    fn rank(&self) -> (Time, u32) {
        (self.at, self.pipe)
    }
}

/// Arrivals that differ from the instant reached in one digit and none above.
#[derive(Clone, Debug)]
struct Bucket {
    /// In the order of sending.
    arrivals: Vec<Arrival>,
    earliest: Time,
}

/// Packets under way.
#[derive(Debug)]
pub struct UnderWay {
    /// The instant reached, but for its sorted bits; nothing is sent that arrives before.
    reached: u64,
    /// When the next packet arrives.
    due: Time,
    /// What arrives within the sorted bits of the instant reached, in order.
    sorted: Vec<Arrival>,
    /// How many of these have been received.
    received: usize,
    /// By level and digit.
    buckets: Vec<Bucket>,
    /// A bit for each bucket of a level with something in it.
    filled: [u128; LEVELS],
    /// The memory of emptied buckets.
    spare: Vec<Vec<Arrival>>,
    packets: Vec<Packet>,
    free: Vec<u32>,
}

impl Default for UnderWay {
    /// Nothing is under way at the beginning of a run.
    fn default() -> Self {
        let empty = Bucket { arrivals: Vec::new(), earliest: Time::MAX };
        UnderWay {
            reached: 0,
            due: Time::MAX,
            sorted: Vec::new(),
            received: 0,
            buckets: vec![empty; LEVELS * DIGITS],
            filled: [0; LEVELS],
            spare: Vec::new(),
            packets: Vec::new(),
            free: Vec::new(),
        }
    }
}

impl UnderWay {
    /// Sends a packet that arrives `at` the far end of a pipe.
    pub fn send(&mut self, pipe: usize, at: Time, packet: Packet) {
        let place = self.free.pop().unwrap_or_else(|| {
            self.packets.push(Packet::default());
            self.packets.len() as u32 - 1
        });
        self.packets[place as usize] = packet;
        let arrival = Arrival { at, pipe: pipe as u32, packet: place };
        self.due = self.due.min(at);
        if let Some(bucket) = self.bucket_of(at) {
            self.put(bucket, arrival);
        } else {
            let not_later = |other: &Arrival| other.rank() <= arrival.rank();
            let place = self.sorted[self.received..].partition_point(not_later);
            self.sorted.insert(self.received + place, arrival);
        }
    }

    /// When the next packet arrives; [`Time::MAX`] when none is under way.
    pub fn poll_timeout(&self) -> Time {
        self.due
    }

    /// The packet that arrives first, if that is not after `now`: when, at the end of which pipe.
    pub fn poll_receive(&mut self, now: Time) -> Option<(Time, usize, Packet)> {
        if self.due > now {
            return None;
        }
        if self.received == self.sorted.len() {
            self.open(self.first_bucket()?);
        }
        let &Arrival { at, pipe, packet } = self.sorted.get(self.received)?;
        self.received += 1;
        self.due = match self.sorted.get(self.received) {
            Some(next) => next.at,
            None => self.first_bucket().map_or(Time::MAX, |bucket| self.buckets[bucket].earliest),
        };
        self.free.push(packet);
        Some((at, pipe as usize, std::mem::take(&mut self.packets[packet as usize])))
    }

    /// Where an instant's arrivals wait; `None` where they are sorted.
    fn bucket_of(&self, at: Time) -> Option<usize> {
        let slot = at.as_ps() >> SORTED_BITS;
        debug_assert!(self.reached <= slot, "{at} is past");
        let highest_bit = (slot ^ self.reached).checked_ilog2()?;
        let level = highest_bit / DIGIT_BITS;
        let digit = slot >> (level * DIGIT_BITS) & (DIGITS as u64 - 1);
        Some(level as usize * DIGITS + digit as usize)
    }

    /// The bucket with the earliest arrivals of those that are not sorted.
    fn first_bucket(&self) -> Option<usize> {
        let level = self.filled.iter().position(|&digits| digits != 0)?;
        Some(level * DIGITS + self.filled[level].trailing_zeros() as usize)
    }

    fn put(&mut self, bucket: usize, arrival: Arrival) {
        let Bucket { arrivals, earliest } = &mut self.buckets[bucket];
        if arrivals.capacity() == 0 {
            *arrivals = self.spare.pop().unwrap_or_default();
        }
        arrivals.push(arrival);
        *earliest = arrival.at.min(*earliest);
        self.filled[bucket / DIGITS] |= 1 << (bucket % DIGITS);
    }

    /// Goes on to the earliest arrival of a bucket, the first that has any; none is sorted.
    fn open(&mut self, bucket: usize) {
        self.sorted.clear();
        self.received = 0;
        let found = &mut self.buckets[bucket];
        self.reached = std::mem::replace(&mut found.earliest, Time::MAX).as_ps() >> SORTED_BITS;
        self.filled[bucket / DIGITS] &= !(1 << (bucket % DIGITS));
        if bucket < DIGITS {
            // They differ in their sorted bits alone.
            std::mem::swap(&mut self.sorted, &mut found.arrivals);
        } else {
            let mut arrivals = std::mem::take(&mut found.arrivals);
            for arrival in arrivals.drain(..) {
                match self.bucket_of(arrival.at) {
                    Some(lower) => self.put(lower, arrival),
                    None => self.sorted.push(arrival),
                }
            }
            self.spare.push(arrivals);
        }
        // The first sent of equal rank stays the first.
        self.sorted.sort_by_key(Arrival::rank);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a sorted list of instant, pipe and number.
        #[test]
        fn packets_arrive_in_order(
            steps in prop::collection::vec((any::<bool>(), 0usize..5, prop_oneof![0u64..4, 0u64..1 << 24, 0u64..1 << 40]), 1..300),
        ) {
            let mut list = Vec::<(Time, usize, u32)>::new();
            let (mut under_way, mut now) = (UnderWay::default(), Time::ZERO);
            for (number, (receives, pipe, ahead)) in steps.into_iter().enumerate() {
                if receives {
                    list.sort_unstable();
                    let due = list.first().map_or(Time::MAX, |&(at, ..)| at);
                    prop_assert_eq!(under_way.poll_timeout(), due);
                    if due > now {
                        prop_assert_eq!(under_way.poll_receive(now), None, "not before its time");
                    }
                    if !list.is_empty() {
                        let (at, pipe, number) = list.remove(0);
                        now = at;
                        let packet = Packet { zeros: number, ..Packet::default() };
                        prop_assert_eq!(under_way.poll_receive(at), Some((at, pipe, packet)));
                    }
                } else {
                    let at = Time::from_ps(now.as_ps() + ahead);
                    under_way.send(pipe, at, Packet { zeros: number as u32, ..Packet::default() });
                    list.push((at, pipe, number as u32));
                }
            }
        }
    }
}
