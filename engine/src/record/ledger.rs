//! The ledger of switches that run without a plan: `queue.parquet`, and the figures of every port.

use std::path::Path;

use narrows_common::{Rate, Time};
use narrows_queueing::{PortConfig, PortStatistics, QueueRecord};

use super::queue_figures::QueueFigures;
use super::recorder::Recorder;
use super::summary::BottleneckSummary;
use crate::error::EngineError;
use crate::plan::RecordPlan;

/// What was taken from a switch at one instant.
pub(crate) struct Taken {
    /// The instant, by the switch's clock.
    pub now: Time,
    /// The rows since the last time.
    pub records: Vec<QueueRecord>,
    /// The counts and the current rate of each port, in the order of the ports.
    pub ports: Vec<(PortStatistics, Option<Rate>)>,
}

/// A port's figures.
struct LedgerPort {
    switch: usize,
    port: u16,
    figures: QueueFigures,
    rate: Option<Rate>,
    counts: PortStatistics,
}

/// The ledger of one or more switches.
pub(crate) struct Ledger {
    recorder: Recorder,
    names: Vec<String>,
    ports: Vec<LedgerPort>,
    ends: Vec<Time>,
}

impl Ledger {
    /// Creates the table in `directory`, for switches with these names and ports.
    ///
    /// # Errors
    /// If the file can't be created.
    pub fn create(
        directory: &Path,
        switches: &[(String, Vec<PortConfig>)],
    ) -> Result<Ledger, EngineError> {
        let wanted = RecordPlan {
            queue: true,
            packets: false,
            flows: false,
            messages: false,
            capture: false,
            links: false,
        };
        let names = switches.iter().map(|(name, _)| name.as_str());
        let recorder = Recorder::create(directory, wanted, names)?;
        let port = |(switch, config): (usize, &PortConfig)| {
            let rate = config.rate_bps.map(Rate::from_bps);
            let figures = QueueFigures::new(rate, config.queues).along(config.trace.clone());
            let counts = PortStatistics::default();
            LedgerPort { switch, port: config.port, figures, rate, counts }
        };
        let numbered = switches.iter().enumerate();
        let each = numbered.flat_map(|(switch, (_, ports))| ports.iter().map(move |p| (switch, p)));
        Ok(Ledger {
            recorder,
            ports: each.map(port).collect(),
            names: switches.iter().map(|(name, _)| name.clone()).collect(),
            ends: vec![Time::ZERO; switches.len()],
        })
    }

    /// Takes in what a switch recorded.
    ///
    /// # Errors
    /// If the table's writer has stopped.
    pub fn handle(&mut self, switch: usize, mut taken: Taken) -> Result<(), EngineError> {
        let ports = self.ports.iter_mut().filter(|port| port.switch == switch);
        for (port, (counts, rate)) in ports.zip(taken.ports) {
            for record in taken.records.iter().filter(|record| record.port == port.port) {
                port.figures.handle_record(record);
            }
            if let Some(now_rate) = rate
                && rate != port.rate
            {
                port.figures.handle_rate(taken.now, now_rate);
                port.rate = rate;
            }
            port.counts = counts;
        }
        self.ends[switch] = taken.now;
        self.recorder.handle_queue(switch as u16, &mut taken.records);
        if self.recorder.has_failed() { Err(EngineError::WriterStopped) } else { Ok(()) }
    }

    /// Closes the table. Returns each port's figures until its switch was last read, by switch and
    /// port in the order given.
    ///
    /// # Errors
    /// If a write to disk failed.
    pub fn finish(self) -> Result<Vec<BottleneckSummary>, EngineError> {
        self.recorder.close()?;
        let ports = self.ports.into_iter();
        Ok(ports
            .map(|one| {
                let name = self.names[one.switch].clone();
                let figures = one.figures.finish(self.ends[one.switch]);
                BottleneckSummary::new(name, one.port, figures, &one.counts)
            })
            .collect())
    }
}
