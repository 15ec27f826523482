//! A bulk transfer (FTP): all data is available from the start.
//!
//! All bytes are zeros and are written together, because a length takes no memory. "Unlimited" is
//! 2^60 bytes, 106 days at 1 Tb/s; ns-2's infinite FTP is 2^30 packets. Each flow may draw its
//! length from an exponential or Pareto distribution with a mean: a whole number of bytes, at least
//! one.

use crate::application::Application;
use crate::application::Content;
use crate::application::Write;
use crate::distribution::{self, Distribution};
use crate::error::AppError;
use crate::key;
use crate::key::Key;
use crate::workload::{self, Workload, WorkloadRecord};
use narrows_common::{Rng, Time};
use schemars::JsonSchema;
use serde::Deserialize;

/// The length of an unlimited transfer, in bytes.
const UNLIMITED_BYTES: u64 = 1 << 60;

/// The workload's entry in the list.
pub const RECORD: WorkloadRecord = WorkloadRecord {
    name: "bulk",
    title: "a transfer of given or unlimited length",
    reference: "ns-2 Application/FTP",
    keys: &[
        Key { plan: "bytes", ..key::SIZE.named("bytes", "bytes to transfer").or("without end") },
        key::key(
            "distribution",
            "distribution",
            key::Unit::Word,
            "of the length, with the mean `bytes`: exponential or pareto",
        )
        .or("none"),
        distribution::SHAPE,
    ],
    has_messages: false,
    answers: false,
    values: workload::values::<Config>(),
};

/// Its values in a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Bytes to transfer; unlimited if absent.
    #[serde(default)]
    pub bytes: Option<u64>,
    /// The distribution of which `bytes` is the mean; if absent, `bytes` is exact.
    #[serde(default)]
    pub distribution: Option<Distribution>,
    /// The exponent of the Pareto distribution's tail.
    #[serde(default = "distribution::ns2_shape")]
    pub shape: f64,
}

impl Workload for Config {
    fn record(&self) -> &'static WorkloadRecord {
        &RECORD
    }

    fn check(&self) -> Result<(), AppError> {
        distribution::check_shape(RECORD.name, self.shape)
    }

    fn build(&self) -> Box<dyn Application> {
        Box::new(Bulk::new(self))
    }

    fn is_finite(&self) -> bool {
        self.bytes.is_some()
    }
}

impl Config {
    /// A transfer of this many bytes; `None` for unlimited.
    pub fn of_bytes(bytes: Option<u64>) -> Self {
        Config { bytes, distribution: None, shape: distribution::ns2_shape() }
    }
}

/// The transfer.
#[derive(Debug)]
pub struct Bulk {
    config: Config,
    has_written: bool,
}

impl Bulk {
    /// A transfer before its first byte.
    pub fn new(config: &Config) -> Self {
        Bulk { config: *config, has_written: false }
    }
}

impl Application for Bulk {
    fn poll_write(&mut self, _now: Time, rng: &mut Rng) -> Option<Write> {
        if core::mem::replace(&mut self.has_written, true) {
            return None;
        }
        let Config { bytes, distribution, shape } = self.config;
        let bytes = bytes.unwrap_or(UNLIMITED_BYTES);
        let len = match distribution {
            Some(distribution) => {
                (distribution.draw(bytes as f64, shape, rng) as u64).clamp(1, UNLIMITED_BYTES)
            }
            None => bytes,
        };
        (len > 0).then_some(Write::Stream(Content::Zeros(len)))
    }

    fn is_finished(&self) -> bool {
        self.config.bytes == Some(0) || (self.config.bytes.is_some() && self.has_written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(bulk: &mut Bulk) -> Option<Write> {
        bulk.poll_write(Time::ZERO, &mut Rng::from_seed(1))
    }

    #[test]
    fn writes_its_bytes_once_and_is_finished() {
        let mut bulk = Bulk::new(&Config::of_bytes(Some(20_000_000)));
        assert!(!bulk.is_finished());
        assert_eq!(write(&mut bulk), Some(Write::Stream(Content::Zeros(20_000_000))));
        assert_eq!(write(&mut bulk), None);
        assert!(bulk.is_finished());
    }

    #[test]
    fn an_unlimited_transfer_never_ends_and_an_empty_one_has() {
        let mut unlimited = Bulk::new(&Config::of_bytes(None));
        let Some(Write::Stream(content)) = write(&mut unlimited) else { panic!("no bytes") };
        assert!(content.len() > 1 << 50);
        assert!(!unlimited.is_finished());
        let mut empty = Bulk::new(&Config::of_bytes(Some(0)));
        assert_eq!(write(&mut empty), None);
        assert!(empty.is_finished());
    }

    #[test]
    fn drawn_lengths_have_their_mean_and_tail() {
        let config =
            Config { bytes: Some(30_000), distribution: Some(Distribution::Pareto), shape: 3.0 };
        let mut rng = Rng::from_seed(3);
        let mut draw = || match Bulk::new(&config).poll_write(Time::ZERO, &mut rng) {
            Some(Write::Stream(content)) => content.len(),
            other => panic!("{other:?}"),
        };
        let lengths: Vec<u64> = (0..50_000).map(|_| draw()).collect();
        // Scale 30,000 x 2/3; an eighth is above twice that.
        assert!(lengths.iter().all(|&len| len >= 20_000));
        let mean = lengths.iter().sum::<u64>() as f64 / 50_000.0;
        assert!((29_500.0..30_500.0).contains(&mean), "{mean}");
        let above = lengths.iter().filter(|&&len| len > 40_000).count() as f64 / 50_000.0;
        assert!((0.12..0.13).contains(&above), "{above}");
    }
}
