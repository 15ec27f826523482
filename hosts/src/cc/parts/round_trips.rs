//! The samples of each round trip, for the variants that decide once a round.
//!
//! Linux's delay-based modules ask for more than two samples, so that a lone delayed ACK does not
//! pass for a queue. The handshake's round trip is none of them: its packets are small, and
//! Linux's modules begin after it. A profile that times one segment at a time has one a round, which is enough.

use crate::cc::control::Setup;
use crate::tcp::api::Ack;
use narrows_common::Duration;

/// What a round trip's samples said.
#[derive(Clone, Copy, Debug)]
pub struct Round {
    /// The least of them.
    pub min: Duration,
    /// Their mean.
    pub mean: Duration,
    /// The least of the connection.
    pub base: Duration,
    /// The greatest of the connection.
    pub max: Duration,
}

impl Round {
    /// Of `cwnd` segments those that stand in a queue: cwnd (1 - base/RTT).
    pub fn backlog(&self, cwnd: f64) -> f64 {
        cwnd * (1.0 - ratio(self.base, self.min))
    }
}

/// `part` of `whole`; 1 where nothing is known.
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
    /// Of segments only: the handshake's packets are small and take less time on every line.
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

    /// Begins the round anew: a cut's queue is not the path's after it (Linux's vegas_enable).
    pub fn restart(&mut self) {
        (self.samples, self.sum_ps, self.min) = (0, 0, Duration::MAX);
    }

    /// Takes the ACK's sample. `Some` when the ACK ends a round with samples enough.
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
