//! The engine of a virtual-time run: plan in, Parquet tables and a summary out.
//!
//! ```text
//! plan ─▶ build ─▶ Network { switches, hosts, links, schedule } ─▶ io (tables)
//!                     │                                        └▶ summary
//!                     └ one loop: what is due first acts, what it sends is carried on
//! ```

pub mod mailbox;
pub mod network;
pub mod plan;
#[cfg(feature = "python")]
mod python;
pub mod real_time;
mod record;

use std::collections::BTreeMap;
use std::path::Path;

use narrows_common::Time;
use narrows_switch::Switch;
use thiserror::Error;

pub use network::application_messages::{ApplicationMessage, MessageSource, application_messages};
use network::socket_hosts::SocketHosts;
pub use network::{Network, Progress};
pub use plan::Plan;
use real_time::Instrument;
pub use record::queue_figures::{Quantiles, QueueSummary};
pub use record::summary::Summary;
pub use record::telemetry_report::{Report, ReportError};

/// Why a run did not come to its end.
#[derive(Debug, Error)]
pub enum EngineError {
    /// The plan, or something it names, is wrong.
    #[error("{0}")]
    Plan(String),
    /// Who was to be met before the clock begins did not come.
    #[error("{0}")]
    Meet(String),
    /// DPDK or one of its devices refused.
    #[error(transparent)]
    Dpdk(#[from] narrows_dpdk::Error),
    /// A controller's event failed.
    #[error("{0}")]
    Event(String),
    /// A file can't be written.
    #[error("{0}")]
    Write(String),
    /// A table can't be written.
    #[error("writing a table: {0}")]
    Table(#[from] parquet::errors::ParquetError),
    /// A table's writer gave up; closing the tables says why.
    #[error("a table can't be written any more")]
    WriterStopped,
    /// The caller stopped it.
    #[error("stopped before its end")]
    Cancelled,
}

/// Runs a plan, writes its tables and `summary.json` into `directory`, and returns the summary.
///
/// `progress` is called every few thousand events and stops the run by returning false.
///
/// # Errors
/// See [`EngineError`].
pub fn run(
    plan_json: &str,
    directory: &Path,
    progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Summary, EngineError> {
    run_with(plan_json, directory, BTreeMap::new(), progress)
}

/// The same with switches that a controller has set up already: a switch that is among `ready`
/// by its name is taken as it is, and the plan's entries, sessions and registers of it are not
/// written.
///
/// # Errors
/// See [`EngineError`].
pub fn run_with(
    plan_json: &str,
    directory: &Path,
    ready: BTreeMap<String, Switch>,
    progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Summary, EngineError> {
    let plan = read_plan(plan_json)?;
    let (end, until_complete) = plan.end();
    let mut network = Network::build(plan, ready, SocketHosts::default(), directory)?;
    network.arm();
    let stopped = network.run(end, until_complete, progress);
    finish(network, stopped, until_complete, None, directory)
}

fn read_plan(json: &str) -> Result<Plan, EngineError> {
    serde_json::from_str(json).map_err(|error| EngineError::Plan(format!("plan: {error}")))
}

/// Closes the tables of a network that has stopped, and writes its summary.
fn finish(
    mut network: Network,
    stopped: Result<Time, EngineError>,
    until_complete: bool,
    instrument: Option<Instrument>,
    directory: &Path,
) -> Result<Summary, EngineError> {
    let stopped = match stopped {
        Ok(stopped) => stopped,
        Err(error) => {
            // Nothing may write to the directory any more when the caller has the error.
            let closed = network.close_tables();
            return Err(if matches!(error, EngineError::WriterStopped) { closed } else { error });
        }
    };
    network.drain_sockets(true);
    let summary = Summary::of(network, stopped, until_complete, instrument)?;
    let path = directory.join("summary.json");
    let text = serde_json::to_string_pretty(&summary).expect("a summary is plain data");
    std::fs::write(&path, text + "\n")
        .map_err(|error| EngineError::Write(format!("{}: {error}", path.display())))?;
    Ok(summary)
}
