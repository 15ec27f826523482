//! Loss events and the intervals between them (RFC 5348 sections 5.1 to 5.4).
//!
//! A datagram is lost once `LATER` datagrams with higher numbers have arrived. The time of the loss
//! is interpolated between its neighbours' arrivals. Losses within a round trip of an event's first
//! loss belong to that event.

use narrows_common::{Duration, Time};
use std::collections::{BTreeMap, VecDeque};

/// NDUPACK.
const LATER: usize = 3;
/// The last eight intervals, the newest first (section 5.4).
const WEIGHTS: [f64; 8] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];

/// An arrival.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Arrival {
    number: u64,
    at: Time,
}

/// The receiver's record of losses.
#[derive(Debug, Default)]
pub(super) struct LossHistory {
    /// The last arrival with no missing datagram before it.
    before: Option<Arrival>,
    /// Arrivals after a gap.
    ahead: BTreeMap<u64, Time>,
    highest: u64,
    /// The first loss of the current event.
    event: Option<Arrival>,
    /// Lengths in datagrams, the newest first, without the open interval.
    intervals: VecDeque<f64>,
}

impl LossHistory {
    /// A datagram arrived; `rtt` is the sender's round-trip time. `first_interval` computes the
    /// length of the interval before the first event. Returns true if an event began.
    pub(super) fn handle(
        &mut self,
        now: Time,
        number: u64,
        rtt: Duration,
        first_interval: impl FnOnce() -> f64,
    ) -> bool {
        let next = self.before.map_or(0, |before| before.number + 1);
        // The highest possible number leaves no room for a next one.
        if number < next || number == u64::MAX {
            return false;
        }
        self.highest = self.highest.max(number);
        self.ahead.insert(number, now);
        self.advance();
        let mut begun = Vec::new();
        while self.ahead.len() >= LATER {
            begun.extend(self.lose(rtt));
            self.advance();
        }
        let mut first_interval = Some(first_interval);
        for &event in &begun {
            let interval = match (self.event, &mut first_interval) {
                (Some(last), _) => (event.number - last.number) as f64,
                (None, first) => first.take().map_or(1.0, |first| first()),
            };
            self.intervals.push_front(interval);
            self.intervals.truncate(WEIGHTS.len());
            self.event = Some(event);
        }
        !begun.is_empty()
    }

    /// Advances over the arrivals that follow without a gap.
    fn advance(&mut self) {
        while let Some(entry) = self.ahead.first_entry() {
            let next = self.before.map_or(0, |before| before.number + 1);
            if *entry.key() != next {
                return;
            }
            self.before = Some(Arrival { number: next, at: *entry.get() });
            entry.remove();
        }
    }

    /// Declares the datagrams in the first gap lost. Returns the events that begin there.
    fn lose(&mut self, rtt: Duration) -> Vec<Arrival> {
        let Some((&after, &after_at)) = self.ahead.first_key_value() else { return Vec::new() };
        // Without an earlier arrival, all of it counts as lost when this datagram arrived.
        let (first, before_at) =
            self.before.map_or((0, after_at), |before| (before.number + 1, before.at));
        let steps = after - first + 1;
        let span = after_at.saturating_since(before_at);
        let lost_at = |number: u64| before_at + span.mul_div_floor(number - first + 1, steps);
        let mut begun = Vec::new();
        let mut last = self.event;
        let mut number = first;
        while number < after && begun.len() <= WEIGHTS.len() {
            let at = lost_at(number);
            match last.map(|event| event.at + rtt).filter(|&end| at <= end) {
                None => {
                    let event = Arrival { number, at };
                    last = Some(event);
                    begun.push(event);
                    number += 1;
                }
                // The first datagram lost after that.
                Some(end) if lost_at(after - 1) > end => {
                    let within = end.saturating_since(before_at).as_ps();
                    let ahead = u128::from(within) * u128::from(steps) / u128::from(span.as_ps());
                    number = (first + ahead as u64).max(number + 1);
                }
                Some(_) => break,
            }
        }
        self.before = Some(Arrival { number: after - 1, at: lost_at(after - 1) });
        begun
    }

