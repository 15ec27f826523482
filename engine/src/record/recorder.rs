//! Writes the engines' records to the run's tables; drops those of unwanted tables.

use std::fmt;
use std::path::Path;

use narrows_common::record::{FlowRecord, MessageRecord};
use narrows_common::{Packet, Time};
use narrows_queueing::QueueRecord;
use parquet::data_type::ByteArray;

use crate::error::EngineError;
use crate::plan::RecordPlan;
use crate::record::link_rows::LinkRow;
use crate::record::rows::{CaptureRow, EndTexts, QueueRow};
use crate::record::table::{Row, Table};
use crate::record::telemetry_report::Report;

/// Which rows of events a run records.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    pub capture: bool,
    pub links: bool,
    pub packets: bool,
}

/// A table, or nothing if it is unwanted.
struct Sink<R: Row>(Option<Table<R>>);

impl<R: Row> Default for Sink<R> {
    fn default() -> Self {
        Sink(None)
    }
}

impl<R: Row + Send + 'static> Sink<R> {
    fn create(
        directory: &Path,
        name: &str,
        wanted: bool,
        shared: R::Shared,
    ) -> Result<Self, EngineError> {
        let path = directory.join(name);
        let table = wanted
            .then(|| Table::create(&path, shared))
            .transpose()
            .map_err(|error| EngineError::Write(format!("{}: {error}", path.display())))?;
        Ok(Sink(table))
    }

    fn extend(&mut self, rows: impl IntoIterator<Item = R>) {
        if let Some(table) = &mut self.0 {
            table.extend(rows);
        }
    }

    fn has_failed(&self) -> bool {
        self.0.as_ref().is_some_and(Table::has_failed)
    }

    fn close(self) -> Result<(), EngineError> {
        self.0.map_or(Ok(()), |table| table.close().map_err(EngineError::from))
    }
}

/// The tables of a run; none by default.
#[derive(Default)]
pub struct Recorder {
    queue: Sink<QueueRow>,
    flows: Sink<FlowRecord>,
    packets: Sink<Report>,
    messages: Sink<MessageRecord>,
    capture: Sink<CaptureRow>,
    links: Sink<LinkRow>,
}

impl Recorder {
    /// Creates the wanted tables in `directory`, with the names of these switches.
    ///
    /// # Errors
    /// If a file can't be created.
    pub fn create<'a>(
        directory: &Path,
        wanted: RecordPlan,
        switches: impl Iterator<Item = &'a str>,
    ) -> Result<Self, EngineError> {
        let names: Vec<ByteArray> = switches.map(ByteArray::from).collect();
        Ok(Recorder {
            queue: Sink::create(directory, "queue.parquet", wanted.queue, names.clone())?,
            flows: Sink::create(directory, "flows.parquet", wanted.flows, ())?,
            packets: Sink::create(
                directory,
                "packets.parquet",
                wanted.packets,
                EndTexts::default(),
            )?,
            messages: Sink::create(directory, "messages.parquet", wanted.messages, ())?,
            capture: Sink::create(directory, "capture.parquet", wanted.capture, ())?,
            links: Sink::create(directory, "links.parquet", wanted.links, names)?,
        })
    }

    /// Takes all ledger rows of a switch.
    pub fn handle_queue(&mut self, switch: u16, records: &mut Vec<QueueRecord>) {
        self.queue.extend(records.drain(..).map(|record| QueueRow { switch, record }));
    }

    /// Takes flow rows of a host.
    pub fn handle_flows(&mut self, records: impl Iterator<Item = FlowRecord>) {
        self.flows.extend(records);
    }

    /// Takes messages of a host.
    pub fn handle_messages(&mut self, records: impl Iterator<Item = MessageRecord>) {
        self.messages.extend(records);
    }

    /// Takes a packet at a host.
    pub fn handle_capture(&mut self, row: CaptureRow) {
        self.capture.extend([row]);
    }

    /// Which rows of events the run records.
    pub(crate) fn wanted(&self) -> Wanted {
        Wanted {
            capture: self.capture.0.is_some(),
            links: self.links.0.is_some(),
            packets: self.packets.0.is_some(),
        }
    }

    /// Takes what became of a packet on a link.
    pub fn handle_link(&mut self, row: LinkRow) {
        self.links.extend([row]);
    }

    /// Takes a telemetry report.
    pub fn handle_report(&mut self, report: Report) {
        self.packets.extend([report]);
    }

    /// Takes a packet that a host sends or receives, if captures are wanted.
    #[inline]
    pub fn handle_packet(&mut self, at: Time, host: usize, sent: bool, packet: &Packet) {
        if let Some(table) = &mut self.capture.0 {
            table.extend([CaptureRow::new(at, host, sent, packet)]);
        }
    }

    /// True if a table can't be written any more; [`Recorder::close`] returns the reason.
    pub fn has_failed(&self) -> bool {
        self.queue.has_failed()
            || self.flows.has_failed()
            || self.packets.has_failed()
            || self.messages.has_failed()
            || self.capture.has_failed()
            || self.links.has_failed()
    }

    /// Writes the remaining rows and closes the files.
    ///
    /// # Errors
    /// If a write to disk failed.
    pub fn close(self) -> Result<(), EngineError> {
        self.queue.close()?;
        self.flows.close()?;
        self.packets.close()?;
        self.messages.close()?;
        self.capture.close()?;
        self.links.close()
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").finish_non_exhaustive()
    }
}
