//! e-VLBI: a radio telescope's samples at the constant rate that the correlator requires.
//!
//! A message is a frame of the Mark 5B recorder: 10,016 bytes, of which 10,000 are samples (4 and
//! 2,500 words of 32 bits). The required rate is that of the samples, such as 512 Mb/s for 16
//! channels of 16 Msample/s and 2 bits. Late samples are sent anyway.

use crate::application::Application;
use crate::error::{self, AppError};
use crate::key;
use crate::paced::{Paced, Steady};
use crate::workload::{self, Workload, WorkloadRecord};
use schemars::JsonSchema;
use serde::Deserialize;

const FRAME_BYTES: u32 = 10_016;
const SAMPLE_BITS: u64 = 80_000;

/// The workload's entry in the list.
pub const RECORD: WorkloadRecord = WorkloadRecord {
    name: "evlbi",
    title: "a radio telescope's frames at the rate its correlator requires",
    reference: "Mark 5B frames of 10,000 B of samples",
    keys: &[key::RATE.named("rate", "required bit rate of the samples").required(), key::MESSAGES],
    has_messages: true,
    answers: false,
    values: workload::values::<Config>(),
};

/// Its values in a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Bits of samples per second.
    pub rate_bps: u64,
    /// Frames to write; unlimited if absent.
    #[serde(default)]
    pub messages: Option<u64>,
}

impl Workload for Config {
    fn record(&self) -> &'static WorkloadRecord {
        &RECORD
    }

    fn check(&self) -> Result<(), AppError> {
        error::check_rate(RECORD.name, self.rate_bps)
    }

    fn build(&self) -> Box<dyn Application> {
        Box::new(self.application())
    }

    fn is_finite(&self) -> bool {
        self.messages.is_some()
    }
}

impl Config {
    pub(crate) fn application(&self) -> Paced<impl crate::paced::Schedule + use<>> {
        Paced::new(Steady::new(SAMPLE_BITS, self.rate_bps, FRAME_BYTES), self.messages)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paced::tests::written;
    use narrows_common::{Duration, Time};

    #[test]
    fn frames_come_at_the_required_rate() {
        // 512 Mb/s are 6,400 frames of 80,000 bits per second, one every 156.25 us.
        let config = Config { rate_bps: 512_000_000, messages: None };
        let almost = Time::ZERO + Duration::from_ps(999_999_999_999);
        let all = written(&mut config.application(), Time::ZERO, almost, 1);
        assert_eq!(all.len(), 6_400);
        assert_eq!(all[1], (Time::ZERO + Duration::from_ns(156_250), 10_016));
    }
}
