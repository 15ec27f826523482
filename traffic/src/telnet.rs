//! Typing (telnet): messages of one length with exponential gaps, a Poisson process.
//!
//! Source: ns-2's Application/Telnet with `interval_` above 0 (its default mean is 1 s); as
//! there, the first message comes after a first gap. Not implemented: `interval_ 0`, gaps of the
//! tcplib library's measured distribution (Danzig and Jamin 1991).

use crate::error::{self, AppError};
use crate::paced::{Message, Paced, Schedule};
use crate::{Model, gaps, key};
use narrows_common::{Duration, Rng};
use serde::{Deserialize, Serialize};

/// The model's entry in the list.
pub const MODEL: Model = Model {
    name: "telnet",
    title: "messages of one length with exponential gaps",
    reference: "ns-2 Application/Telnet with interval_ > 0",
    keys: &[
        key::SIZE.needed(),
        key::INTERVAL.named("interval", "mean gap, exponential").needed(),
        key::MESSAGES,
    ],
};

/// What a scenario may say about it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Length of a message.
    pub size_bytes: u32,
    /// Mean gap.
    #[serde(rename = "interval_ps")]
    pub interval: Duration,
    /// Messages to write; absent is without end.
    #[serde(default)]
    pub messages: Option<u64>,
}

impl Config {
    pub(crate) fn check(&self) -> Result<(), AppError> {
        error::check_size(MODEL.name, self.size_bytes)?;
        error::check_gap(MODEL.name, "interval_ps", self.interval)
    }

    pub(crate) fn build(&self) -> Paced<Typing> {
        let typing = Typing { config: *self, typed_to: Duration::ZERO };
        Paced::new(typing, self.messages)
    }
}

/// The typing.
#[derive(Debug)]
pub struct Typing {
    config: Config,
    typed_to: Duration,
}

impl Schedule for Typing {
    fn next(&mut self, rng: &mut Rng) -> Option<Message> {
        let gap_ps = gaps::exponential(self.config.interval.as_ps() as f64, rng);
        self.typed_to += Duration::from_ps(gap_ps as u64);
        Some(Message { after: self.typed_to, length_bytes: self.config.size_bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paced::tests::written;
    use narrows_common::Time;

    #[test]
    fn messages_are_a_poisson_process() {
        let config = Config { size_bytes: 552, interval: Duration::from_ms(100), messages: None };
        let end = Time::ZERO + Duration::from_secs(2_000);
        let all = written(&mut config.build(), Time::ZERO, end, 5);
        // 20,000 expected in 2,000 s, with a standard deviation of sqrt(20,000) = 141.
        assert!((19_500..20_500).contains(&all.len()), "{}", all.len());
        assert!(all.iter().all(|&(_, length_bytes)| length_bytes == 552));
        // Per second, count and variance are both 10.
        let mut counts = [0.0_f64; 2_000];
        for (at, _) in &all {
            counts[at.as_secs_f64() as usize] += 1.0;
        }
        let mean = counts.iter().sum::<f64>() / 2_000.0;
        let variance = counts.iter().map(|n| (n - mean) * (n - mean)).sum::<f64>() / 2_000.0;
        assert!((9.0..11.0).contains(&variance), "{variance}");
        assert!(all[0].0 > Time::ZERO, "the first message comes after a gap");
    }

    #[test]
    fn a_seed_fixes_the_messages() {
        let config =
            Config { size_bytes: 80, interval: Duration::from_secs(1), messages: Some(50) };
        let run = |seed| written(&mut config.build(), Time::ZERO, Time::MAX, seed);
        assert_eq!(run(1), run(1));
        assert_ne!(run(1), run(2));
        assert_eq!(run(1).len(), 50);
    }
}
