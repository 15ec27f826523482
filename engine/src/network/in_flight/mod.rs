//! All packets in flight on links, in the order of their arrival.
//!
//! The sender of a packet has already computed its arrival: the end of its transmission plus the
//! propagation delay. A *direction* is one direction of a link. Of packets that arrive at the same
//! instant, that of the lowest-numbered direction comes first; within one direction, the one sent
//! first.
//!
//! Packets are sent nearly in the order in which they arrive: links of the same delay keep it. So
//! they are sorted by patience sorting: a packet joins a *lane*, a queue in order of arrival, and a
//! tournament tree finds the lane whose first packet arrives first (B. Chandramouli and
//! J. Goldstein: Patience Is a Virtue: Revisiting Merge and Sort on Modern Processors, SIGMOD
//! 2014). The cost of a packet grows with the logarithm of the number of lanes. A dumbbell has
//! about three, for the delays of its links. The number of lanes is that of the most packets in
//! flight of which each arrives before those sent before it.

mod core_cache;

use narrows_common::prefetch::{prefetch, prefetch_slice};
use narrows_common::tournament::{Rank, Tournament};
use narrows_common::{Packet, Time};
use std::collections::VecDeque;

/// A direction with its share of the host behind it takes so much of a core's second-level cache.
/// While all fit, to ask for their memory ahead costs more than it saves. Measured with 2 MiB; the
/// results do not depend on it.
const CACHED_BYTES: usize = 512;
/// The bytes of a packet that its receiver reads: its headers and a stamp.
pub(super) const PARSED_BYTES: usize = 128;
/// How many places ahead in its lane a packet's bytes are asked for. The packet, which says where
/// they are, is asked for one place earlier.
const BYTES_AHEAD: usize = 2;

/// A tournament has room for so many lanes at least.
const LANES_MIN: usize = 4;

/// Most packets join one of so many lanes: these are tried one by one.
const NEAR: usize = 4;

/// A packet in a lane.
#[derive(Debug)]
struct LanePacket {
    at: Time,
    direction: u32,
    packet: Box<Packet>,
}

impl LanePacket {
    fn key(&self) -> Rank {
        key(self.at, self.direction as usize)
    }
}

/// The order in which packets arrive: by instant, then by direction. The lowest 32 bits are zero;
/// the number of a lane takes their place in the tournament. Of packets of equal keys the one sent
/// first is in the lower-numbered lane, or the same.
fn key(at: Time, direction: usize) -> Rank {
    Rank::from(at.as_ps()) << u64::BITS | (direction as Rank) << u32::BITS
}

/// Packets in flight.
#[derive(Debug)]
pub struct InFlight {
    /// Each in the order of arrival. Those beyond the lanes in use are empty.
    lanes: Vec<VecDeque<LanePacket>>,
    /// The key of the last packet that joined each lane in use, from the greatest to the least: a
    /// packet joins the first lane in which it is the last one.
    last: Vec<Rank>,
    /// Between the first packets of the lanes in use.
    tournament: Tournament,
    /// The lane of the packet that arrived last.
    latest: usize,
    looks_ahead: bool,
}

impl InFlight {
    /// Nothing is in flight in so many directions.
    pub fn new(directions: usize) -> Self {
        Self::with_cache(directions, core_cache::second_level_bytes())
    }

    fn with_cache(directions: usize, cache_bytes: usize) -> Self {
        InFlight {
            lanes: vec![],
            last: vec![],
            tournament: Tournament::new(LANES_MIN),
            latest: 0,
            looks_ahead: directions * CACHED_BYTES > cache_bytes,
        }
    }

    /// Sends a packet that arrives at the far end of a direction `at` this instant.
    #[inline]
    pub fn send(&mut self, direction: usize, at: Time, packet: Box<Packet>) {
        let key = key(at, direction);
        let lane = self.lane_for(key);
        match self.last.get_mut(lane) {
            Some(last) => *last = key,
            None => self.open_lane(key),
        }
        let queue = &mut self.lanes[lane];
        let is_first = queue.is_empty();
        queue.push_back(LanePacket { at, direction: direction as u32, packet });
        if is_first {
            self.tournament.set(lane, key | lane as Rank);
        }
    }

    /// The first lane in which a packet with this key is the last one.
    #[inline]
    fn lane_for(&self, key: Rank) -> usize {
        let (near, far) = self.last.split_at(self.last.len().min(NEAR));
        let found = near.iter().position(|&last| last <= key);
        found.unwrap_or_else(|| near.len() + far.partition_point(|&last| last > key))
    }

    /// Another lane is in use, for a packet with this key.
    #[inline(never)]
    fn open_lane(&mut self, key: Rank) {
        self.last.push(key);
        if self.last.len() > self.lanes.len() {
            self.lanes.push(VecDeque::new());
        }
        if self.last.len() > self.tournament.contenders() {
            self.arrange(self.last.len());
        }
    }

    /// The last lanes are no longer in use if they are empty.
    #[inline(never)]
    fn close_lanes(&mut self) {
        while self.last.len().checked_sub(1).is_some_and(|lane| self.lanes[lane].is_empty()) {
            self.last.pop();
        }
        // It shrinks later than it grows: a lane that comes and goes changes nothing.
        let most = (self.last.len() * 4).max(LANES_MIN);
        if most < self.tournament.contenders() {
            self.arrange(most);
        }
    }

