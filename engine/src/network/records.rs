//! Moves what the nodes have recorded to the monitored ports' figures and to the tables.

use narrows_common::{Duration, Packet, Time};
use narrows_hosts::FlowReport;
use narrows_queueing::QueueRecord;

use super::Network;
use super::border::held_rows::HeldRow;
use super::nodes::{HostStack, MonitoredPort};
use crate::error::EngineError;
use crate::plan::Plan;
use crate::record::link_rows::LinkRow;
use crate::record::recorder::Recorder;
use crate::record::rows::CaptureRow;
use crate::record::telemetry_report::Report;

impl Network {
    /// Collects the nodes' records.
    ///
    /// # Errors
    /// If a table's writer has stopped.
    pub(crate) fn drain_records(&mut self) -> Result<(), EngineError> {
        for (index, node) in self.switches.enumerate() {
            record_queue(
                &mut self.monitored,
                &mut self.recorder,
                index,
                node.switch.queue_records(),
            );
        }
        self.hosts_with_records.sort_unstable();
        for index in self.hosts_with_records.drain(..) {
            let node = &mut self.hosts[index];
            node.has_records = false;
            if let HostStack::Narrows(host) = &mut node.stack {
                self.watched.handle_records(host.flow_records());
                self.recorder.handle_flows(host.flow_records().drain(..));
                self.recorder.handle_messages(host.message_records().drain(..));
            }
        }
        // The data path must not wait.
        self.drain_socket_hosts(false);
        if self.recorder.has_failed() { Err(EngineError::WriterStopped) } else { Ok(()) }
    }

    /// Collects the records of the hosts with the kernel's stack.
    pub(super) fn drain_socket_hosts(&mut self, is_to_wait: bool) {
        self.sockets.each(is_to_wait, |host| {
            self.watched.handle_records(host.flow_records());
            self.recorder.handle_flows(host.flow_records().drain(..));
            self.recorder.handle_messages(host.message_records().drain(..));
            self.progress.completed_flows += host.poll_completed();
        });
    }

    /// A flow's figures at one of its two hosts.
    pub(super) fn flow_report(&self, host: usize, flow: u32) -> FlowReport {
        let report = match &self.hosts[host].stack {
            HostStack::Narrows(host) => host.flow_report(flow),
            HostStack::Kernel(name) => self.sockets.flow_report(name, flow),
        };
        report.expect("the builder opened the flow")
    }

    /// The latest instant for a collection of rows up to `now`, and the next one.
    pub(crate) fn collections_around(&self, now: Time) -> (Time, Time) {
        let interval_ps = self.collection_interval.as_ps();
        let latest_ps = now.as_ps() / interval_ps * interval_ps;
        (Time::from_ps(latest_ps), Time::from_ps(latest_ps.saturating_add(interval_ps)))
    }

    /// A host sends or receives a packet.
    #[inline]
    pub(super) fn record_packet(&mut self, at: Time, host: usize, sent: bool, packet: &Packet) {
        match &mut self.border {
            None => self.recorder.handle_packet(at, host, sent, packet),
            Some(border) if border.wanted.capture => {
                border.keep(HeldRow::Capture(CaptureRow::new(at, host, sent, packet)));
            }
            Some(_) => {}
        }
    }

    /// A packet has entered a link with impairments.
    pub(super) fn record_link(&mut self, row: LinkRow) {
        match &mut self.border {
            None => self.recorder.handle_link(row),
            Some(border) if border.wanted.links => border.keep(HeldRow::Link(row)),
            Some(_) => {}
        }
    }

    /// A report has reached its collector.
    pub(super) fn record_report(&mut self, report: Report) {
        match &mut self.border {
            None => self.recorder.handle_report(report),
            Some(border) if border.wanted.packets => border.keep(HeldRow::Report(report)),
            Some(_) => {}
        }
    }
}

/// Takes the ledger rows of a switch into the figures of its ports, and into the table.
pub(super) fn record_queue(
    monitored: &mut [MonitoredPort],
    recorder: &mut Recorder,
    switch: usize,
    records: &mut Vec<QueueRecord>,
) {
    for port in monitored.iter_mut().filter(|port| port.switch == switch) {
        for record in records.iter().filter(|record| record.port == port.port) {
            port.figures.handle_record(record);
        }
    }
    recorder.handle_queue(switch as u16, records);
}

/// Packets of 1,500 bytes between two collections of rows, at the fastest port's rate.
const PACKETS_PER_COLLECTION: u64 = 512;

/// The time between two collections of rows in virtual time. Rows of several switches, or of
/// several hosts, are in the order of their collection, so it depends on nothing but the plan.
pub(super) fn collection_interval(plan: &Plan) -> Duration {
    let ports = plan.switches.iter().flat_map(|switch| &switch.config.ports);
    let rates = ports.filter_map(|port| port.rate_bps);
    let access = || plan.hosts.iter().map(|host| host.config.access.rate_bps).max();
    let fastest = rates.max().or_else(access).unwrap_or(1).max(1);
    let bits = PACKETS_PER_COLLECTION * 1_500 * 8;
    let interval = Duration::from_us(bits * 1_000_000 / fastest);
    interval.clamp(Duration::from_ms(1), Duration::from_ms(1_000))
}
