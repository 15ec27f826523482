//! What became of packets on links with impairments: a row per packet, and their counts.

use bytes::Bytes;
use narrows_common::{Duration, Time};
use narrows_queueing::impairments::ImpairmentCounts;
use parquet::data_type::ByteArray;
use schemars::JsonSchema;
use serde::Serialize;

use super::table::{Column, Row};
use super::table_schema::{ColumnKind, ColumnSchema, TableSchema, table};

/// The direction of a link, seen from a switch's port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "PortDirection")]
pub enum LinkDirection {
    /// From the port.
    Out,
    /// To the port.
    In,
}

impl LinkDirection {
    /// `out` or `in`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            LinkDirection::Out => "out",
            LinkDirection::In => "in",
        }
    }
}

/// What became of a packet.
#[derive(Clone, Copy, Debug)]
pub enum LinkEvent {
    /// It was lost.
    Drop,
    /// It arrives at the far end.
    Deliver {
        /// It is the copy of a packet.
        is_copy: bool,
        /// It skipped the delay.
        skipped: bool,
    },
}

impl LinkEvent {
    fn name(self) -> &'static str {
        match self {
            LinkEvent::Drop => "drop",
            LinkEvent::Deliver { .. } => "deliver",
        }
    }

    fn reason(self) -> &'static str {
        match self {
            LinkEvent::Drop => "gemodel",
            LinkEvent::Deliver { is_copy: true, skipped: true } => "duplicate,reorder",
            LinkEvent::Deliver { is_copy: true, skipped: false } => "duplicate",
            LinkEvent::Deliver { is_copy: false, skipped: true } => "reorder",
            LinkEvent::Deliver { is_copy: false, skipped: false } => "",
        }
    }
}

/// A packet, or its copy, on a link.
#[derive(Clone, Copy, Debug)]
pub struct LinkRow {
    /// When it entered the link.
    pub at: Time,
    /// Which switch: the index of its name.
    pub switch: u16,
    /// The switch's port at one end.
    pub port: u16,
    /// Which direction.
    pub towards: LinkDirection,
    /// Its number on the link direction.
    pub packet: u64,
    /// Its flow.
    pub flow: u32,
    /// Its length.
    pub length_bytes: u32,
    /// What became of it.
    pub event: LinkEvent,
    /// How long it takes to the far end, unless it is lost.
    pub delay: Option<Duration>,
}

fn text(words: &'static str) -> ByteArray {
    ByteArray::from(Bytes::from_static(words.as_bytes()))
}

table! {
    /// What links did to packets: one row for each packet, and for each copy of one, that entered a
    /// link with burst loss, duplication, reordering, jitter or a changing delay.
    "links": LinkRow, Vec<ByteArray>, |row, names|
    /// When the packet entered the link, since the run began: the end of its transmission.
    time_ps: I64 = row.at.as_ps() as i64,
    /// The name of a switch at the link.
    switch: Text repeating = names[usize::from(row.switch)].clone(),
    /// The port that the link is at.
    port: I32 repeating = row.port.into(),
    /// `out`, from the port, or `in`, to it.
    direction: Text repeating = text(row.towards.name()),
    /// The packet's number on this direction of the link, from 0; a copy has its packet's.
    packet: I64 = row.packet as i64,
    /// The flow's number; 0 if the packet belongs to none.
    flow: I32 = row.flow as i32,
    /// The length of its Ethernet frame, without frame check sequence.
    length_bytes: I32 repeating = row.length_bytes as i32,
    /// `deliver` or `drop`.
    event: Text repeating = text(row.event.name()),
    /// `gemodel` for a drop by burst loss, `duplicate` for a copy, `reorder` for a packet that
    /// skipped the delay, `duplicate,reorder` for such a copy; else empty.
    reason: Text repeating = text(row.event.reason()),
    /// From `time_ps` to the arrival at the far end; null if the packet is lost.
    delay_ps: OptionalI64 = row.delay.map(|delay| delay.as_ps() as i64),
}

/// The packets of a link direction with impairments. Received and duplicated packets are the
/// delivered, the lost and those in flight.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct LinkSummary {
    /// The name of a switch at the link.
    pub switch: String,
    /// The port that the link is at.
    pub port: u16,
    /// From the port, or to it.
    pub direction: LinkDirection,
    #[serde(flatten)]
    pub counts: ImpairmentCounts,
}
