//! A port's serializer: a fixed rate, or rates over time that repeat.
//!
//! A trace's transmissions are exact: a packet ends when the bits that the rates allow since its
//! start are its own, rounded down to a picosecond, and the rest of that picosecond is the next
//! packet's. No transmission begins while the rate is 0; one that an outage meets goes on after it.

use narrows_common::{Duration, PS_PER_S, Rate, Serializer, Time};
use schemars::JsonSchema;
use serde::Deserialize;

/// Rates over time that repeat.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RateTrace {
    /// The time from which each rate holds, in picoseconds since the trace began, and the rate in
    /// bits per second; 0 for an outage. The first time is 0, and times increase.
    pub steps: Vec<(u64, u64)>,
    /// The time after which the trace begins again, above the last step's.
    pub period_ps: u64,
}

impl RateTrace {
    /// Checks order, period, and that some rate is above 0.
    ///
    /// # Errors
    /// What is wrong, and what was expected.
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        let last = self.steps.last().map_or(u64::MAX, |&(at, _)| at);
        if self.steps.first().is_none_or(|&(at, _)| at != 0) {
            return Err("trace: expected a first step at 0");
        }
        if self.steps.windows(2).any(|pair| pair[0].0 >= pair[1].0) || last >= self.period_ps {
            return Err("trace: expected steps in increasing order, all before the period's end");
        }
        if self.steps.iter().all(|&(_, rate)| rate == 0) {
            return Err("trace: expected a rate above 0");
        }
        Ok(())
    }

    /// The bits that the trace allows from its beginning until `end`.
    pub fn bits(&self, end: Time) -> f64 {
        let (laps, rest) = (end.as_ps() / self.period_ps, end.as_ps() % self.period_ps);
        let until = |most: u64| -> f64 {
            let ends = self.steps.iter().skip(1).map(|&(at, _)| at).chain([self.period_ps]);
            let span = |((at, rate), next): (&(u64, u64), u64)| {
                next.min(most).saturating_sub(*at) as f64 * *rate as f64
            };
            self.steps.iter().zip(ends).map(span).sum()
        };
        (laps as f64 * until(self.period_ps) + until(rest)) / PS_PER_S as f64
    }
}

/// Sends a port's packets one after another.
#[derive(Debug)]
pub(crate) enum PortSerializer {
    /// One rate until it is set.
    Fixed(Serializer),
    /// A trace's rates.
    Traced(Box<TraceSerializer>),
}

impl PortSerializer {
    /// One at this rate, or along a trace whose mean it is.
    pub(crate) fn new(rate: Rate, trace: Option<&RateTrace>) -> Self {
        match trace {
            None => PortSerializer::Fixed(Serializer::new(rate)),
            Some(trace) => {
                PortSerializer::Traced(Box::new(TraceSerializer::new(rate, trace.clone())))
            }
        }
    }

    /// The rate; a trace's mean.
    #[inline]
    pub(crate) fn rate(&self) -> Rate {
        match self {
            PortSerializer::Fixed(serializer) => serializer.rate(),
            PortSerializer::Traced(serializer) => serializer.mean,
        }
    }

    /// When a transmission can begin, at the earliest; the past for one that is free at `now`.
    #[inline]
    pub(crate) fn free_at(&self, now: Time) -> Time {
        match self {
            PortSerializer::Fixed(serializer) => serializer.free_at(),
            PortSerializer::Traced(serializer) => serializer.free_at(now),
        }
    }

    /// Sends `bits` as soon as it is free. Returns start and end of the transmission.
    #[inline]
    pub(crate) fn send(&mut self, now: Time, bits: u64) -> (Time, Time) {
        match self {
            PortSerializer::Fixed(serializer) => serializer.send(now, bits),
            PortSerializer::Traced(serializer) => serializer.send(now, bits),
        }
    }
}

/// One whose rates follow a trace.
#[derive(Debug)]
pub(crate) struct TraceSerializer {
    trace: RateTrace,
    mean: Rate,
    /// The end of the last transmission, rounded down.
    end: Time,
    /// What was left of it then, in bit-picoseconds per second; below the rate of that time.
    remainder: u128,
}

/// A step of the trace: its rate, and the time at which the next one begins.
struct Step {
    index: usize,
    rate: u64,
    until: Time,
}

impl TraceSerializer {
    fn new(mean: Rate, trace: RateTrace) -> Self {
        TraceSerializer { trace, mean, end: Time::ZERO, remainder: 0 }
    }

    /// The step at a time.
    fn step_at(&self, at: Time) -> Step {
        let into = at.as_ps() % self.trace.period_ps;
        let index = self.trace.steps.partition_point(|&(begin, _)| begin <= into) - 1;
        self.step(index, at.as_ps() - into)
    }

    /// The step of this index in the lap that began then.
    fn step(&self, index: usize, lap_ps: u64) -> Step {
        let steps = &self.trace.steps;
        let end = steps.get(index + 1).map_or(self.trace.period_ps, |&(begin, _)| begin);
        Step { index, rate: steps[index].1, until: Time::from_ps(lap_ps + end) }
    }

    /// The step after one that ends at `until`.
    fn after(&self, step: &Step) -> Step {
        let index = (step.index + 1) % self.trace.steps.len();
        self.step(index, step.until.as_ps() - self.trace.steps[index].0)
    }

    /// See [`PortSerializer::free_at`].
    fn free_at(&self, now: Time) -> Time {
        let mut at = now.max(self.end);
        let mut step = self.step_at(at);
        while step.rate == 0 {
            at = step.until;
            step = self.after(&step);
        }
        at
    }

