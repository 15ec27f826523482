//! On-off: bursts of random length at a constant rate, with random pauses between them.
//!
//! Source: ns-2's Application/Traffic/Exponential and /Pareto. A burst is a whole number of
//! messages, at least one: its random length in message times (mean `on` x rate / size), rounded.
//! Messages of a burst are size x 8 / rate apart; that time and the random pause follow the last
//! one. The mean rate is rate x on / (on + off), except for rounding. Heavy tails (shape below 2)
//! converge slowly. The first burst starts with the flow. Lengths from a heavy tail are limited to
//! 11 days.

use crate::application::Application;
use crate::distribution::{self, Distribution};
use crate::error::{self, AppError, MOST_GAP};
use crate::key;
use crate::paced::{Message, Paced, Schedule, transmission};
use crate::workload::{self, Workload, WorkloadRecord};
use narrows_common::{Duration, Rng};
use schemars::JsonSchema;
use serde::Deserialize;

const MOST_MESSAGES: f64 = 1e15;

/// The workload's entry in the list.
pub const RECORD: WorkloadRecord = WorkloadRecord {
    name: "on-off",
    title: "bursts at a constant rate with pauses, exponential or Pareto",
    reference: "ns-2 Application/Traffic/Exponential and /Pareto",
    keys: &[
        key::RATE.named("rate", "bit rate of the messages within a burst").required(),
        key::SIZE.required(),
        key::key("on", "on_ps", key::Unit::Duration, "mean length of a burst").required(),
        key::key("off", "off_ps", key::Unit::Duration, "mean length of a pause").required(),
        key::key(
            "distribution",
            "distribution",
            key::Unit::Word,
            "of the lengths of bursts and pauses: exponential or pareto",
        )
        .or("exponential"),
        distribution::SHAPE,
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
    /// Bits of messages per second during a burst.
    pub rate_bps: u64,
    /// Length of a message.
    pub size_bytes: u32,
    /// Mean length of a burst.
    #[serde(rename = "on_ps")]
    pub on: Duration,
    /// Mean length of a pause.
    #[serde(rename = "off_ps")]
    pub off: Duration,
    /// The distribution of both.
    #[serde(default)]
    pub distribution: Distribution,
    /// The exponent of the Pareto distribution's tail.
    #[serde(default = "distribution::ns2_shape")]
    pub shape: f64,
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
        error::check_size(RECORD.name, self.size_bytes)?;
        error::check_gap(RECORD.name, "on_ps", self.on)?;
        error::check_gap(RECORD.name, "off_ps", self.off)?;
        distribution::check_shape(RECORD.name, self.shape)
    }

    fn build(&self) -> Box<dyn Application> {
        Box::new(self.application())
    }

    fn is_finite(&self) -> bool {
        self.messages.is_some()
    }
}

impl Config {
    pub(crate) fn application(&self) -> Paced<Bursts> {
        let bursts = Bursts { config: *self, start: Duration::ZERO, drawn: 0, messages: 0 };
        Paced::new(bursts, self.messages)
    }

    fn draw(&self, mean: f64, rng: &mut Rng) -> f64 {
        self.distribution.draw(mean, self.shape, rng)
    }
}

/// The bursts.
#[derive(Debug)]
pub struct Bursts {
    config: Config,
    /// When the burst began.
    start: Duration,
    /// Its messages so far, and in total; 0 before the first burst.
    drawn: u64,
    messages: u64,
}

impl Bursts {
    fn begin(&mut self, rng: &mut Rng) {
        let config = self.config;
        let bits = u64::from(config.size_bytes) * 8;
        if self.messages > 0 {
            let pause_ps = config.draw(config.off.as_ps() as f64, rng) as u64;
            let burst = transmission(self.messages, bits, config.rate_bps).min(MOST_GAP);
            self.start += burst + Duration::from_ps(pause_ps).min(MOST_GAP);
        }
        let mean = config.on.as_secs_f64() * config.rate_bps as f64 / bits as f64;
        let messages = libm::floor(config.draw(mean, rng) + 0.5).clamp(1.0, MOST_MESSAGES);
        (self.drawn, self.messages) = (0, messages as u64);
    }
}

