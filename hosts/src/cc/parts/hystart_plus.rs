//! HyStart++ (RFC 9406): slow start becomes conservative when a round's minimum round trip
//! increases, and ends if it stays so for five rounds.
//!
//! Constants (section 4.3): an increase by an eighth of the previous round's minimum, limited to 4
//! to 16 ms, after eight samples; a quarter of the growth in the conservative phase; at most eight
//! segments per ACK. It applies to the first slow start only (section 4.2).

use crate::api::Ack;
use crate::cc::reno::slow_start;
use narrows_common::Duration;

const LEAST_RISE: Duration = Duration::from_ms(4);
const GREATEST_RISE: Duration = Duration::from_ms(16);
const SAMPLES: u32 = 8;
const GROWTH_DIVISOR: u64 = 4;
const ROUNDS: u32 = 5;
/// L.
const SEGMENTS_AN_ACK: u64 = 8;

/// The state of the rule.
#[derive(Clone, Debug)]
pub struct HyStartPlus {
    is_over: bool,
    round: u64,
    samples: u32,
    /// The minima of the previous and the current round.
    last_min: Duration,
    min: Duration,
    conservative: Option<Conservative>,
    /// The remainder of the conservative phase's growth, below one byte.
    remainder: u64,
}

/// Conservative slow start.
#[derive(Clone, Copy, Debug)]
struct Conservative {
    baseline: Duration,
    rounds: u32,
}

impl Default for HyStartPlus {
    fn default() -> Self {
        HyStartPlus {
            is_over: false,
            round: 0,
            samples: 0,
            last_min: Duration::MAX,
            min: Duration::MAX,
            conservative: None,
            remainder: 0,
        }
    }
}

impl HyStartPlus {
    /// Ends the first slow start.
    pub fn end(&mut self) {
        self.is_over = true;
    }

    /// The window after an ACK in slow start, and whether slow start ends there.
    pub fn on_growth(&mut self, ack: &Ack, cwnd_bytes: u64) -> (u64, bool) {
        if self.is_over {
            return (slow_start(cwnd_bytes, ack.credit_bytes), false);
        }
        let credit_bytes = ack.credit_bytes.min(SEGMENTS_AN_ACK * u64::from(ack.mss));
        let growth_bytes = if self.conservative.is_some() {
            let total = credit_bytes + self.remainder;
            self.remainder = total % GROWTH_DIVISOR;
            total / GROWTH_DIVISOR
        } else {
            credit_bytes
        };
        if ack.round != self.round {
            self.end_round(ack.round);
        }
        if let Some(rtt) = ack.rtt {
            self.on_sample(rtt);
        }
        (slow_start(cwnd_bytes, growth_bytes), self.is_over)
    }

    fn end_round(&mut self, round: u64) {
        self.round = round;
        self.last_min = self.min;
        (self.min, self.samples) = (Duration::MAX, 0);
        if let Some(phase) = &mut self.conservative {
            phase.rounds += 1;
            self.is_over = phase.rounds >= ROUNDS;
        }
    }

    fn on_sample(&mut self, rtt: Duration) {
        self.min = self.min.min(rtt);
        self.samples += 1;
        if self.samples < SAMPLES {
            return;
        }
        match self.conservative {
            Some(phase) if self.min < phase.baseline => self.conservative = None,
            Some(_) => {}
            None if self.last_min == Duration::MAX => {}
            None => {
                let rise = self.last_min.mul_div_floor(1, 8).max(LEAST_RISE).min(GREATEST_RISE);
                if self.min >= self.last_min + rise {
                    self.conservative = Some(Conservative { baseline: self.min, rounds: 0 });
                }
            }
        }
    }
}
