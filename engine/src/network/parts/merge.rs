//! The rows of all parts, in the order of a whole network.

use narrows_common::Time;

use crate::error::EngineError;
use crate::network::Network;
use crate::network::border::held_rows::{Batch, HeldRow, HostRows};
use crate::network::border::messages::Sent;
use crate::network::nodes::HostStack;
use crate::network::records::record_queue;
use crate::network::sources::Source;

impl Network {
    /// The first packet that hosts of another part have sent, if it comes before the next event:
    /// its instant and that part.
    #[inline]
    pub(super) fn first_sent(&mut self, now: Time, source: Source) -> Option<(Time, usize)> {
        let ((at, rank), part) = self.border.as_ref()?.first_sent()?;
        let is_first = at < now || at == now && rank < self.rank_of(now, source);
        is_first.then_some((at, part))
    }

    /// Puts that packet on its host's access link.
    pub(super) fn take_sent(&mut self, at: Time, part: usize) {
        let sent = self.border.as_mut().and_then(|border| border.with[part].sent.pop_front());
        if let Some(Sent { host, packet, .. }) = sent {
            self.enter_access(at, host as usize, packet);
        }
    }

    /// Takes the rows of a part since the last collection.
    pub(super) fn take_rows(&mut self, until: Time) -> Batch {
        let mut batch = Batch { until, ..Batch::default() };
        for (index, node) in self.switches.enumerate() {
            let records = node.switch.queue_records();
            if !records.is_empty() {
                let room = Vec::with_capacity(records.len());
                batch.queue.push((index, std::mem::replace(records, room)));
            }
        }
        self.hosts_with_records.sort_unstable();
        for host in self.hosts_with_records.drain(..) {
            let node = &mut self.hosts[host];
            node.has_records = false;
            if let HostStack::Narrows(stack) = &mut node.stack {
                let rows = HostRows {
                    host,
                    flows: stack.flow_records().len(),
                    messages: stack.message_records().len(),
                };
                batch.flows.append(stack.flow_records());
                batch.messages.append(stack.message_records());
                batch.hosts.push(rows);
            }
        }
        if let Some(border) = &mut self.border {
            batch.events = std::mem::take(&mut border.rows);
            batch.rates = std::mem::take(&mut border.rates);
        }
        batch
    }

    /// Records the batches of one collection, as a whole network does.
    ///
    /// # Errors
    /// If a table's writer has stopped.
    pub(crate) fn record(&mut self, mut batches: Vec<Batch>) -> Result<(), EngineError> {
        for (at, port, rate) in batches.iter_mut().flat_map(|batch| batch.rates.drain(..)) {
            let ports = self.monitored.iter_mut();
            let of_port = ports.filter(|monitored| (monitored.switch, monitored.port) == port);
            of_port.for_each(|monitored| monitored.figures.handle_rate(at, rate));
        }
        let mut queue: Vec<_> =
            batches.iter_mut().flat_map(|batch| batch.queue.drain(..)).collect();
        queue.sort_by_key(|&(switch, _)| switch);
        for (switch, mut records) in queue {
            record_queue(&mut self.monitored, &mut self.recorder, switch, &mut records);
        }
        self.record_hosts(&mut batches);
        let mut events: Vec<_> =
            batches.iter_mut().flat_map(|batch| batch.events.drain(..)).collect();
        events.sort_by_key(|&(key, _)| key);
        for (_, row) in events {
            match row {
                HeldRow::Capture(row) => self.recorder.handle_capture(row),
                HeldRow::Link(row) => self.recorder.handle_link(row),
                HeldRow::Report(report) => self.recorder.handle_report(report),
            }
        }
        if self.recorder.has_failed() { Err(EngineError::WriterStopped) } else { Ok(()) }
    }

    /// Records the rows of hosts, by the order of the hosts.
    fn record_hosts(&mut self, batches: &mut [Batch]) {
        let mut hosts: Vec<(HostRows, usize)> = Vec::new();
        for (number, batch) in batches.iter().enumerate() {
            hosts.extend(batch.hosts.iter().map(|&rows| (rows, number)));
        }
        hosts.sort_by_key(|(rows, _)| rows.host);
        let mut rows: Vec<_> = batches
            .iter_mut()
            .map(|batch| (batch.flows.drain(..), batch.messages.drain(..)))
            .collect();
        for (HostRows { flows: flow_rows, messages: message_rows, .. }, number) in hosts {
            let (flows, messages) = &mut rows[number];
            self.recorder.handle_flows(flows.take(flow_rows));
            self.recorder.handle_messages(messages.take(message_rows));
        }
    }
}
