//! A constant bit rate: messages of one length at even intervals, the first at the start.
//!
//! Source: ns-2's Application/Traffic/CBR with `random_ 0`; the interval is size x 8 / rate. The
//! n-th message's time is computed from the start, so that nothing adds up.

use crate::error::{self, AppError};
use crate::paced::{Paced, Steady};
use crate::{Model, key};
use serde::{Deserialize, Serialize};

/// The model's entry in the list.
pub const MODEL: Model = Model {
    name: "cbr",
    title: "messages of one length at a constant bit rate",
    reference: "ns-2 Application/Traffic/CBR with random_ 0, over TCP",
    keys: &[key::RATE.needed(), key::SIZE.needed(), key::MESSAGES],
};

/// What a scenario may say about it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Bits of messages per second.
    pub rate_bps: u64,
    /// Length of a message.
    pub size_bytes: u32,
    /// Messages to write; absent is without end.
    #[serde(default)]
    pub messages: Option<u64>,
}

impl Config {
    pub(crate) fn check(&self) -> Result<(), AppError> {
        error::check_rate(MODEL.name, self.rate_bps)?;
        error::check_size(MODEL.name, self.size_bytes)
    }

    pub(crate) fn build(&self) -> Paced<impl crate::paced::Schedule + use<>> {
        let bits = u64::from(self.size_bytes) * 8;
        Paced::new(Steady::new(bits, self.rate_bps, self.size_bytes), self.messages)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paced::tests::written;
    use narrows_common::{Duration, Time};

    #[test]
    fn the_rate_holds_and_nothing_adds_up() {
        // 200 B at 7 bit/us: 228.571428571.. us each. The 7,000th message comes at 1.6 s sharp.
        let config = Config { rate_bps: 7_000_000, size_bytes: 200, messages: Some(7_001) };
        let start = Time::ZERO + Duration::from_ms(3);
        let all = written(&mut config.build(), start, Time::MAX, 1);
        assert_eq!(all.len(), 7_001);
        assert_eq!(all[0], (start, 200));
        assert_eq!(all[1], (start + Duration::from_ps(228_571_428), 200));
        assert_eq!(all[2], (start + Duration::from_ps(457_142_857), 200));
        assert_eq!(all[7_000], (start + Duration::from_ms(1_600), 200));
    }
}
