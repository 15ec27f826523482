//! A host that uses the kernel's TCP and UDP: its applications, and the reports of its sockets.
//!
//! [`SocketHost`] is for sockets what [`Host`](crate::Host) is for packets. The owner of the
//! sockets reports their events (`handle_*`) and asks what to do (`poll_*`). Workloads, messages,
//! tables and reports are the same as for our own TCP and datagrams.

mod connection;
mod end;
mod info;
mod probes;
mod stream;

use crate::app::driver;
use crate::config::{FlowConfig, FlowError};
use crate::report::FlowReport;
pub use end::SocketEnd;
pub use info::{CongestionState, TcpInfo};
use narrows_common::record::{FlowRecord, MessageRecord};
use narrows_common::{Duration, Rng, Time};
use std::collections::BTreeMap;
pub use stream::SocketStream;

/// The applications on a host's sockets, each identified by its flow's number.
#[derive(Debug)]
pub struct SocketHost {
    /// The seed of the applications' random numbers, equal to that of the host in virtual time.
    traffic_seed: u64,
    ends: Vec<SocketEnd>,
    by_flow: BTreeMap<u32, usize>,
    flow_records: Vec<FlowRecord>,
    message_records: Vec<MessageRecord>,
    newly_complete: usize,
}

impl SocketHost {
    /// A host without flows.
    pub fn new(mut rng: Rng) -> Self {
        SocketHost {
            traffic_seed: rng.u64(),
            ends: Vec::new(),
            by_flow: BTreeMap::new(),
            flow_records: Vec::new(),
            message_records: Vec::new(),
            newly_complete: 0,
        }
    }

    /// Adds the sending or the receiving end of a flow with a path delay of at least `least_delay`.
    ///
    /// # Errors
    /// If the application's values are wrong, or only our own hosts can carry the flow.
    pub fn add(
        &mut self,
        flow: &FlowConfig,
        is_sender: bool,
        least_delay: Duration,
    ) -> Result<(), FlowError> {
        flow.app.check().map_err(|error| FlowError::App { flow: flow.id, error })?;
        self.by_flow.insert(flow.id, self.ends.len());
        self.ends.push(SocketEnd::new(flow, is_sender, self.traffic_seed, least_delay)?);
        Ok(())
    }

    fn index(&self, flow: u32) -> usize {
        *self.by_flow.get(&flow).expect("the flow was added")
    }

    /// A flow's end.
    ///
    /// # Panics
    /// If this host does not have the flow; the same applies to all following methods.
    pub fn end(&mut self, flow: u32) -> &mut SocketEnd {
        let index = self.index(flow);
        &mut self.ends[index]
    }

    /// The connection is established, or datagrams may start.
    pub fn handle_open(&mut self, now: Time, flow: u32) {
        self.end(flow).handle_open(now);
    }

    /// Bytes arrived in order, or a datagram. Empty bytes mean that the peer has finished writing.
    pub fn handle_arrived(&mut self, now: Time, flow: u32, bytes: &[u8]) {
        let index = self.index(flow);
        let before = self.message_records.len();
        self.ends[index].handle_arrived(now, bytes, &mut self.message_records);
        driver::forward_messages(&mut self.ends, index, &mut self.message_records, before);
    }

    /// The connection ended with an error.
    pub fn handle_reset(&mut self, flow: u32) {
        self.end(flow).handle_reset();
        self.count_completed(flow);
    }

    /// Handles a report of the kernel on the connection; adds a row if one is due.
    pub fn handle_info(&mut self, now: Time, flow: u32, info: &TcpInfo) {
        let record = self.end(flow).handle_info(now, info);
        self.flow_records.extend(record);
        self.count_completed(flow);
    }

    fn count_completed(&mut self, flow: u32) {
        let is_newly_complete = self.end(flow).poll_completed();
        self.newly_complete += usize::from(is_newly_complete);
    }

    /// Handles everything due at `now`.
    pub fn handle_timeout(&mut self, now: Time) {
        for end in &mut self.ends {
            end.handle_timeout(now);
            self.newly_complete += usize::from(end.poll_completed());
        }
    }

    /// When to call [`SocketHost::handle_timeout`].
    pub fn poll_timeout(&self) -> Option<Time> {
        self.ends.iter().filter_map(SocketEnd::poll_timeout).min()
    }

    /// The flows that have data for their sockets, or must be shut down.
    pub fn poll_ready(&self) -> Vec<u32> {
        let ready = self.ends.iter().filter(|end| end.is_ready());
        ready.map(SocketEnd::flow).collect()
    }

    /// The rows recorded since the caller last took them.
    pub fn flow_records(&mut self) -> &mut Vec<FlowRecord> {
        &mut self.flow_records
    }

    /// The messages read since the caller last took them.
    pub fn message_records(&mut self) -> &mut Vec<MessageRecord> {
        &mut self.message_records
    }

    /// The number of sending flows that completed, or were reset, since the last call.
    pub fn poll_completed(&mut self) -> usize {
        core::mem::take(&mut self.newly_complete)
    }

    /// A flow's figures; `None` if this host does not have the flow.
    pub fn flow_report(&self, flow: u32) -> Option<FlowReport> {
        self.by_flow.get(&flow).map(|&index| self.ends[index].report())
    }
}
