//! A collaborative virtual environment with a server: each client sends its updates to the server,
//! which forwards them to the other clients in the same part of the world.
//!
//! A flow is a client's connection, used in both directions. The flows to one host with the same
//! partition number form one part of the world. A message's latency is from one client's write to
//! another client's read. An update replaces earlier ones of its sender: the receiver counts the
//! updates that became readable no earlier than a newer one of the same sender.

use crate::application::Application;
use crate::error::{self, AppError};
use crate::key;
use crate::paced::Paced;
use crate::workload::{self, Reaction, Replaces, Workload, WorkloadRecord};
use crate::workloads::cve;
use narrows_common::Duration;
use schemars::JsonSchema;
use serde::Deserialize;

/// The workload's entry in the list.
pub const RECORD: WorkloadRecord = WorkloadRecord {
    name: "cve-server",
    title: "clients' updates, which the server forwards to the other clients of their partition",
    reference: "the workload of Gital et al. 2014, both legs of it",
    keys: &[
        key::SIZE.named("size", "length of an update, including its header").required(),
        key::INTERVAL.named("interval", "time between two updates of a client").required(),
        key::key("partition", "partition", key::Unit::Count, "number of the part of the world")
            .or("1"),
        key::MESSAGES,
    ],
    has_messages: true,
    answers: true,
    values: workload::values::<Config>(),
};

/// Its values in a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Length of an update.
    pub size_bytes: u32,
    /// Time between two updates of a client.
    #[serde(rename = "interval_ps")]
    pub interval: Duration,
    /// The number of the client's part of the world.
    #[serde(default = "one")]
    pub partition: u32,
    /// Updates to write; unlimited if absent.
    #[serde(default)]
    pub messages: Option<u64>,
}

fn one() -> u32 {
    1
}

impl Workload for Config {
    fn record(&self) -> &'static WorkloadRecord {
        &RECORD
    }

    fn check(&self) -> Result<(), AppError> {
        error::check_size(RECORD.name, self.size_bytes)?;
        error::check_gap(RECORD.name, "interval_ps", self.interval)
    }

    fn build(&self) -> Box<dyn Application> {
        Box::new(self.application())
    }

    fn is_finite(&self) -> bool {
        self.messages.is_some()
    }

    fn replaces(&self) -> Option<Replaces> {
        Some(Replaces::ByOrigin)
    }

    fn reaction(&self) -> Option<Reaction> {
        Some(Reaction::SendOn { group: self.partition })
    }
}

impl Config {
    pub(crate) fn application(&self) -> Paced<cve::Updates> {
        let Config { size_bytes, interval, messages, .. } = *self;
        cve::Config { size_bytes, interval, users: 1, messages }.application()
    }
}