impl Schedule for Bursts {
    fn next(&mut self, rng: &mut Rng) -> Option<Message> {
        if self.drawn == self.messages {
            self.begin(rng);
        }
        let bits = u64::from(self.config.size_bytes) * 8;
        let into = transmission(self.drawn, bits, self.config.rate_bps).min(MOST_GAP);
        self.drawn += 1;
        Some(Message { after: self.start + into, length_bytes: self.config.size_bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paced::tests::written;
    use narrows_common::Time;

    /// 1,000 messages per second during a burst.
    fn config(distribution: Distribution, shape: f64) -> Config {
        Config {
            rate_bps: 800_000,
            size_bytes: 100,
            on: Duration::from_ms(500),
            off: Duration::from_ms(1_500),
            distribution,
            shape,
            messages: None,
        }
    }

    /// Lengths of bursts in messages, and of pauses in seconds.
    fn bursts_and_pauses(config: &Config, secs: u64) -> (Vec<f64>, Vec<f64>) {
        let end = Time::ZERO + Duration::from_secs(secs);
        let all = written(&mut config.application(), Time::ZERO, end, 3);
        let (mut bursts, mut pauses, mut messages) = (Vec::new(), Vec::new(), 1.0);
        for pair in all.windows(2) {
            let gap = pair[1].0.since(pair[0].0);
            assert!(gap >= Duration::from_ms(1), "{gap:?}");
            if gap == Duration::from_ms(1) {
                messages += 1.0;
            } else {
                pauses.push((gap.saturating_sub(Duration::from_ms(1))).as_secs_f64());
                bursts.push(core::mem::replace(&mut messages, 1.0));
            }
        }
        (bursts, pauses)
    }

    fn mean(values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    #[test]
    fn exponential_bursts_and_pauses_have_their_means() {
        let (bursts, pauses) = bursts_and_pauses(&config(Distribution::Exponential, 1.5), 20_000);
        // 10,000 cycles of 2 s; a mean has a standard deviation of 1 %.
        assert!((9_600..10_400).contains(&bursts.len()), "{}", bursts.len());
        assert!((mean(&bursts) / 500.0 - 1.0).abs() < 0.03, "{}", mean(&bursts));
        assert!((mean(&pauses) / 1.5 - 1.0).abs() < 0.03, "{}", mean(&pauses));
    }

    #[test]
    fn pareto_pauses_have_a_heavy_tail() {
        // Shape 1.5: scale 1.5 x 0.5 / 1.5 = 0.5 s; (0.5/2)^1.5 = 1/8 of the pauses exceed 2 s, and
        // (0.5/8)^1.5 = 1/64 exceed 8 s. Bursts: scale 166.7 messages; 1/8 exceed 666.7.
        let (bursts, pauses) = bursts_and_pauses(&config(Distribution::Pareto, 1.5), 40_000);
        let share = |values: &[f64], x: f64| {
            values.iter().filter(|&&v| v > x).count() as f64 / values.len() as f64
        };
        assert!(pauses.len() > 15_000, "{}", pauses.len());
        assert!(pauses.iter().all(|&pause| pause > 0.499));
        assert!(bursts.iter().all(|&burst| burst >= 167.0));
        assert!((share(&pauses, 2.0) - 0.125).abs() < 0.01);
        assert!((share(&pauses, 8.0) - 0.015_625).abs() < 0.004);
        assert!((share(&bursts, 666.7) - 0.125).abs() < 0.01);
    }

    #[test]
    fn a_burst_shorter_than_a_message_has_one() {
        let short = Config { on: Duration::from_us(1), ..config(Distribution::Exponential, 1.5) };
        let (bursts, _) = bursts_and_pauses(&short, 1_000);
        assert!(bursts.iter().all(|&burst| burst == 1.0));
    }
}