    /// Loss events per datagram; 0 before the first (section 5.4).
    pub(super) fn loss_event_rate(&self) -> f64 {
        let Some(event) = self.event else { return 0.0 };
        let open = (self.highest - event.number + 1) as f64;
        let weighted = |intervals: &mut dyn Iterator<Item = f64>| -> f64 {
            intervals.zip(WEIGHTS).map(|(interval, weight)| interval * weight).sum()
        };
        let count = self.intervals.len();
        let closed = weighted(&mut self.intervals.iter().copied());
        let shifted = core::iter::once(open).chain(self.intervals.iter().copied()).take(count);
        let with_open = weighted(&mut { shifted });
        let total: f64 = WEIGHTS[..count].iter().sum();
        (total / closed.max(with_open)).min(1.0)
    }

    /// The highest number received.
    pub(super) fn highest(&self) -> u64 {
        self.highest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_ms(100);

    /// Datagrams 0 to `count`, 10 ms apart, without the lost ones; the first interval is 50.
    fn history(count: u64, lost: &[u64]) -> (LossHistory, Vec<u64>) {
        let mut history = LossHistory::default();
        let mut began = vec![];
        for number in (0..=count).filter(|number| !lost.contains(number)) {
            let now = Time::ZERO + Duration::from_ms(10 * number);
            if history.handle(now, number, RTT, || 50.0) {
                began.push(number);
            }
        }
        (history, began)
    }

    #[test]
    fn tfrc_losses_of_one_round_trip_are_one_event() {
        // 20 to 30 are within 100 ms of 20, 31 is not; each is detected three arrivals later.
        let (_, began) = history(60, &[20, 25, 30]);
        assert_eq!(began, [23]);
        let (_, began) = history(60, &[20, 25, 31]);
        assert_eq!(began, [23, 34]);
    }

    #[test]
    fn tfrc_a_gap_longer_than_a_round_trip_is_an_event_for_each() {
        // 20 to 54 lost: events at 20, 31 and 42, and 53.
        let lost: Vec<u64> = (20..55).collect();
        let (history, began) = history(60, &lost);
        assert_eq!(began, [57]);
        assert_eq!(history.intervals, [11.0, 11.0, 11.0, 50.0]);
    }

    /// Section 5.4, with events at 100, 200, ..., 900, so the intervals are 100.
    #[test]
    fn tfrc_weighted_intervals_by_hand() {
        let lost: Vec<u64> = (1..=9).map(|n| 100 * n).collect();
        assert_eq!(history(99, &lost).0.loss_event_rate(), 0.0);
        // After the first event: the interval before it is the given 50.
        assert_eq!(history(110, &lost).0.loss_event_rate(), 1.0 / 50.0);
        // Once the open interval exceeds 50 it counts: 100 to 179 are 80.
        assert_eq!(history(179, &lost).0.loss_event_rate(), 1.0 / 80.0);
        // Two events: (100 + 50) / 2 with the closed intervals.
        assert_eq!(history(210, &lost).0.loss_event_rate(), 1.0 / 75.0);
        // Nine: the 50 is the ninth and no longer counts: 100 each.
        assert!((history(910, &lost).0.loss_event_rate() - 0.01).abs() < 1e-12);
        // With an open interval of 300 (900 to 1199): (300 + 3 x 100 + 100 (0.8 + 0.6 + 0.4 + 0.2))
        // / 6.
        assert!((history(1_199, &lost).0.loss_event_rate() - 6.0 / 800.0).abs() < 1e-12);
    }

    #[test]
    fn tfrc_reordering_by_less_than_three_is_no_loss() {
        let mut history = LossHistory::default();
        for number in [0, 1, 4, 3, 2, 5, 6, 7] {
            assert!(!history.handle(Time::ZERO, number, RTT, || 1.0));
        }
        assert_eq!((history.loss_event_rate(), history.highest()), (0.0, 7));
    }

    #[test]
    fn tfrc_any_numbers_may_come() {
        let mut history = LossHistory::default();
        for number in [1 << 40, u64::MAX - 1, u64::MAX, 5, 1 << 63, u64::MAX] {
            history.handle(Time::ZERO, number, Duration::ZERO, || 1.0);
        }
        assert!(history.loss_event_rate() > 0.0);
    }
}
