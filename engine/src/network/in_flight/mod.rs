//! All packets in flight on links, in the order of their arrival.
//!
//! The sender of a packet has already computed its arrival: the end of its transmission plus the
//! propagation delay. A *direction* is one direction of a link. Of packets that arrive at the same
//! instant, that of the lowest-numbered direction comes first; within one direction, the one sent
//! first. Both structures give the same order; which one is faster depends on the number of
//! directions.

mod core_cache;
mod fifo_merge;
mod radix_heap;
mod upcoming;

use fifo_merge::{FifoMerge, MAX_DIRECTIONS};
use narrows_common::{Packet, Time};
use radix_heap::RadixHeap;
pub(super) use upcoming::PARSED_BYTES;

/// A direction with its share of the host behind it takes so much of a core's second-level cache.
/// While all fit, to ask for their memory ahead costs more than it saves. Measured with 2 MiB; the
/// results do not depend on it.
const CACHED_BYTES: usize = 1024;

/// Packets in flight.
#[derive(Debug)]
pub enum InFlight {
    /// In few directions.
    Few(FifoMerge),
    /// In many directions.
    Many(Box<RadixHeap>),
}

impl InFlight {
    /// Nothing is in flight in so many directions.
    pub fn new(directions: usize) -> Self {
        Self::with_cache(directions, core_cache::second_level_bytes())
    }

    fn with_cache(directions: usize, cache_bytes: usize) -> Self {
        match directions {
            ..=MAX_DIRECTIONS => InFlight::Few(FifoMerge::new(directions)),
            _ => {
                let looks_ahead = directions * CACHED_BYTES > cache_bytes;
                InFlight::Many(Box::new(RadixHeap::new(looks_ahead)))
            }
        }
    }

    /// Sends a packet that arrives at the far end of a direction `at` this instant.
    #[inline]
    pub fn send(&mut self, direction: usize, at: Time, packet: Box<Packet>) {
        match self {
            InFlight::Few(merge) => merge.send(direction, at, packet),
            InFlight::Many(heap) => heap.send(direction, at, packet),
        }
    }

    /// When the next packet arrives; [`Time::MAX`] when none is in flight.
    #[inline]
    pub fn poll_timeout(&self) -> Time {
        match self {
            InFlight::Few(merge) => merge.poll_timeout(),
            InFlight::Many(heap) => heap.poll_timeout(),
        }
    }

    /// The packet that arrives first, unless that is after `now`: its time, its direction and
    /// itself.
    #[inline]
    pub fn poll_receive(&mut self, now: Time) -> Option<(Time, usize, Box<Packet>)> {
        if self.poll_timeout() > now {
            return None;
        }
        match self {
            InFlight::Few(merge) => merge.poll_receive(),
            InFlight::Many(heap) => heap.poll_receive(),
        }
    }

    /// The direction of the packet that [`InFlight::poll_receive`] returns next.
    pub fn next_direction(&mut self) -> Option<usize> {
        match self {
            InFlight::Few(merge) => merge.next_direction(),
            InFlight::Many(heap) => heap.next_direction(),
        }
    }

    /// True if [`InFlight::upcoming`] knows the packets that arrive soon.
    #[inline]
    pub fn looks_ahead(&self) -> bool {
        matches!(self, InFlight::Many(heap) if heap.looks_ahead())
    }

    /// The direction of a packet that arrives soon, so many places ahead; it may be another one.
    /// `None` unless it looks ahead.
    #[inline]
    pub fn upcoming(&self, ahead: usize) -> Option<usize> {
        match self {
            InFlight::Few(_) => None,
            InFlight::Many(heap) => heap.upcoming(ahead),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A number of directions for each structure.
    fn directions() -> impl Strategy<Value = usize> {
        prop_oneof![1..=MAX_DIRECTIONS, Just(MAX_DIRECTIONS + 1)]
    }

    proptest! {
        /// Compares with a list sorted by instant, direction and sequence number.
        #[test]
        fn packets_arrive_in_order(
            directions in directions(),
            looks_ahead in any::<bool>(),
            steps in prop::collection::vec((any::<bool>(), 0usize..6, prop_oneof![0u64..4, 0u64..1 << 24, 0u64..1 << 40]), 1..300),
        ) {
            let mut list = Vec::<(Time, usize, u32)>::new();
            let cache_bytes = if looks_ahead { 0 } else { usize::MAX };
            let mut in_flight = InFlight::with_cache(directions, cache_bytes);
            let mut now = Time::ZERO;
            prop_assert_eq!(in_flight.looks_ahead(), looks_ahead && directions > MAX_DIRECTIONS);
            for (number, (receives, direction, ahead)) in steps.into_iter().enumerate() {
                if receives {
                    list.sort_unstable();
                    let due = list.first().map_or(Time::MAX, |&(at, ..)| at);
                    prop_assert_eq!(in_flight.poll_timeout(), due);
                    prop_assert_eq!(in_flight.next_direction(), list.first().map(|first| first.1));
                    if due > now {
                        prop_assert_eq!(in_flight.poll_receive(now), None, "not before its time");
                    }
                    if !list.is_empty() {
                        let (at, direction, number) = list.remove(0);
                        now = at;
                        let packet = Box::new(Packet { zeros: number, ..Packet::default() });
                        prop_assert_eq!(in_flight.poll_receive(at), Some((at, direction, packet)));
                    }
                } else {
                    let at = Time::from_ps(now.as_ps() + ahead);
                    // The last directions: each match of the tree counts.
                    let direction = directions - 1 - direction % directions;
                    let packet = Packet { zeros: number as u32, ..Packet::default() };
                    in_flight.send(direction, at, Box::new(packet));
                    list.push((at, direction, number as u32));
                }
            }
        }
    }
}
