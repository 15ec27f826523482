//! The keys of a model: their names, units and defaults in a scenario.

use schemars::JsonSchema;
use serde::Serialize;

/// The kind of a key's value in a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "KeyUnit")]
pub enum Unit {
    /// A bit rate, such as `"64kbps"`; bits per second in the plan.
    Rate,
    /// A size, such as `"80B"`; bytes in the plan.
    Size,
    /// A span of time, such as `"50ms"`; picoseconds in the plan.
    Duration,
    /// A whole number.
    Count,
    /// A number.
    Number,
    /// True or false.
    Flag,
    /// A word.
    Word,
    /// The path of a trace from the scenario's directory; `[picoseconds, bytes]` pairs in the plan.
    Trace,
}

/// A key of a model.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[schemars(rename = "WorkloadKey")]
pub struct Key {
    /// Its name in a scenario.
    pub name: &'static str,
    /// Its name in a plan, the unit last.
    pub plan: &'static str,
    /// The kind of its value.
    pub unit: Unit,
    /// Whether it must be given.
    pub is_required: bool,
    /// The default, as a scenario writes it; `None` if the key is required.
    pub default: Option<&'static str>,
    /// Its meaning.
    pub meaning: &'static str,
}

impl Key {
    /// This key with another name and meaning.
    pub const fn named(self, name: &'static str, meaning: &'static str) -> Key {
        Key { name, meaning, ..self }
    }

    /// This key with a default.
    pub const fn or(self, default: &'static str) -> Key {
        Key { default: Some(default), ..self }
    }

    /// This key, required.
    pub const fn required(self) -> Key {
        Key { is_required: true, default: None, ..self }
    }
}

/// A key with its name in a plan, `plan`.
pub const fn key(name: &'static str, plan: &'static str, unit: Unit, meaning: &'static str) -> Key {
    Key { name, plan, unit, is_required: false, default: None, meaning }
}

/// The size of a message.
pub const SIZE: Key =
    key("size", "size_bytes", Unit::Size, "length of a message, including its header");
/// A rate.
pub const RATE: Key = key("rate", "rate_bps", Unit::Rate, "bit rate of the messages");
/// A time between messages.
pub const INTERVAL: Key =
    key("interval", "interval_ps", Unit::Duration, "time between two messages");
/// The number of messages after which a model ends.
pub const MESSAGES: Key =
    key("messages", "messages", Unit::Count, "messages to write").or("without end");
