//! HyStart as in Linux's tcp_cubic (Ha, Rhee, Taming the elephants: new TCP slow start, 2011). It
//! ends slow start when a train of ACKs has lasted for half the minimum round trip, or when the
//! first round trips of a round have increased.
//!
//! Constants (Linux 6.1): active from 16 segments on; ACKs of a train are at most 2 ms apart. The
//! increase is an eighth of the minimum round trip, limited to 4 to 16 ms, after eight samples of a
//! round. The train's limit includes the transmission of 256 KiB at twice the window's rate, at
//! most 1 ms, before it is halved.

use crate::api::Ack;
use narrows_common::{Duration, Time};

const LOW_WINDOW_SEGMENTS: u64 = 16;
const TRAIN_GAP: Duration = Duration::from_ms(2);
const LEAST_RISE: Duration = Duration::from_ms(4);
const GREATEST_RISE: Duration = Duration::from_ms(16);
const SAMPLES: u32 = 8;
const BURST_BYTES: u64 = 4 * 65_536;

/// The state of the rule.
#[derive(Clone, Debug)]
pub struct HyStart {
    round: Option<u64>,
    began_at: Time,
    last_ack_at: Time,
    samples: u32,
    /// The minimum of the round's samples, and of all samples.
    min: Duration,
    least: Duration,
}

impl Default for HyStart {
    fn default() -> Self {
        HyStart {
            round: None,
            began_at: Time::ZERO,
            last_ack_at: Time::ZERO,
            samples: 0,
            min: Duration::MAX,
            least: Duration::MAX,
        }
    }
}

impl HyStart {
    /// True if slow start must end with this ACK.
    pub fn on_growth(&mut self, ack: &Ack, cwnd_bytes: u64) -> bool {
        let Some(rtt) = ack.rtt else { return false };
        self.least = self.least.min(rtt);
        if cwnd_bytes < LOW_WINDOW_SEGMENTS * u64::from(ack.mss) {
            return false;
        }
        if self.round != Some(ack.round) {
            self.round = Some(ack.round);
            (self.began_at, self.last_ack_at) = (ack.now, ack.now);
            (self.samples, self.min) = (0, Duration::MAX);
        }
        self.is_train_long(ack, cwnd_bytes) || self.has_risen(rtt)
    }

    fn is_train_long(&mut self, ack: &Ack, cwnd_bytes: u64) -> bool {
        if ack.now.saturating_since(self.last_ack_at) > TRAIN_GAP {
            return false;
        }
        self.last_ack_at = ack.now;
        let burst = ack.srtt.mul_div_floor(BURST_BYTES, 2 * cwnd_bytes.max(1));
        let limit = (self.least + burst.min(Duration::from_ms(1))).mul_div_floor(1, 2);
        ack.now.saturating_since(self.began_at) > limit
    }

    fn has_risen(&mut self, rtt: Duration) -> bool {
        self.min = self.min.min(rtt);
        if self.samples < SAMPLES {
            self.samples += 1;
            return false;
        }
        let rise = self.least.mul_div_floor(1, 8).max(LEAST_RISE).min(GREATEST_RISE);
        self.min > self.least + rise
    }
}
