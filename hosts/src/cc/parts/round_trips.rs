//! The samples of each round trip, for variants that decide once per round.
//!
//! Linux's delay-based modules require more than two samples, so that one delayed ACK does not look
//! like a queue. The handshake's round trip is not a sample: its packets are small, and Linux's
//! modules start after it. A profile that times one segment at a time has one sample per round,
//! which then suffices.

use crate::api::Ack;
use crate::cc::control::Setup;
use narrows_common::Duration;

/// Statistics of a round trip's samples.
#[derive(Clone, Copy, Debug)]
pub struct Round {
    /// The minimum.
    pub min: Duration,
    /// The mean.
    pub mean: Duration,
    /// The minimum of the connection.
    pub base: Duration,
    /// The maximum of the connection.
    pub max: Duration,
}

impl Round {
    /// The segments of `cwnd` that are in a queue: cwnd (1 - base/RTT).
    pub fn backlog(&self, cwnd: f64) -> f64 {
        cwnd * (1.0 - ratio(self.base, self.min))
    }
}

/// `part` divided by `whole`; 1 if nothing is known.
pub fn ratio(part: Duration, whole: Duration) -> f64 {
    if whole == Duration::ZERO { 1.0 } else { part.as_ps() as f64 / whole.as_ps() as f64 }
}

/// Collects the samples.
#[derive(Clone, Debug)]
pub struct RoundTrips {
    least_samples: u64,
    round: u64,
    samples: u64,
    sum_ps: u64,
    min: Duration,
    /// From segments only: the handshake's packets are small and take less time on every link.
    base: Duration,
    max: Duration,
}

impl RoundTrips {
    /// Before the first sample.
    pub fn new(setup: &Setup) -> Self {
        RoundTrips {
            least_samples: if setup.times_every_segment { 3 } else { 1 },
            round: 0,
            samples: 0,
            sum_ps: 0,
            min: Duration::MAX,
            base: Duration::MAX,
            max: Duration::ZERO,
        }
    }

    /// Restarts the round: samples from before a cut include its queue (Linux's vegas_enable).
    pub fn restart(&mut self) {
        (self.samples, self.sum_ps, self.min) = (0, 0, Duration::MAX);
    }

    /// Adds the ACK's sample. Returns the round if this ACK ends it and it has enough samples.
    pub fn on_measurement(&mut self, ack: &Ack) -> Option<Round> {
        if let Some(rtt) = ack.rtt {
            self.samples += 1;
            self.sum_ps = self.sum_ps.saturating_add(rtt.as_ps());
            self.min = self.min.min(rtt);
            self.base = self.base.min(rtt);
            self.max = self.max.max(rtt);
        }
        if ack.round == self.round {
            return None;
        }
        self.round = ack.round;
        let round = (self.samples >= self.least_samples).then(|| Round {
            min: self.min,
            mean: Duration::from_ps(self.sum_ps / self.samples),
            base: self.base,
            max: self.max,
        });
        self.restart();
        round
    }
}
