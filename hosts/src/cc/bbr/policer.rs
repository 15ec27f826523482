//! Detects a token-bucket policer: two intervals of heavy loss at the same rate. BBR then keeps to
//! that rate for 48 rounds (Linux tcp_bbr's long-term sampling).
//!
//! An interval has at least 4 rounds and 20 % loss; it restarts after 16 rounds. Rates are the same
//! if they differ by at most an eighth, or by 4 kb/s. An application-limited sample ends sampling.

use crate::api::PathSample;
use narrows_common::{PS_PER_S, Time};

const LEAST_ROUNDS: u32 = 4;
const LONGEST_ROUNDS: u32 = 4 * LEAST_ROUNDS;
const HOLD_ROUNDS: u32 = 48;
const SAME_BYTES_PER_SEC: u64 = 4000 / 8;

/// The state of policer detection.
#[derive(Clone, Debug, Default)]
pub struct Policer {
    interval: Option<Interval>,
    /// The rate of the latest complete interval; 0 before one.
    rate: u64,
    is_in_force: bool,
    rounds: u32,
}

#[derive(Clone, Copy, Debug)]
struct Interval {
    began_at: Time,
    delivered_bytes: u64,
    lost_bytes: u64,
}

impl Policer {
    /// The policer's rate, in bytes per second; `None` if there is no policer.
    pub fn rate(&self) -> Option<u64> {
        self.is_in_force.then_some(self.rate)
    }

    /// A time-out counts as a loss at the end of the interval.
    pub fn on_timeout(&mut self) {
        self.rounds = self.rounds.saturating_add(1);
    }

    /// A delivery-rate sample; `newly_lost_bytes` are the losses since the previous one.
    pub fn on_sample(&mut self, sample: &PathSample, newly_lost_bytes: u64, is_round_start: bool) {
        if self.is_in_force {
            self.rounds += u32::from(is_round_start);
            if self.rounds >= HOLD_ROUNDS {
                *self = Policer::default();
            }
            return;
        }
        let Some(interval) = self.interval else {
            if newly_lost_bytes > 0 {
                self.begin(sample);
            }
            return;
        };
        if sample.rate.is_app_limited {
            *self = Policer::default();
            return;
        }
        self.rounds += u32::from(is_round_start);
        if self.rounds < LEAST_ROUNDS {
            return;
        }
        if self.rounds > LONGEST_ROUNDS {
            *self = Policer::default();
            return;
        }
        let lost = sample.lost_bytes.saturating_sub(interval.lost_bytes);
        let delivered = sample.delivered_bytes.saturating_sub(interval.delivered_bytes);
        // The interval ends with a loss, which means that the bucket's tokens have run out.
        if newly_lost_bytes == 0 || delivered == 0 || lost * 5 < delivered {
            return;
        }
        let span_ps = u128::from(sample.now.saturating_since(interval.began_at).as_ps());
        let rate = (u128::from(delivered) * u128::from(PS_PER_S)).checked_div(span_ps);
        if let Some(rate) = rate.and_then(|rate| u64::try_from(rate).ok()) {
            self.end(sample, rate);
        }
    }

    fn begin(&mut self, sample: &PathSample) {
        self.rounds = 0;
        self.interval = Some(Interval {
            began_at: sample.now,
            delivered_bytes: sample.delivered_bytes,
            lost_bytes: sample.lost_bytes,
        });
    }

    fn end(&mut self, sample: &PathSample, rate: u64) {
        let difference = rate.abs_diff(self.rate);
        let is_same = difference * 8 <= self.rate || difference <= SAME_BYTES_PER_SEC;
        if self.rate > 0 && is_same {
            (self.rate, self.is_in_force, self.rounds) = ((rate + self.rate) / 2, true, 0);
        } else {
            self.rate = rate;
            self.begin(sample);
        }
    }
}
