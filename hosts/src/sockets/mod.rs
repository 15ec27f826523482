//! A host whose TCP and UDP are the kernel's: its applications, and what its sockets report.
//!
//! [`SocketHost`] is to sockets what [`Host`](crate::Host) is to packets. Whoever has the sockets
//! says what happens to them (`handle_*`) and asks what to do with them (`poll_*`); workloads,
//! messages, tables and reports are those of our own TCP and datagrams.

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

/// The applications on a host's sockets, each known by its flow's number.
#[derive(Debug)]
pub struct SocketHost {
    /// Seeds the applications' random numbers as the host in virtual time does.
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

    /// Adds the sending or the receiving end of a flow, whose path takes `least_delay` at least.
    ///
    /// # Errors
    /// If the application's values are wrong, or nobody but our own hosts can carry it.
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
    /// When this host does not have the flow, as all that follows.
    pub fn end(&mut self, flow: u32) -> &mut SocketEnd {
        let index = self.index(flow);
        &mut self.ends[index]
    }

    /// The connection is established, or datagrams may come and go.
    pub fn handle_open(&mut self, now: Time, flow: u32) {
        self.end(flow).handle_open(now);
    }

    /// Bytes came in order, none of them: the peer writes no more; or a datagram came.
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

    /// What the kernel knows of the connection now; a row of it where one is due.
    pub fn handle_info(&mut self, now: Time, flow: u32, info: &TcpInfo) {
        let record = self.end(flow).handle_info(now, info);
        self.flow_records.extend(record);
        self.count_completed(flow);
    }

    fn count_completed(&mut self, flow: u32) {
        let is_newly_complete = self.end(flow).poll_completed();
        self.newly_complete += usize::from(is_newly_complete);
    }

    /// Does what is due at `now`.
    pub fn handle_timeout(&mut self, now: Time) {
        for end in &mut self.ends {
            end.handle_timeout(now);
            self.newly_complete += usize::from(end.poll_completed());
        }
    }

    /// When [`SocketHost::handle_timeout`] is to be called.
    pub fn poll_timeout(&self) -> Option<Time> {
        self.ends.iter().filter_map(SocketEnd::poll_timeout).min()
    }

    /// The flows that have something for their sockets, or are to be shut down.
    pub fn poll_ready(&self) -> Vec<u32> {
        let ready = self.ends.iter().filter(|end| end.is_ready());
        ready.map(SocketEnd::flow).collect()
    }

    /// The rows recorded since they were last drained.
    pub fn flow_records(&mut self) -> &mut Vec<FlowRecord> {
        &mut self.flow_records
    }

    /// The messages read since they were last drained.
    pub fn message_records(&mut self) -> &mut Vec<MessageRecord> {
        &mut self.message_records
    }

    /// How many sending flows completed, or were reset, since the last call.
    pub fn poll_completed(&mut self) -> usize {
        core::mem::take(&mut self.newly_complete)
    }

    /// What a flow has come to; `None` when this host does not have it.
    pub fn flow_report(&self, flow: u32) -> Option<FlowReport> {
        self.by_flow.get(&flow).map(|&index| self.ends[index].report())
    }
}
