//! A link, such as a host's to its switch: a rate, a delay, and a DropTail queue at the near end,
//! in both directions.
//!
//! Computed analytically: with a fixed rate and FIFO order, a packet's departure is known at its
//! arrival, so a packet needs no event. The queue is a ring of departures that have not begun.
//!
//! Jitter delays each packet by up to `jitter`, uniformly and without reordering, like the clock
//! domains of a real interface. Without jitter, a link exactly as fast as the bottleneck delivers
//! each packet just as another one leaves a full queue, and one flow can lock out all others for
//! minutes (Floyd and Jacobson: On Traffic Phase Effects in Packet-Switched Gateways, 1992). Real
//! clocks never agree to the picosecond.

use narrows_common::{Bytes, Duration, LengthBasis, Rate, Rng, Serializer, Time};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::VecDeque;

/// A link, the same in both directions.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkConfig {
    /// Rate in bits per second, above 0.
    pub rate_bps: u64,
    /// Propagation delay.
    #[serde(rename = "delay_ps")]
    pub delay: Duration,
    /// The largest extra delay of a packet, drawn for each packet.
    #[serde(rename = "jitter_ps", default)]
    pub jitter: Duration,
    /// The most queued packets, without the one in transmission; no limit if absent.
    #[serde(default)]
    pub queue_packets: Option<u32>,
    /// The bytes of a frame that take transmission time.
    #[serde(default)]
    pub counts: LengthBasis,
}

/// The parameters of both directions.
#[derive(Clone, Debug)]
struct Law {
    delay: Duration,
    jitter: Duration,
    limit_packets: Option<u32>,
    rng: Rng,
}

/// One direction of a link, in one cache line: with many hosts a direction has left the caches when
/// its next packet arrives.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct LinkDirection {
    serializer: Serializer,
    /// When the last packet arrives at the far end.
    last_arrival: Time,
    /// When the transmission begins of the last packet that had to wait.
    last_start: Time,
    /// Allocated when a packet waits behind another one that waits, or is dropped.
    waiting: Option<Box<Waiting>>,
}

/// The packets of a direction that had to wait, without the last one.
#[derive(Clone, Debug, Default)]
struct Waiting {
    /// The transmission starts of those accepted.
    starts: VecDeque<Time>,
    drops: u64,
}

impl LinkDirection {
    /// An idle direction.
    ///
    /// # Panics
    /// If the rate is zero.
    fn new(rate: Rate) -> Self {
        LinkDirection {
            serializer: Serializer::new(rate),
            last_arrival: Time::ZERO,
            last_start: Time::ZERO,
            waiting: None,
        }
    }

    /// A packet of `length` arrives at the near end. Returns when its last bit arrives at the far
    /// end, or `None` if the queue was full and it was dropped.
    fn handle(&mut self, now: Time, length: Bytes, law: &mut Law) -> Option<Time> {
        if self.serializer.free_at() > now && !self.wait(now, law.limit_packets) {
            return None;
        }
        let (_, end) = self.serializer.send(now, length.bits());
        let jitter_ps = match law.jitter.as_ps() {
            0 => 0,
            jitter_ps => law.rng.range(0, jitter_ps),
        };
        let arrival = end + law.delay + Duration::from_ps(jitter_ps);
        self.last_arrival = self.last_arrival.max(arrival);
        Some(self.last_arrival)
    }

    /// Queues a packet after those before it; false if the queue is full. The usual case, in which
    /// no other packet waits, needs no memory but the direction's own.
    #[inline]
    fn wait(&mut self, now: Time, limit_packets: Option<u32>) -> bool {
        let is_first = self.last_start <= now;
        if (!is_first || limit_packets == Some(0)) && !self.wait_behind(now, limit_packets) {
            return false;
        }
        self.last_start = self.serializer.free_at();
        true
    }

    /// Notes the last packet that waits, if any, among those that another one waits behind; false
    /// if the queue is full.
    #[inline(never)]
    fn wait_behind(&mut self, now: Time, limit_packets: Option<u32>) -> bool {
        let Waiting { starts, drops } = &mut **self.waiting.get_or_insert_default();
        while starts.front().is_some_and(|&start| start <= now) {
            starts.pop_front();
        }
        let waits = self.last_start > now;
        if limit_packets.is_some_and(|limit| starts.len() + usize::from(waits) >= limit as usize) {
            *drops += 1;
            return false;
        }
        starts.push_back(self.last_start);
        true
    }

