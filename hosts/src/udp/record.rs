//! What there is to know about a sender of datagrams.

use crate::tcp::api::{Class, Need, Parameter};
use schemars::JsonSchema;
use serde::Serialize;

/// What there is to know about a sender of datagrams, in the words of [`crate::cc::Variant`].
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[schemars(rename = "SenderRecord")]
pub struct Record {
    /// The name in a scenario.
    pub name: &'static str,
    /// One line on what it is.
    pub title: &'static str,
    /// Where it comes from.
    pub reference: &'static str,
    /// What it takes for congestion.
    pub class: Class,
    /// What the flow must have.
    pub needs: &'static [Need],
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// What of the source is not implemented.
    pub not_implemented: &'static [&'static str],
    /// Bytes of its own in front of each message.
    pub header_bytes: u32,
    /// It sends as the application writes, which must have a pace of its own.
    pub needs_pace: bool,
}
