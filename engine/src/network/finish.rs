//! The end of a run: closes the tables and computes the summary.

use std::path::Path;

use narrows_common::Time;

use super::Network;
use super::impaired_links::ImpairedLink;
use super::nodes::{FlowNode, HostStack, MonitoredPort};
use crate::error::EngineError;
use crate::record::flow_summary::{FlowSummary, Stack};
use crate::record::instrument::Instrument;
use crate::record::link_rows::{LinkDirection, LinkSummary};
use crate::record::summary::{BottleneckSummary, EngineSummary, RunFigures, Summary};

impl Network {
    /// Closes the tables of a stopped run, and writes its summary into `directory`.
    ///
    /// # Errors
    /// Why the run stopped, or an error of the disk.
    pub(crate) fn finish(
        mut self,
        stopped: Result<Time, EngineError>,
        until_complete: bool,
        instrument: Option<Instrument>,
        directory: &Path,
    ) -> Result<Summary, EngineError> {
        let stopped = match stopped {
            Ok(stopped) => stopped,
            Err(error) => {
                // Once the caller has the error, nothing may write to the directory.
                let closed = self.recorder.close().err().unwrap_or(EngineError::WriterStopped);
                return Err(if matches!(error, EngineError::WriterStopped) {
                    closed
                } else {
                    error
                });
            }
        };
        self.end_delivery();
        self.drain_socket_hosts(true);
        let figures = self.figures(stopped, until_complete);
        self.recorder.close()?;
        let summary = Summary::new(figures, &self.limits, instrument);
        let path = directory.join("summary.json");
        let text = serde_json::to_string_pretty(&summary).expect("a summary is plain data");
        std::fs::write(&path, text + "\n")
            .map_err(|error| EngineError::Write(format!("{}: {error}", path.display())))?;
        Ok(summary)
    }

    /// The figures of the nodes in this process at the end of a run.
    fn figures(&mut self, end: Time, until_complete: bool) -> RunFigures {
        let has_switches = self.has_switches();
        let is_here = |flow: &&FlowNode| self.has_host(flow.from) || self.has_host(flow.to);
        let flows = self.flows.iter().filter(is_here).map(|flow| self.flow_summary(flow, end));
        let flows = flows.collect();
        let completed = self.progress.completed_flows.min(self.finite_flows);
        let unfinished = (self.finite_flows - completed, self.finite_flows);
        let nodes = self.switches.iter().filter(|_| has_switches);
        let switches = nodes.map(|node| (node.name.to_string(), node.switch.statistics().into()));
        let switches = switches.collect();
        let links = self.access.iter().map(|node| &node.link);
        let access_drops = links.map(|link| link.up().drops() + link.down().drops()).sum();
        let links = self.link_summaries(end);
        let monitored = std::mem::take(&mut self.monitored).into_iter().filter(|_| has_switches);
        RunFigures {
            end,
            unfinished: until_complete.then_some(unfinished),
            ports: monitored.map(|port| self.bottleneck_summary(port, end)).collect(),
            flows,
            switches,
            links,
            access_drops,
            bad_reports: self.bad_reports,
            misdelivered: self.misdelivered,
            engine: EngineSummary { events: self.progress.events, packets: self.progress.packets },
            report_lag_ns: self.report_lag_ns,
        }
    }

    /// The packets of all link directions with impairments in this process.
    fn link_summaries(&mut self, end: Time) -> Vec<LinkSummary> {
        let has_switches = self.has_switches();
        let mut links = std::mem::take(&mut self.impaired_links);
        let is_here = |link: &&mut ImpairedLink| match (&self.wire_map, link.towards) {
            (Some(wires), LinkDirection::In) => wires.has_hosts(link.switch, link.port),
            (_, LinkDirection::Out) => has_switches,
            (None, _) => true,
        };
        let summary = |link: &mut ImpairedLink| LinkSummary {
            switch: self.switches[link.switch].name.to_string(),
            port: link.port,
            direction: link.towards,
            counts: link.direction.counts(end),
        };
        links.iter_mut().filter(is_here).map(summary).collect()
    }

    fn flow_summary(&self, flow: &FlowNode, end: Time) -> FlowSummary {
        let config = &flow.config;
        let sender = self.flow_report(flow.from, config.id);
        let receiver = self.flow_report(flow.to, config.id);
        let stack = match self.hosts[flow.from].stack {
            HostStack::Narrows(_) => Stack::Narrows,
            HostStack::Kernel(_) => Stack::Kernel,
        };
        FlowSummary::new(config, sender, receiver, stack, end)
    }

    fn bottleneck_summary(&self, monitored: MonitoredPort, end: Time) -> BottleneckSummary {
        let MonitoredPort { switch, port, figures } = monitored;
        let node = &self.switches[switch];
        let counts = node.switch.port_statistics(port).expect("the builder checked the port");
        BottleneckSummary::new(node.name.to_string(), port, figures.finish(end), &counts)
    }
}
