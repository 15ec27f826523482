//! Why a run fails.

use thiserror::Error;

/// Why a run did not finish.
#[derive(Debug, Error)]
pub enum EngineError {
    /// The plan is wrong, or something that it names.
    #[error("{0}")]
    Plan(String),
    /// Another process did not join this one before the clock started.
    #[error("{0}")]
    Meet(String),
    /// DPDK or one of its devices reported an error.
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
    /// A table's writer stopped; closing the tables returns the reason.
    #[error("a table can't be written any more")]
    WriterStopped,
    /// The caller stopped the run.
    #[error("stopped before its end")]
    Cancelled,
}

/// An error about a part of the plan.
pub(crate) fn plan_error(message: impl Into<String>) -> EngineError {
    EngineError::Plan(message.into())
}
