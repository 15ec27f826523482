//! A constant bit rate: messages of one length at even intervals, starting with the flow.
//!
//! Source: ns-2's Application/Traffic/CBR; the interval is size x 8 / rate. The n-th message's time
//! is computed from the start, so errors do not add up. With `random` (`random_ 1`) each interval
//! independently varies by up to a half of it, uniformly.

use crate::application::Application;
use crate::error::{self, AppError};
use crate::key;
use crate::paced::{Message, Paced, Schedule, Steady, transmission};
use crate::workload::{self, Workload, WorkloadRecord};
use narrows_common::{Duration, Rng};
use schemars::JsonSchema;
use serde::Deserialize;

/// The workload's entry in the list.
pub const RECORD: WorkloadRecord = WorkloadRecord {
    name: "cbr",
    title: "messages of one length at a constant bit rate",
    reference: "ns-2 Application/Traffic/CBR",
    keys: &[
        key::RATE.required(),
        key::SIZE.required(),
        key::key(
            "random",
            "random",
            key::Unit::Flag,
            "each interval varies by up to half of its length",
        )
        .or("false"),
        key::MESSAGES,
    ],
    has_messages: true,
    answers: false,
    values: workload::values::<Config>(),
};

/// Its values in a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Bits of messages per second.
    pub rate_bps: u64,
    /// Length of a message.
    pub size_bytes: u32,
    /// True if each interval varies by up to a half of it.
    #[serde(default)]
    pub random: bool,
    /// Messages to write; unlimited if absent.
    #[serde(default)]
    pub messages: Option<u64>,
}

impl Workload for Config {
    fn record(&self) -> &'static WorkloadRecord {
        &RECORD
    }

    fn check(&self) -> Result<(), AppError> {
        error::check_rate(RECORD.name, self.rate_bps)?;
        error::check_size(RECORD.name, self.size_bytes)
    }

    fn build(&self) -> Box<dyn Application> {
        Box::new(self.application())
    }

    fn is_finite(&self) -> bool {
        self.messages.is_some()
    }
}

impl Config {
    pub(crate) fn application(&self) -> Paced<Stream> {
        let bits = u64::from(self.size_bytes) * 8;
        let steady = Steady::new(bits, self.rate_bps, self.size_bytes);
        let interval = transmission(1, bits, self.rate_bps);
        let varied = self.random.then_some((interval, Duration::ZERO));
        Paced::new(Stream { steady, varied }, self.messages)
    }
}

/// The messages.
#[derive(Debug)]
pub struct Stream {
    steady: Steady,
    /// With random intervals: their mean, and the time of the next message.
    varied: Option<(Duration, Duration)>,
}

impl Schedule for Stream {
    fn next(&mut self, rng: &mut Rng) -> Option<Message> {
        let message = self.steady.next(rng)?;
        let Some((interval, after)) = &mut self.varied else { return Some(message) };
        let now = *after;
        *after += Duration::from_ps(interval.as_ps() / 2 + rng.range(0, interval.as_ps()));
        Some(Message { after: now, ..message })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paced::tests::written;
    use narrows_common::Time;

    #[test]
    fn the_rate_holds_and_nothing_adds_up() {
        // 200 B at 7 bit/us: 228.571428571.. us each. The 7,000th message comes at exactly 1.6 s.
        let config =
            Config { rate_bps: 7_000_000, size_bytes: 200, random: false, messages: Some(7_001) };
        let start = Time::ZERO + Duration::from_ms(3);
        let all = written(&mut config.application(), start, Time::MAX, 1);
        assert_eq!(all.len(), 7_001);
        assert_eq!(all[0], (start, 200));
        assert_eq!(all[1], (start + Duration::from_ps(228_571_428), 200));
        assert_eq!(all[2], (start + Duration::from_ps(457_142_857), 200));
        assert_eq!(all[7_000], (start + Duration::from_ms(1_600), 200));
    }

    #[test]
    fn random_intervals_vary_by_a_half_and_keep_the_rate() {
        // 1,000 B at 8 Mb/s: 1 ms.
        let config =
            Config { rate_bps: 8_000_000, size_bytes: 1_000, random: true, messages: Some(20_001) };
        let all = written(&mut config.application(), Time::ZERO, Time::MAX, 1);
        let gaps: Vec<f64> =
            all.windows(2).map(|pair| pair[1].0.since(pair[0].0).as_secs_f64() * 1e3).collect();
        assert!(gaps.iter().all(|gap| (0.5..=1.5).contains(gap)));
        let mean = gaps.iter().sum::<f64>() / 20_000.0;
        assert!((mean - 1.0).abs() < 0.01, "{mean}");
        // Uniform: an equal share in each tenth of the range.
        let first = gaps.iter().filter(|&&gap| gap < 0.6).count();
        assert!((1_850..2_150).contains(&first), "{first}");
    }
}