    /// Makes a tournament for so many lanes.
    fn arrange(&mut self, lanes: usize) {
        self.tournament = Tournament::new(lanes);
        for (lane, queue) in self.lanes.iter().enumerate() {
            if let Some(first) = queue.front() {
                self.tournament.set(lane, first.key() | lane as Rank);
            }
        }
    }

    /// When the next packet arrives; [`Time::MAX`] when none is in flight.
    #[inline]
    pub fn poll_timeout(&self) -> Time {
        Time::from_ps((self.tournament.least() >> u64::BITS) as u64)
    }

    /// The packet that arrives first, unless that is after `now`: its time, its direction and
    /// itself.
    #[inline]
    pub fn poll_receive(&mut self, now: Time) -> Option<(Time, usize, Box<Packet>)> {
        if self.poll_timeout() > now {
            return None;
        }
        let lane = self.tournament.least() as u32 as usize;
        let queue = self.lanes.get_mut(lane)?;
        let LanePacket { at, direction, packet } = queue.pop_front()?;
        let next = queue.front().map_or(Rank::MAX, |next| next.key() | lane as Rank);
        if let Some(ahead) = queue.get(BYTES_AHEAD) {
            prefetch_slice(&ahead.packet.data, PARSED_BYTES);
        }
        if let Some(ahead) = queue.get(BYTES_AHEAD + 1) {
            prefetch(&*ahead.packet);
        }
        self.tournament.set(lane, next);
        self.latest = lane;
        if next == Rank::MAX && lane + 1 == self.last.len() {
            self.close_lanes();
        }
        Some((at, direction as usize, packet))
    }

    /// The direction of the packet that [`InFlight::poll_receive`] returns next.
    #[inline]
    pub fn next_direction(&self) -> Option<usize> {
        let least = self.tournament.least();
        (least < Rank::MAX).then_some((least >> u32::BITS) as u32 as usize)
    }

    /// True if the memory of those who receive packets is worth asking for ahead.
    #[inline]
    pub fn looks_ahead(&self) -> bool {
        self.looks_ahead
    }

    /// The direction of a packet that arrives soon: so many places ahead in the lane of the packet
    /// that arrived last.
    #[inline]
    pub fn upcoming(&self, ahead: usize) -> Option<usize> {
        Some(self.lanes.get(self.latest)?.get(ahead)?.direction as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Compares with a list sorted by instant, direction and sequence number.
        #[test]
        fn packets_arrive_in_order(
            directions in 1usize..70,
            steps in prop::collection::vec((any::<bool>(), 0usize..6, prop_oneof![0u64..4, 0u64..1 << 24, 0u64..1 << 40]), 1..300),
        ) {
            let mut list = Vec::<(Time, usize, u32)>::new();
            let mut in_flight = InFlight::new(directions);
            let mut now = Time::ZERO;
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
                    let direction = directions - 1 - direction % directions;
                    let packet = Packet { zeros: number as u32, ..Packet::default() };
                    in_flight.send(direction, at, Box::new(packet));
                    list.push((at, direction, number as u32));
                }
            }
        }
    }

    /// Links of three delays, in any order: three lanes, however many packets are in flight.
    #[test]
    fn each_delay_has_a_lane() {
        let mut in_flight = InFlight::new(30);
        for number in 0..1000 {
            let at = |delay: usize| Time::from_ps((number * 1000 + delay * 100_000) as u64);
            let delay = number * 7 % 3;
            in_flight.send(10 * delay, at(delay), Box::default());
        }
        assert_eq!(in_flight.last.len(), 3);
        let due = std::iter::from_fn(|| in_flight.poll_receive(Time::MAX)).map(|(at, ..)| at);
        assert!(due.is_sorted());
        assert_eq!(in_flight.last.len(), 0);
    }

    /// A thousand packets that arrive in the opposite order, and then one more.
    #[test]
    fn a_tournament_shrinks_after_many_lanes() {
        let mut in_flight = InFlight::new(1);
        (0..1000).rev().for_each(|at| in_flight.send(0, Time::from_ps(at), Box::default()));
        assert_eq!(in_flight.tournament.contenders(), 1024);
        for at in 0..1000 {
            let received = in_flight.poll_receive(Time::MAX);
            assert_eq!(received.map(|(due, ..)| due), Some(Time::from_ps(at)));
        }
        assert_eq!(in_flight.tournament.contenders(), LANES_MIN);
        in_flight.send(0, Time::from_ps(1000), Box::default());
        assert_eq!(in_flight.poll_timeout(), Time::from_ps(1000));
    }

    #[test]
    fn it_looks_ahead_where_the_cache_is_too_small() {
        let looks_ahead = |directions| InFlight::with_cache(directions, 1 << 20).looks_ahead();
        assert!(!looks_ahead(2048));
        assert!(looks_ahead(2049));
    }

    #[test]
    fn the_next_packets_of_a_lane_are_known_ahead() {
        let mut in_flight = InFlight::new(20);
        for number in 0..20 {
            in_flight.send(number, Time::from_ps(number as u64), Box::default());
        }
        for number in 0..20 {
            let received = in_flight.poll_receive(Time::MAX);
            assert_eq!(received.map(|(_, direction, _)| direction), Some(number));
            let known: Vec<_> = (0..6).map_while(|ahead| in_flight.upcoming(ahead)).collect();
            let expected: Vec<_> = (number + 1..20).take(6).collect();
            assert_eq!(known, expected, "after packet {number}");
        }
    }
}