    /// See [`PortSerializer::send`].
    fn send(&mut self, now: Time, bits: u64) -> (Time, Time) {
        if now > self.end {
            (self.end, self.remainder) = (now, 0);
        }
        let start = self.free_at(now);
        let mut at = self.end;
        let mut left = u128::from(bits) * u128::from(PS_PER_S) + self.remainder;
        let mut step = self.step_at(at);
        loop {
            let rate = u128::from(step.rate);
            let span = u128::from(step.until.saturating_since(at).as_ps());
            if rate > 0 && left <= rate * span {
                self.end = at + Duration::from_ps((left / rate) as u64);
                self.remainder = left % rate;
                return (start, self.end);
            }
            left -= rate * span;
            at = step.until;
            step = self.after(&step);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MS: u64 = 1_000_000_000;

    fn ms(ms: u64) -> Time {
        Time::from_ps(ms * MS)
    }

    /// 8 Mb/s (a byte per microsecond) for 10 ms, nothing for 20 ms, 4 Mb/s for 10 ms.
    fn serializer() -> TraceSerializer {
        let steps = vec![(0, 8_000_000), (10 * MS, 0), (30 * MS, 4_000_000)];
        let trace = RateTrace { steps, period_ps: 40 * MS };
        trace.check().expect("a trace");
        TraceSerializer::new(Rate::from_bps(3_000_000), trace)
    }

    #[test]
    fn packets_end_when_the_rates_have_allowed_their_bits() {
        let mut serializer = serializer();
        // | packet | bits until then | the trace has allowed them at |
        // | 1, 8,000 B | 64,000 | 8 ms |
        // | 2, 4,000 B | 96,000: 80,000 until 10 ms, 16,000 at 4 Mb/s | 30 + 4 ms |
        // | 3, 3,000 B | 120,000: 24,000 more at 4 Mb/s | 40 ms |
        // | 4, 1,000 B | the next lap's first millisecond | 41 ms |
        let sent: Vec<_> =
            [8000, 4000, 3000, 1000].map(|bytes| serializer.send(ms(0), bytes * 8)).into();
        assert_eq!(sent, [(ms(0), ms(8)), (ms(8), ms(34)), (ms(34), ms(40)), (ms(40), ms(41))]);
    }

    #[test]
    fn nothing_begins_in_an_outage() {
        let mut serializer = serializer();
        assert_eq!(serializer.free_at(ms(5)), ms(5));
        assert_eq!(serializer.free_at(ms(15)), ms(30));
        assert_eq!(serializer.send(ms(15), 8000), (ms(30), ms(32)));
        assert_eq!(serializer.free_at(ms(15)), ms(32));
        assert_eq!(serializer.free_at(ms(40 * 7 + 12)), ms(40 * 7 + 30));
    }

    #[test]
    fn an_allowance_counts_laps_and_parts() {
        let trace = serializer().trace;
        for (end_ms, bits) in [(0, 0), (10, 80_000), (25, 80_000), (40, 120_000), (75, 220_000)] {
            assert_eq!(trace.bits(ms(end_ms)), f64::from(bits));
        }
    }

    #[test]
    fn wrong_traces_are_refused() {
        let wrong = |steps: &[(u64, u64)], period_ps| {
            RateTrace { steps: steps.to_vec(), period_ps }.check().is_err()
        };
        assert!(wrong(&[], 10));
        assert!(wrong(&[(1, 5)], 10), "does not begin at 0");
        assert!(wrong(&[(0, 5), (0, 6)], 10), "two steps at once");
        assert!(wrong(&[(0, 5), (10, 6)], 10), "a step at the end");
        assert!(wrong(&[(0, 0), (5, 0)], 10), "no rate at all");
        assert!(!wrong(&[(0, 0), (5, 1)], 10));
    }

    proptest! {
        /// A busy serializer's packets end where the sum of all their bits does, computed step by
        /// step from the trace's beginning in exact integers.
        #[test]
        fn a_busy_serializer_loses_no_bit(
            steps in prop::collection::vec((1u64..5_000_000_000, 0u64..50_000_000), 1..12),
            sizes in prop::collection::vec(1u64..20_000, 1..60),
        ) {
            let mut at = 0;
            let mut trace = RateTrace { steps: vec![], period_ps: 0 };
            for (span, rate) in steps {
                trace.steps.push((at, rate));
                at += span;
            }
            trace.period_ps = at;
            trace.steps[0].1 += 1_000_000;
            let mut serializer = TraceSerializer::new(Rate::from_bps(1), trace.clone());
            let mut sum = 0u128;
            for bits in sizes {
                sum += u128::from(bits) * u128::from(PS_PER_S);
                let (_, end) = serializer.send(Time::ZERO, bits);
                let (mut left, mut n, mut now) = (sum, 0, 0u128);
                let expected = loop {
                    let (begin, rate) = trace.steps[n % trace.steps.len()];
                    let next = trace.steps.get(n % trace.steps.len() + 1);
                    let span = u128::from(next.map_or(trace.period_ps, |step| step.0) - begin);
                    let allowed = span * u128::from(rate);
                    if rate > 0 && left <= allowed {
                        break now + left / u128::from(rate);
                    }
                    (left, now, n) = (left - allowed, now + span, n + 1);
                };
                prop_assert_eq!(u128::from(end.as_ps()), expected);
            }
        }
    }
}
