//! Where the engines' records go: to the run's tables, or nowhere when a table is not wanted.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use narrows_common::record::{FlowRecord, MessageRecord, QueueRecord};
use parquet::data_type::ByteArray;

use crate::EngineError;
use crate::collector::Report;
use crate::io::rows::QueueRow;
use crate::io::table::{Row, Table};
use crate::plan::RecordPlan;

/// A table's rows that are not on disk yet.
struct Sink<R: Row> {
    rows: Vec<R>,
    table: Option<Table<R>>,
}

impl<R: Row> Sink<R> {
    fn create(directory: &Path, name: &str, wanted: bool) -> Result<Self, EngineError> {
        let path = directory.join(name);
        let table = wanted
            .then(|| Table::create(&path))
            .transpose()
            .map_err(|error| EngineError::Write(format!("{}: {error}", path.display())))?;
        Ok(Sink { rows: Vec::new(), table })
    }

    fn write(&mut self) -> Result<(), EngineError> {
        match &mut self.table {
            Some(table) => table.drain(&mut self.rows).map_err(EngineError::from),
            None => {
                self.rows.clear();
                Ok(())
            }
        }
    }

    fn close(self) -> Result<(), EngineError> {
        self.table.map_or(Ok(()), |table| table.close(&self.rows).map_err(EngineError::from))
    }
}

/// The four tables of a run.
pub struct Recorder {
    queue: Sink<QueueRow>,
    flows: Sink<FlowRecord>,
    packets: Sink<Report>,
    messages: Sink<MessageRecord>,
}

impl Recorder {
    /// Creates the wanted tables in `directory`.
    ///
    /// # Errors
    /// When a file can't be created.
    pub fn create(directory: &Path, wanted: RecordPlan) -> Result<Self, EngineError> {
        Ok(Recorder {
            queue: Sink::create(directory, "queue.parquet", wanted.queue)?,
            flows: Sink::create(directory, "flows.parquet", wanted.flows)?,
            packets: Sink::create(directory, "packets.parquet", wanted.packets)?,
            messages: Sink::create(directory, "messages.parquet", wanted.messages)?,
        })
    }

    /// Takes a switch's ledger rows and leaves it none.
    pub fn handle_queue(&mut self, switch: &Arc<str>, records: &mut Vec<QueueRecord>) {
        if self.queue.table.is_some() && !records.is_empty() {
            let switch = ByteArray::from(&**switch);
            let rows = records.iter().map(|&record| QueueRow { switch: switch.clone(), record });
            self.queue.rows.extend(rows);
        }
        records.clear();
    }

    /// Takes a host's rows of its flows and leaves it none.
    pub fn handle_flows(&mut self, records: &mut Vec<FlowRecord>) {
        self.flows.rows.append(records);
    }

    /// Takes a host's messages and leaves it none.
    pub fn handle_messages(&mut self, records: &mut Vec<MessageRecord>) {
        self.messages.rows.append(records);
    }

    /// Takes a telemetry report.
    pub fn handle_report(&mut self, report: Report) {
        self.packets.rows.push(report);
    }

    /// Writes what makes a whole row group.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn write(&mut self) -> Result<(), EngineError> {
        self.queue.write()?;
        self.flows.write()?;
        self.packets.write()?;
        self.messages.write()
    }

    /// Writes the rest and closes the files.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn close(self) -> Result<(), EngineError> {
        self.queue.close()?;
        self.flows.close()?;
        self.packets.close()?;
        self.messages.close()
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").finish_non_exhaustive()
    }
}
