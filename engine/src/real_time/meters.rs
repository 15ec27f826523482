//! Meters of the instrument's error: how late packets left, how far a shaper's rate was off, and
//! how long the loop did not poll.

use narrows_common::{Duration, Histogram, Time};
use narrows_dpdk::Standing;

use crate::record::instrument::{LatenessSummary, PollSummary, RateSummary};

/// Percentiles of errors within 2^-7, 0.8 %.
const PRECISION_BITS: u32 = 6;
/// How long a shaper must be busy without a break for its rate to be measured.
const RATE_WINDOW: Duration = Duration::from_secs(1);

/// How late packets left compared with the ideal schedule.
#[derive(Debug)]
pub(crate) struct Lateness {
    errors: Histogram,
}

impl Lateness {
    pub(crate) fn new() -> Self {
        Lateness { errors: Histogram::new(PRECISION_BITS) }
    }

    /// A packet due at `ideal` left at `actual`.
    pub(crate) fn add(&mut self, ideal: Time, actual: Time) {
        self.errors.add(actual.saturating_since(ideal));
    }

    pub(crate) fn summary(&self) -> LatenessSummary {
        let us = |span: Duration| span.as_ps() as f64 / 1e6;
        let summary = self.errors.summary();
        LatenessSummary {
            mean: us(summary.mean),
            p50: us(summary.p50),
            p99: us(summary.p99),
            max: us(summary.max),
        }
    }
}

/// A shaper's rate over one-second windows in which it was never idle.
///
/// While a line is busy, each transmission starts at the end of the last one. So the ideal spans
/// add up to the bits' transmission time at the configured rate, whatever that rate is. That
/// sum, divided by the time that the packets actually took, is the ratio of real to configured
/// rate.
#[derive(Debug, Default)]
pub(crate) struct RateMeter {
    /// When the window's first packet left, and the ideal end of the latest one.
    window: Option<(Time, Time)>,
    ideal: Duration,
    windows: u64,
    /// The error farthest from zero.
    worst: f64,
    sum: f64,
}

impl RateMeter {
    /// A transmission with the ideal span from `start` to `end` left at `actual`.
    pub(crate) fn add(&mut self, start: Time, end: Time, actual: Time) {
        match &mut self.window {
            Some((began, busy_until)) if *busy_until == start && end > start => {
                self.ideal += end.since(start);
                *busy_until = end;
                let took = actual.saturating_since(*began);
                if took >= RATE_WINDOW {
                    let error = self.ideal.as_ps() as f64 / took.as_ps() as f64 - 1.0;
                    self.windows += 1;
                    self.sum += error;
                    if error.abs() > self.worst.abs() {
                        self.worst = error;
                    }
                    self.begin(end, actual);
                }
            }
            _ => self.begin(end, actual),
        }
    }

    fn begin(&mut self, end: Time, actual: Time) {
        self.window = Some((actual, end));
        self.ideal = Duration::ZERO;
    }

    pub(crate) fn summary(&self) -> Option<RateSummary> {
        (self.windows > 0).then(|| RateSummary {
            windows: self.windows,
            mean: self.sum / self.windows as f64,
            worst: self.worst,
        })
    }
}

/// How often the path polls.
#[derive(Debug)]
pub(crate) struct Polls {
    last: Option<Time>,
    gaps: Histogram,
    count: u64,
}

impl Polls {
    pub(crate) fn new() -> Self {
        Polls { last: None, gaps: Histogram::new(PRECISION_BITS), count: 0 }
    }

    /// The path polls at `now`.
    pub(crate) fn add(&mut self, now: Time) {
        if let Some(last) = self.last.replace(now) {
            self.gaps.add(now.saturating_since(last));
        }
        self.count += 1;
    }

    pub(crate) fn summary(&self, core: Standing) -> PollSummary {
        let us = |span: Duration| span.as_ps() as f64 / 1e6;
        let gaps = self.gaps.summary();
        PollSummary { core, count: self.count, gap_p99_us: us(gaps.p99), gap_max_us: us(gaps.max) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: u64) -> Time {
        Time::ZERO + Duration::from_us(us)
    }

    /// 1,000 packets of 1 ms each; a shaper that is 1 % slow needs 1.01 s to send 1 s of bits.
    #[test]
    fn a_shaper_one_percent_slow_is_measured_so() {
        let mut meter = RateMeter::default();
        for n in 0..1000 {
            meter.add(us(n * 1000), us(n * 1000 + 1000), us(n * 1010 + 1010));
        }
        let rate = meter.summary().unwrap();
        assert_eq!(rate.windows, 1);
        // The window ends with the first packet at or after a second: 991 packets in 1.00091 s.
        assert!((rate.worst + 0.01 / 1.01).abs() < 1e-9, "{rate:?}");
    }

    #[test]
    fn an_idle_moment_begins_a_new_window() {
        let mut meter = RateMeter::default();
        for n in 0..3000 {
            let start = n * 1000 + n / 500;
            meter.add(us(start), us(start + 1000), us(start + 1000));
        }
        assert_eq!(meter.summary(), None);
    }

    #[test]
    fn one_late_packet_of_a_hundred_changes_only_the_maximum() {
        let mut lateness = Lateness::new();
        for n in 0..100u64 {
            lateness.add(us(n), us(n + if n == 50 { 900 } else { 2 }));
        }
        let found = lateness.summary();
        assert_eq!((found.max, found.mean), (900.0, 10.98));
        assert!((found.p50 - 2.0).abs() < 0.02, "{found:?}");
    }

    #[test]
    fn a_gap_is_the_time_between_two_looks() {
        let mut polls = Polls::new();
        for at in [10, 11, 12, 512, 513] {
            polls.add(us(at));
        }
        let summary = polls.summary(Standing::Own);
        assert_eq!((summary.count, summary.gap_max_us), (5, 500.0));
    }
}
