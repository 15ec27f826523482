//! Packets under way on links, all of them together, in the order of their arrival.
//!
//! Whoever sends a packet has already worked out when it arrives: the end of its transmission plus
//! the propagation delay. A *pipe* is one direction of a link; of packets that arrive at one instant
//! the lowest-numbered pipe's comes first, and of one pipe's that which was sent first.
//!
//! A radix heap (Ahuja, Mehlhorn, Orlin and Tarjan: Faster Algorithms for the Shortest Path
//! Problem, J. ACM 37(2), 1990): since time never goes back, a packet need not be sorted among the
//! others before its turn is near. It waits in the bucket of the highest bit in which its instant
//! differs from the one reached, and moves to a lower bucket when that is opened. What a packet
//! costs depends on how far ahead it is sent, not on how many links there are, and what it
//! touches was touched by the packet before.

use std::cmp::Reverse;

use narrows_common::{Packet, Time};

/// One for each bit of an instant, and one for the instant that has been reached.
const BUCKETS: usize = 65;

/// A packet to come.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    at: Time,
    pipe: u32,
    /// Where in `packets` it is.
    packet: u32,
}

/// Packets under way.
#[derive(Debug)]
pub struct UnderWay {
    /// The latest instant at which a packet was taken out; nothing is sent that arrives before.
    reached: Time,
    /// In the first what arrives at the instant reached, by falling pipe; in the others what
    /// differs from it in no higher a bit than theirs, in the order of sending.
    buckets: [Vec<Arrival>; BUCKETS],
    /// The earliest arrival in each bucket.
    earliest: [Time; BUCKETS],
    /// A bit for each bucket with something in it.
    filled: u128,
    packets: Vec<Packet>,
    free: Vec<u32>,
}

impl Default for UnderWay {
    /// Nothing is under way at the beginning of a run.
    fn default() -> Self {
        UnderWay {
            reached: Time::ZERO,
            buckets: [const { Vec::new() }; BUCKETS],
            earliest: [Time::MAX; BUCKETS],
            filled: 0,
            packets: Vec::new(),
            free: Vec::new(),
        }
    }
}

impl UnderWay {
    /// Sends a packet that arrives `at` the far end of a pipe.
    pub fn send(&mut self, pipe: usize, at: Time, packet: Packet) {
        debug_assert!(self.reached <= at, "{at} is past");
        let place = self.free.pop().unwrap_or_else(|| {
            self.packets.push(Packet::default());
            self.packets.len() as u32 - 1
        });
        self.packets[place as usize] = packet;
        self.put(Arrival { at, pipe: pipe as u32, packet: place });
    }

    /// When the next packet arrives; [`Time::MAX`] when none is under way.
    pub fn poll_timeout(&self) -> Time {
        match self.filled {
            0 => Time::MAX,
            filled => self.earliest[filled.trailing_zeros() as usize],
        }
    }

    /// The packet that arrives first, if that is not after `now`: when, at the end of which pipe.
    pub fn poll_receive(&mut self, now: Time) -> Option<(Time, usize, Packet)> {
        if self.poll_timeout() > now {
            return None;
        }
        let bucket = self.filled.trailing_zeros() as usize;
        if bucket > 0 {
            self.open(bucket);
        }
        let Arrival { at, pipe, packet } = self.buckets[0].pop()?;
        if self.buckets[0].is_empty() {
            self.filled &= !1;
            self.earliest[0] = Time::MAX;
        }
        self.free.push(packet);
        Some((at, pipe as usize, std::mem::take(&mut self.packets[packet as usize])))
    }

    /// Goes on to the earliest arrival of a bucket, the first that has any.
    fn open(&mut self, bucket: usize) {
        self.reached = self.earliest[bucket];
        self.earliest[bucket] = Time::MAX;
        self.filled &= !(1 << bucket);
        let mut arrivals = std::mem::take(&mut self.buckets[bucket]);
        for arrival in arrivals.drain(..) {
            self.put(arrival);
        }
        // Its memory serves again.
        self.buckets[bucket] = arrivals;
    }

    fn put(&mut self, arrival: Arrival) {
        let differs = arrival.at.as_ps() ^ self.reached.as_ps();
        let bucket = (u64::BITS - differs.leading_zeros()) as usize;
        let arrivals = &mut self.buckets[bucket];
        if bucket == 0 {
            let place =
                arrivals.partition_point(|other| Reverse(other.pipe) < Reverse(arrival.pipe));
            arrivals.insert(place, arrival);
        } else {
            arrivals.push(arrival);
        }
        self.earliest[bucket] = self.earliest[bucket].min(arrival.at);
        self.filled |= 1 << bucket;
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
            steps in prop::collection::vec((any::<bool>(), 0usize..5, prop_oneof![0u64..4, 0u64..1 << 40]), 1..300),
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
                        let packet = Packet { data: vec![], zeros: number };
                        prop_assert_eq!(under_way.poll_receive(at), Some((at, pipe, packet)));
                    }
                } else {
                    let at = Time::from_ps(now.as_ps() + ahead);
                    under_way.send(pipe, at, Packet { data: vec![], zeros: number as u32 });
                    list.push((at, pipe, number as u32));
                }
            }
        }
    }
}
