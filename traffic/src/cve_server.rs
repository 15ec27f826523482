//! A collaborative virtual environment behind a server: each client's updates go to the server,
//! which sends each of them on to the other clients of the same part of the world.
//!
//! A flow is a client's connection, used both ways; the flows to one host whose partition has the
//! same number are one part of the world. A message's latency is from a client's writing to another
//! client's reading. An update replaces the earlier ones of its sender: the receiver counts those
//! that it could read no sooner than a newer one of the same sender.

use crate::cve;
use crate::error::{self, AppError};
use crate::paced::Paced;
use crate::{Model, key};
use narrows_common::Duration;
use serde::{Deserialize, Serialize};

/// The model's entry in the list.
pub const MODEL: Model = Model {
    name: "cve-server",
    title: "clients' updates, which the server sends on to the other clients of their partition",
    reference: "the workload of Gital et al. 2014, both legs of it",
    keys: &[
        key::SIZE.named("size", "an update, header included").needed(),
        key::INTERVAL.named("interval", "between two updates of a client").needed(),
        key::key("partition", "partition", key::Unit::Count, "part of the world; absent: 1"),
        key::MESSAGES,
    ],
    has_messages: true,
    answers: true,
};

/// What a scenario may say about it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Length of an update.
    pub size_bytes: u32,
    /// Between two updates of a client.
    #[serde(rename = "interval_ps")]
    pub interval: Duration,
    /// Which part of the world the client is in.
    #[serde(default = "one")]
    pub partition: u32,
    /// Updates to write; absent is without end.
    #[serde(default)]
    pub messages: Option<u64>,
}

fn one() -> u32 {
    1
}

impl Config {
    pub(crate) fn check(&self) -> Result<(), AppError> {
        error::check_size(MODEL.name, self.size_bytes)?;
        error::check_gap(MODEL.name, "interval_ps", self.interval)
    }

    pub(crate) fn build(&self) -> Paced<cve::Updates> {
        let Config { size_bytes, interval, messages, .. } = *self;
        cve::Config { size_bytes, interval, users: 1, messages }.build()
    }
}
