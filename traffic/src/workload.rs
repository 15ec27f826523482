//! What every workload has: a record, and values that become an application.

use crate::application::Application;
use crate::error::AppError;
use crate::key::Key;
use core::fmt;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A workload with the values that a scenario gives it.
pub trait Workload: fmt::Debug + Send + Sync {
    /// What there is to know about it.
    fn record(&self) -> &'static WorkloadRecord;

    /// Checks the values.
    ///
    /// # Errors
    /// The first that is out of range.
    fn check(&self) -> Result<(), AppError>;

    /// The application, before its first write. The values are to be checked before.
    fn build(&self) -> Box<dyn Application>;

    /// The application will have written its last byte some day.
    fn is_finite(&self) -> bool;

    /// What a message replaces; `None` where messages replace nothing.
    fn replaces(&self) -> Option<Replaces> {
        None
    }

    /// What the receiving end writes when it has read a message; `None`: nothing.
    fn reaction(&self) -> Option<Reaction> {
        None
    }
}

/// What there is to know about a workload, for scenario checks, help, docs and tests.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct WorkloadRecord {
    /// The name in a scenario's `kind`.
    pub name: &'static str,
    /// One line on what it does.
    pub title: &'static str,
    /// Where it comes from.
    pub reference: &'static str,
    /// What a scenario may say about it.
    pub keys: &'static [Key],
    /// It writes messages, not one stream without any.
    pub has_messages: bool,
    /// The receiving end writes too, which takes a stream both ways.
    pub answers: bool,
    /// Its values in a plan; `kind` is not among them.
    #[serde(skip)]
    pub values: WorkloadValues,
}

/// What a plan's keys are read as.
#[derive(Clone, Copy, Debug)]
pub struct WorkloadValues {
    /// Reads them.
    pub read: fn(Value) -> serde_json::Result<Box<dyn Workload>>,
    /// Which there are, as JSON Schema.
    pub schema: fn(&mut SchemaGenerator) -> Schema,
}

/// The values of a workload, for [`WorkloadRecord::values`].
pub(crate) const fn values<W: Workload + DeserializeOwned + JsonSchema + 'static>() -> WorkloadValues
{
    WorkloadValues { read: read::<W>, schema: W::json_schema }
}

fn read<W: Workload + DeserializeOwned + 'static>(
    keys: Value,
) -> serde_json::Result<Box<dyn Workload>> {
    serde_json::from_value::<W>(keys).map(|workload| Box::new(workload) as _)
}

/// Which earlier messages a message replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replaces {
    /// Those of its user; so many users' messages come in turn.
    InTurn {
        /// How many.
        users: u32,
    },
    /// Those of its origin ([`message::Header::origin`]).
    ByOrigin,
}

/// What the receiving end of a flow does with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reaction {
    /// It answers on the same connection, with the time at which the request was written.
    Respond {
        /// Length of the answer.
        length_bytes: u32,
    },
    /// It sends the message on over the other connections to its host of the same group.
    SendOn {
        /// The group's number.
        group: u32,
    },
}
