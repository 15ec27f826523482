//! The record of a sender of datagrams.

use crate::api::{Class, Need, Parameter};
use schemars::JsonSchema;
use serde::Serialize;

/// The record of a sender of datagrams, with the fields of [`crate::cc::Variant`].
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[schemars(rename = "SenderRecord")]
pub struct Record {
    /// The name in a scenario.
    pub name: &'static str,
    /// A one-line description.
    pub title: &'static str,
    /// The source.
    pub reference: &'static str,
    /// The signal that it treats as congestion.
    pub class: Class,
    /// What it requires of the flow.
    pub needs: &'static [Need],
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// The parts of the source that are not implemented.
    pub not_implemented: &'static [&'static str],
    /// Bytes of its own header in front of each message.
    pub header_bytes: u32,
    /// True if it sends when the application writes, so the application must have a rate of its
    /// own.
    pub needs_pace: bool,
}
