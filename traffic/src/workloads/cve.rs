//! A collaborative virtual environment: fixed-size updates of users' states at an interval.
//!
//! A flow carries a server's updates to one client. Every interval it sends one update of each of
//! the `users` in the client's part of the world, in turn, starting with the flow. Message n
//! belongs to user n mod `users`. An update replaces all earlier ones of its user: the receiver
//! counts the updates that became readable no earlier than a newer one of the same user. Gital et
//! al. 2014 give updates of 80 B.

use crate::application::Application;
use crate::error::{self, AppError};
use crate::key;
use crate::paced::{Message, Paced, Schedule};
use crate::workload::{self, Replaces, Workload, WorkloadRecord};
use narrows_common::{Duration, Rng};
use schemars::JsonSchema;
use serde::Deserialize;

/// The most users of a flow.
const MOST_USERS: u32 = 100_000;

/// The workload's entry in the list.
pub const RECORD: WorkloadRecord = WorkloadRecord {
    name: "cve",
    title: "updates of users' states at an interval; a newer update replaces older ones",
    reference: "the workload of Gital et al. 2014: a server's updates to a client",
    keys: &[
        key::SIZE.named("size", "length of an update, including its header").required(),
        key::INTERVAL.named("interval", "time between two updates of a user").required(),
        key::key("users", "users", key::Unit::Count, "number of users in the flow").or("1"),
        key::MESSAGES,
    ],
    has_messages: true,
    answers: false,
    values: workload::values::<Config>(),
};

/// Its values in a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Length of an update.
    pub size_bytes: u32,
    /// Time between two updates of a user.
    #[serde(rename = "interval_ps")]
    pub interval: Duration,
    /// The number of users in the flow.
    #[serde(default = "one")]
    pub users: u32,
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
        error::check_gap(RECORD.name, "interval_ps", self.interval)?;
        error::in_range(RECORD.name, "users", self.users, (1, MOST_USERS))
    }

    fn build(&self) -> Box<dyn Application> {
        Box::new(self.application())
    }

    fn is_finite(&self) -> bool {
        self.messages.is_some()
    }

    fn replaces(&self) -> Option<Replaces> {
        Some(Replaces::InTurn { users: self.users })
    }
}

impl Config {
    pub(crate) fn application(&self) -> Paced<Updates> {
        Paced::new(Updates { config: *self, drawn: 0 }, self.messages)
    }
}

/// The updates.
#[derive(Debug)]
pub struct Updates {
    config: Config,
    drawn: u64,
}

impl Schedule for Updates {
    fn next(&mut self, _rng: &mut Rng) -> Option<Message> {
        let interval = self.drawn / u64::from(self.config.users);
        self.drawn += 1;
        let after = self.config.interval.saturating_mul(interval);
        Some(Message { after, length_bytes: self.config.size_bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paced::tests::written;
    use narrows_common::Time;

    #[test]
    fn every_user_has_an_update_at_every_interval() {
        let config =
            Config { size_bytes: 80, interval: Duration::from_ms(50), users: 3, messages: Some(8) };
        let at = |ms| (Time::ZERO + Duration::from_ms(ms), 80);
        assert_eq!(
            written(&mut config.application(), Time::ZERO, Time::MAX, 1),
            [at(0), at(0), at(0), at(50), at(50), at(50), at(100), at(100)]
        );
    }
}
