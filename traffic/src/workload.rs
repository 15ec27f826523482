//! The interface of every workload: a record, and values that build an application.

use crate::application::Application;
use crate::error::AppError;
use crate::key::Key;
use core::fmt;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A workload with a scenario's values.
pub trait Workload: fmt::Debug + Send + Sync {
    /// Its record.
    fn record(&self) -> &'static WorkloadRecord;

    /// Checks the values.
    ///
    /// # Errors
    /// The first value out of range.
    fn check(&self) -> Result<(), AppError>;

    /// Builds the application. The caller has checked the values.
    fn build(&self) -> Box<dyn Application>;

    /// True if the application will end.
    fn is_finite(&self) -> bool;

    /// The messages that a message replaces; `None` if messages replace nothing.
    fn replaces(&self) -> Option<Replaces> {
        None
    }

    /// The receiving end's reaction to a message; `None` for no reaction.
    fn reaction(&self) -> Option<Reaction> {
        None
    }
}

/// A workload's record, for scenario checks, help, documentation and tests.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct WorkloadRecord {
    /// The name in a scenario's `kind`.
    pub name: &'static str,
    /// A one-line description.
    pub title: &'static str,
    /// The source.
    pub reference: &'static str,
    /// Its keys in a scenario.
    pub keys: &'static [Key],
    /// True if it writes messages rather than a plain stream.
    pub has_messages: bool,
    /// True if the receiving end writes too, so the flow needs a stream in both directions.
    pub answers: bool,
    /// Its values in a plan, without `kind`.
    #[serde(skip)]
    pub values: WorkloadValues,
}

/// Reads and describes a workload's values in a plan.
#[derive(Clone, Copy, Debug)]
pub struct WorkloadValues {
    /// Reads them.
    pub read: fn(Value) -> serde_json::Result<Box<dyn Workload>>,
    /// Their JSON Schema.
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

/// The earlier messages that a message replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replaces {
    /// Those of its user; the users take turns.
    InTurn {
        /// The number of users.
        users: u32,
    },
    /// Those with its origin ([`message::Header::origin`]).
    ByOrigin,
}

/// What the receiving end of a flow does with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reaction {
    /// Answers on the same connection, with the time at which the request was written.
    Respond {
        /// Length of the answer.
        length_bytes: u32,
    },
    /// Forwards the message over the other connections of the same group to its host.
    SendOn {
        /// The group's number.
        group: u32,
    },
}
