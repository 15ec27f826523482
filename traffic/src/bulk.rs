//! A bulk transfer (FTP): everything is there to be sent from the start.
//!
//! All bytes are zeros and are written at once, since a length costs no memory. "Unlimited" is
//! 2^60 bytes, 106 days at 1 Tb/s; ns-2's infinite FTP is 2^30 packets.

use crate::{Application, Content, Key, Model, Write, key};
use narrows_common::{Rng, Time};
use serde::{Deserialize, Serialize};

/// What stands for a transfer without an end, in bytes.
const UNLIMITED_BYTES: u64 = 1 << 60;

/// The model's entry in the list.
pub const MODEL: Model = Model {
    name: "bulk",
    title: "a transfer of given or unlimited length",
    reference: "ns-2 Application/FTP",
    keys: &[Key { plan: "bytes", ..key::SIZE.named("bytes", "to transfer; absent: unlimited") }],
};

/// What a scenario may say about it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Bytes to transfer; absent is unlimited.
    #[serde(default)]
    pub bytes: Option<u64>,
}

/// The transfer.
#[derive(Debug)]
pub struct Bulk {
    unwritten: u64,
    unlimited: bool,
}

impl Bulk {
    /// A transfer before its first byte.
    pub fn new(config: &Config) -> Self {
        Bulk {
            unwritten: config.bytes.unwrap_or(UNLIMITED_BYTES),
            unlimited: config.bytes.is_none(),
        }
    }
}

impl Application for Bulk {
    fn poll_write(&mut self, _now: Time, _rng: &mut Rng) -> Option<Write> {
        let len = core::mem::take(&mut self.unwritten);
        (len > 0).then_some(Write::Stream(Content::Zeros(len)))
    }

    fn is_finished(&self) -> bool {
        !self.unlimited && self.unwritten == 0
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
        let mut bulk = Bulk::new(&Config { bytes: Some(20_000_000) });
        assert!(!bulk.is_finished());
        assert_eq!(write(&mut bulk), Some(Write::Stream(Content::Zeros(20_000_000))));
        assert_eq!(write(&mut bulk), None);
        assert!(bulk.is_finished());
    }

    #[test]
    fn an_unlimited_one_never_finishes_and_an_empty_one_is_finished_at_once() {
        let mut unlimited = Bulk::new(&Config { bytes: None });
        let Some(Write::Stream(content)) = write(&mut unlimited) else { panic!("no bytes") };
        assert!(content.len() > 1 << 50);
        assert!(!unlimited.is_finished());
        let mut empty = Bulk::new(&Config { bytes: Some(0) });
        assert_eq!(write(&mut empty), None);
        assert!(empty.is_finished());
    }
}
