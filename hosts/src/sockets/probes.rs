//! Measures one-way delay over sockets: from departure at the sender's kernel to reading.
//!
//! A probe is a byte or a datagram for which the kernel reports the departure. The report does not
//! always belong to that byte, so a probe gives a sample only under these conditions:
//!
//! - The kernel reported its departure before it was read. If the first departure is missing, the
//!   next report belongs to a retransmission.
//! - It departed only once before it was read (Karn and Partridge 1987). Of a retransmitted byte
//!   nobody knows which copy was read.
//! - The delay is possible. A delay below the lower bound of the path is an error of the
//!   instrument; it is counted, and makes the run invalid.

use crate::report::DELAY_PRECISION_BITS;
use narrows_common::histogram::{Histogram, Summary};
use narrows_common::{Duration, Time};
use std::collections::VecDeque;

/// The most numbers timed at once; the oldest are dropped.
const PROBES: usize = 256;

/// The timed bytes of a stream, or datagrams.
#[derive(Debug)]
pub(super) struct Probes {
    /// The lower bound of the path's delay.
    least_delay: Duration,
    in_flight: VecDeque<Probe>,
    one_way_delay: Histogram,
    impossible: u64,
}

/// A byte or a datagram by number, with its departures so far.
#[derive(Debug)]
struct Probe {
    number: u64,
    departures: Departures,
}

#[derive(Clone, Copy, Debug)]
enum Departures {
    None,
    One(Time),
    Several,
}

impl Probes {
    /// No samples yet; the path's delay is at least `least_delay`.
    pub(super) fn new(least_delay: Duration) -> Self {
        let one_way_delay = Histogram::new(DELAY_PRECISION_BITS);
        Probes { least_delay, in_flight: VecDeque::new(), one_way_delay, impossible: 0 }
    }

    /// Starts timing this number.
    pub(super) fn watch(&mut self, number: u64) {
        if self.in_flight.len() == PROBES {
            self.in_flight.pop_front();
        }
        self.in_flight.push_back(Probe { number, departures: Departures::None });
    }

    /// A probe left the kernel. `key` is the lower half of its number.
    pub(super) fn handle_departure(&mut self, at: Time, key: u32) {
        if let Some(probe) = self.in_flight.iter_mut().find(|probe| probe.number as u32 == key) {
            probe.departures = match probe.departures {
                Departures::None => Departures::One(at),
                Departures::One(_) | Departures::Several => Departures::Several,
            };
        }
    }

    /// The numbers for which `is_there` returns true have been read. All departures until now have
    /// been reported, so a probe without one will never have one.
    pub(super) fn handle_arrival(&mut self, now: Time, is_there: impl Fn(u64) -> bool) {
        let Probes { least_delay, in_flight, one_way_delay, impossible } = self;
        in_flight.retain(|probe| {
            if !is_there(probe.number) {
                return true;
            }
            if let Departures::One(departed) = probe.departures {
                let delay = now.saturating_since(departed);
                match delay < *least_delay {
                    true => *impossible += 1,
                    false => one_way_delay.add(delay),
                }
            }
            false
        });
    }

    /// The delays so far.
    pub(super) fn one_way_delay(&self) -> Summary {
        self.one_way_delay.summary()
    }

    /// The number of delays below the path's lower bound.
    pub(super) fn impossible_delays(&self) -> u64 {
        self.impossible
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    /// A probe of byte 999 on a path of 14 ms.
    fn probes() -> Probes {
        let mut probes = Probes::new(Duration::from_ms(14));
        probes.watch(999);
        probes
    }

    /// Samples, their minimum in ms, and errors, after everything below byte 1,000 was read.
    fn read(mut probes: Probes, at: Time) -> (u64, u64, u64) {
        probes.handle_arrival(at, |byte| byte < 1000);
        let delay = probes.one_way_delay();
        (delay.count, delay.min.as_us() / 1000, probes.impossible_delays())
    }

    #[test]
    fn a_byte_that_left_once_is_a_sample() {
        let mut probes = probes();
        probes.handle_departure(ms(100), 999);
        assert_eq!(read(probes, ms(120)), (1, 20, 0));
    }

    #[test]
    fn the_least_delay_itself_is_a_sample() {
        let mut probes = probes();
        probes.handle_departure(ms(100), 999);
        assert_eq!(read(probes, ms(114)), (1, 14, 0));
    }

    /// The kernel put the key on a later segment than the byte's (Linux 6.10 and later,
    /// `tcp_grow_skb`): reported at 1,905 ms for a byte that left at 1,865 ms and was read at 1,909
    /// ms.
    #[test]
    fn a_delay_below_the_least_is_an_error_and_no_sample() {
        let mut probes = probes();
        probes.handle_departure(ms(1905), 999);
        assert_eq!(read(probes, ms(1909)), (0, 0, 1));
    }

    #[test]
    fn a_departure_after_the_reading_by_the_clocks_is_an_error() {
        let mut probes = probes();
        probes.handle_departure(ms(121), 999);
        assert_eq!(read(probes, ms(120)), (0, 0, 1));
    }

    /// Sent at 100 ms, lost, sent again at 150 ms, read at 170 ms.
    #[test]
    fn a_byte_that_left_twice_is_no_sample() {
        let mut probes = probes();
        probes.handle_departure(ms(100), 999);
        probes.handle_departure(ms(150), 999);
        assert_eq!(read(probes, ms(170)), (0, 0, 0));
    }

    /// As above, reported in the other order.
    #[test]
    fn the_order_of_the_stamps_does_not_matter() {
        let mut probes = probes();
        probes.handle_departure(ms(150), 999);
        probes.handle_departure(ms(100), 999);
        probes.handle_departure(ms(160), 999);
        assert_eq!(read(probes, ms(190)), (0, 0, 0));
    }

    /// The kernel set the key after the segment had left, because it accepted the write in parts:
    /// written at 1,289 ms, read at 1,423 ms, the only departure reported at 1,424 ms.
    #[test]
    fn the_stamp_of_a_retransmission_alone_is_no_sample() {
        let mut probes = probes();
        probes.handle_arrival(ms(1423), |byte| byte < 1000);
        probes.handle_departure(ms(1424), 999);
        assert_eq!(read(probes, ms(1500)), (0, 0, 0));
    }

    #[test]
    fn stamps_of_several_bytes_come_in_any_order() {
        let mut probes = probes();
        probes.watch(1 << 32 | 5);
        probes.watch(1999);
        probes.handle_departure(ms(130), 1999);
        probes.handle_departure(ms(140), 5);
        probes.handle_departure(ms(100), 999);
        probes.handle_departure(ms(100), 777);
        probes.handle_arrival(ms(120), |byte| byte < 1000);
        probes.handle_arrival(ms(160), |byte| byte < 2000);
        probes.handle_arrival(ms(200), |_| true);
        let delay = probes.one_way_delay();
        assert_eq!((delay.count, delay.min.as_us(), delay.max.as_us()), (3, 20_000, 60_000));
        assert_eq!(probes.impossible_delays(), 0);
    }
}
