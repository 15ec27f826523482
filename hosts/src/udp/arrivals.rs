//! The counts of a receiver of numbered datagrams: losses, duplicates, reordering, and delay
//! variation.
//!
//! Losses are the missing numbers below the highest one received (RFC 3550 section 6.4.1 and
//! appendix A.3). So datagrams in flight do not count as lost, nor do losses after the last
//! arrival. The interarrival jitter is RFC 3550's, J += (|D| - J) / 16 in the integers of appendix
//! A.8. D, the difference of two successive arrivals' delays, is also RFC 3393's delay variation.
//! Duplicates are detected within the last `REMEMBERED` numbers; a later duplicate counts as
//! reordered.

use crate::report::{DELAY_PRECISION_BITS, DatagramCounters, ReceiverCounters};
use narrows_common::histogram::{Histogram, Summary};
use narrows_common::{Duration, Time};
use narrows_traffic::message::Header;

const REMEMBERED: u64 = u128::BITS as u64;

/// The arrivals at a receiver.
#[derive(Debug)]
pub(crate) struct Arrivals {
    highest: Option<u64>,
    /// Bit n: the datagram with the n-th number below the highest has arrived.
    seen: u128,
    received: u64,
    delivered_bytes: u64,
    duplicates: u64,
    reordered: u64,
    /// The last arrival's delay, and the jitter times 16, in picoseconds.
    last_delay_ps: Option<i64>,
    jitter_16_ps: u64,
    delay_variation: Histogram,
    one_way_delay: Histogram,
}

impl Arrivals {
    /// Before the first.
    pub(crate) fn new() -> Self {
        Arrivals {
            highest: None,
            seen: 0,
            received: 0,
            delivered_bytes: 0,
            duplicates: 0,
            reordered: 0,
            last_delay_ps: None,
            jitter_16_ps: 0,
            delay_variation: Histogram::new(DELAY_PRECISION_BITS),
            one_way_delay: Histogram::new(DELAY_PRECISION_BITS),
        }
    }

    /// A datagram with this header, sent at `sent_at`, arrived. Returns false for a duplicate.
    pub(crate) fn handle(&mut self, now: Time, header: &Header, sent_at: Time) -> bool {
        if !self.take_number(header.number) {
            self.duplicates += 1;
            return false;
        }
        self.received += 1;
        self.delivered_bytes += u64::from(header.length_bytes);
        self.one_way_delay.add(now.saturating_since(sent_at));
        // Signed: on another machine the receiver's clock may be behind.
        let delay_ps = now.as_ps().wrapping_sub(sent_at.as_ps()) as i64;
        if let Some(last_ps) = self.last_delay_ps.replace(delay_ps) {
            let difference_ps = delay_ps.abs_diff(last_ps);
            let decay_ps = (self.jitter_16_ps.saturating_add(8)) >> 4;
            self.jitter_16_ps = (self.jitter_16_ps - decay_ps).saturating_add(difference_ps);
            self.delay_variation.add(Duration::from_ps(difference_ps));
        }
        true
    }

    fn take_number(&mut self, number: u64) -> bool {
        let Some(highest) = self.highest.filter(|&highest| number <= highest) else {
            let ahead = self.highest.map_or(REMEMBERED, |highest| number - highest);
            self.seen = if ahead < REMEMBERED { self.seen << ahead } else { 0 } | 1;
            self.highest = Some(number);
            return true;
        };
        let behind = highest - number;
        if behind < REMEMBERED {
            if self.seen >> behind & 1 == 1 {
                return false;
            }
            self.seen |= 1 << behind;
        }
        self.reordered += 1;
        true
    }

    /// The counts, in a segment receiver's record.
    pub(crate) fn as_segments(&self) -> ReceiverCounters {
        let (delivered_bytes, segments_received) = (self.delivered_bytes, self.received);
        ReceiverCounters { delivered_bytes, segments_received, ..ReceiverCounters::default() }
    }

    /// The counts so far.
    pub(crate) fn counters(&self) -> DatagramCounters {
        let expected = self.highest.map_or(0, |highest| highest.saturating_add(1));
        DatagramCounters {
            received: self.received,
            lost: expected.saturating_sub(self.received),
            duplicates: self.duplicates,
            reordered: self.reordered,
            jitter: Duration::from_ps(self.jitter_16_ps >> 4),
            delay_variation: self.delay_variation.summary(),
        }
    }

    /// One-way delays.
    pub(crate) fn one_way_delay(&self) -> Summary {
        self.one_way_delay.summary()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: u64) -> Time {
        Time::ZERO + Duration::from_us(us)
    }

    fn datagram(number: u64) -> Header {
        Header { length_bytes: 100, number, written_at: Time::ZERO }
    }

    #[test]
    fn udp_losses_copies_and_reordering_by_hand() {
        let mut arrivals = Arrivals::new();
        // 0 and 4 never arrive; 2 arrives after 3; 5 arrives twice.
        let fresh: Vec<bool> = [1, 3, 2, 5, 5, 6]
            .map(|number| arrivals.handle(us(9), &datagram(number), us(0)))
            .to_vec();
        assert_eq!(fresh, [true, true, true, true, false, true]);
        let counted = arrivals.counters();
        assert_eq!(
            (counted.received, counted.lost, counted.duplicates, counted.reordered),
            (5, 2, 1, 1)
        );
        assert_eq!(arrivals.as_segments().delivered_bytes, 500);
        // A gap longer than the remembered numbers.
        assert!(arrivals.handle(us(9), &datagram(1_000), us(0)));
        assert_eq!(arrivals.counters().lost, 1_001 - 6);
        assert!(!arrivals.handle(us(9), &datagram(1_000), us(0)));
    }

    /// Delays of 10, 26, 10 and 10 us: D is 16, 16 and 0. J is 1, then 1 + 15/16, then 15/16 of
    /// that: 1.81640625 us.
    #[test]
    fn udp_jitter_by_hand() {
        let mut arrivals = Arrivals::new();
        for (number, delay) in [10, 26, 10, 10].into_iter().enumerate() {
            let sent_at = us(100 * number as u64);
            let header = datagram(number as u64);
            arrivals.handle(sent_at + Duration::from_us(delay), &header, sent_at);
        }
        let counted = arrivals.counters();
        assert_eq!(counted.jitter, Duration::from_ps(1_816_406));
        assert_eq!(counted.delay_variation.max, Duration::from_us(16));
        assert_eq!((counted.delay_variation.count, counted.delay_variation.min.as_ps()), (3, 0));
        assert_eq!(arrivals.one_way_delay().max, Duration::from_us(26));
    }

    #[test]
    fn any_number_and_any_time_may_come() {
        let mut arrivals = Arrivals::new();
        for (number, sent_at) in [(u64::MAX, Time::MAX), (0, Time::ZERO), (u64::MAX - 1, Time::MAX)]
        {
            assert!(arrivals.handle(us(1), &datagram(number), sent_at));
        }
        assert_eq!(arrivals.counters().received, 3);
    }
}