    /// Packets dropped because the queue was full.
    pub fn drops(&self) -> u64 {
        self.waiting.as_ref().map_or(0, |waiting| waiting.drops)
    }
}

/// Both directions between a host and its switch: up to the switch, and down to the host.
#[derive(Clone, Debug)]
pub struct Link {
    counts: LengthBasis,
    law: Law,
    up: LinkDirection,
    down: LinkDirection,
}

impl Link {
    /// An idle link.
    ///
    /// # Panics
    /// If the rate is zero; callers check a scenario's rates before.
    pub fn new(config: &LinkConfig, rng: Rng) -> Self {
        let rate = Rate::from_bps(config.rate_bps);
        let &LinkConfig { delay, jitter, queue_packets: limit_packets, counts, .. } = config;
        let law = Law { delay, jitter, limit_packets, rng };
        Link { counts, law, up: LinkDirection::new(rate), down: LinkDirection::new(rate) }
    }

    /// The host sends a frame. Returns its arrival at the switch; `None` if it was dropped.
    pub fn handle_up(&mut self, now: Time, frame_bytes: usize) -> Option<Time> {
        self.up.handle(now, self.counts.bytes(frame_bytes as u64), &mut self.law)
    }

    /// A frame arrives for the host. Returns its arrival at the host; `None` if it was dropped.
    pub fn handle_down(&mut self, now: Time, frame_bytes: usize) -> Option<Time> {
        self.down.handle(now, self.counts.bytes(frame_bytes as u64), &mut self.law)
    }

    /// From the host to the switch.
    pub fn up(&self) -> &LinkDirection {
        &self.up
    }

    /// From the switch to the host.
    pub fn down(&self) -> &LinkDirection {
        &self.down
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_direction_is_a_cache_line() {
        assert_eq!(size_of::<LinkDirection>(), 64);
    }

    fn us(us: u64) -> Time {
        Time::ZERO + Duration::from_us(us)
    }

    fn link(queue_packets: Option<u32>) -> Link {
        // 8 Mb/s: one byte per microsecond.
        let delay = Duration::from_us(15);
        Link::new(
            &LinkConfig {
                rate_bps: 8_000_000,
                delay,
                queue_packets,
                counts: LengthBasis::Frame,
                jitter: Duration::ZERO,
            },
            narrows_common::Rng::from_seed(1),
        )
    }

    #[test]
    fn a_burst_of_five_into_room_for_two() {
        let mut link = link(Some(2));
        let arrivals: Vec<_> = (0..5).map(|_| link.handle_up(us(0), 100)).collect();
        assert_eq!(arrivals, [Some(us(115)), Some(us(215)), Some(us(315)), None, None]);
        // The second packet's transmission begins at 100: one place is free again.
        assert_eq!(link.handle_up(us(100), 50), Some(us(365)));
        assert_eq!(link.handle_up(us(100), 50), None);
        assert_eq!(link.up().drops(), 3);
        assert_eq!(link.handle_down(us(100), 60), Some(us(175)), "the directions are apart");
        // Idle again.
        assert_eq!(link.handle_up(us(1000), 100), Some(us(1115)));
    }

    #[test]
    fn no_room_at_all_still_sends_when_idle() {
        let mut link = link(Some(0));
        assert_eq!(link.handle_up(us(0), 100), Some(us(115)));
        assert_eq!(link.handle_up(us(99), 100), None);
        assert_eq!(link.handle_up(us(100), 100), Some(us(215)));
    }

    proptest! {
        /// Departures follow Lindley's recursion, computed here in exact picoseconds; a packet is
        /// dropped if as many wait as may.
        #[test]
        fn departures_are_lindleys(
            limit in prop::option::of(0u32..4),
            gaps in prop::collection::vec((0u64..300, 1u64..200), 1..200),
        ) {
            let mut link = link(limit);
            let (mut now, mut free, mut starts, mut drops) = (0, 0, vec![], 0);
            for (gap, bytes) in gaps {
                now += gap;
                let waiting = starts.iter().filter(|&&start| start > now).count();
                let is_full = limit.is_some_and(|limit| waiting >= limit as usize);
                let arrival = link.handle_up(us(now), bytes as usize);
                if free > now && is_full {
                    drops += 1;
                    prop_assert_eq!(arrival, None);
                    continue;
                }
                starts.push(free);
                free = now.max(free) + bytes;
                prop_assert_eq!(arrival, Some(us(free + 15)));
            }
            prop_assert_eq!(link.up().drops(), drops);
        }
    }
}
