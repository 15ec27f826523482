//! Moves what the nodes have recorded to the monitored ports' figures and to the tables.

use narrows_hosts::FlowReport;

use super::Network;
use super::nodes::HostStack;
use crate::error::EngineError;

impl Network {
    /// Collects the nodes' records.
    ///
    /// # Errors
    /// If a table's writer has stopped.
    pub(crate) fn drain_records(&mut self) -> Result<(), EngineError> {
        for (index, node) in self.switches.iter_mut().enumerate() {
            let records = node.switch.queue_records();
            for monitored in self.monitored.iter_mut().filter(|port| port.switch == index) {
                for record in records.iter().filter(|record| record.port == monitored.port) {
                    monitored.figures.handle_record(record);
                }
            }
            self.recorder.handle_queue(index as u16, records);
        }
        self.hosts_with_records.sort_unstable();
        for index in self.hosts_with_records.drain(..) {
            let node = &mut self.hosts[index];
            node.has_records = false;
            if let HostStack::Narrows(host) = &mut node.stack {
                self.watched.handle_records(host.flow_records());
                self.recorder.handle_flows(host.flow_records());
                self.recorder.handle_messages(host.message_records());
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
            self.recorder.handle_flows(host.flow_records());
            self.recorder.handle_messages(host.message_records());
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
}
