//! The rows of a part, until those of all parts can be put in order.

use narrows_common::record::{FlowRecord, MessageRecord};
use narrows_common::{Rate, Time};
use narrows_queueing::QueueRecord;

use super::order::Key;
use crate::record::link_rows::LinkRow;
use crate::record::rows::CaptureRow;
use crate::record::telemetry_report::Report;

/// A row that an event writes at once.
#[derive(Debug)]
pub(crate) enum HeldRow {
    Capture(CaptureRow),
    Link(LinkRow),
    Report(Report),
}

/// The rows of a host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostRows {
    pub host: usize,
    pub flows: usize,
    pub messages: usize,
}

/// The rows of a part between two collections.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    /// The instant of the collection.
    pub until: Time,
    /// A switch, and its ledger rows.
    pub queue: Vec<(usize, Vec<QueueRecord>)>,
    /// The number of rows of each host in the next two.
    pub hosts: Vec<HostRows>,
    pub flows: Vec<FlowRecord>,
    pub messages: Vec<MessageRecord>,
    /// Rows by the order of their events.
    pub events: Vec<(Key, HeldRow)>,
    /// Rates that a controller set: when, the switch, its port.
    pub rates: Vec<(Time, (usize, u16), Rate)>,
}

impl Batch {
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
            && self.hosts.is_empty()
            && self.events.is_empty()
            && self.rates.is_empty()
    }
}
