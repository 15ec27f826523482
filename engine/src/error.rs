//! Why a run fails.

use thiserror::Error;

/// Why a run did not come to its end.
#[derive(Debug, Error)]
pub enum EngineError {
    /// The plan, or something it names, is wrong.
    #[error("{0}")]
    Plan(String),
    /// Another process did not meet this one before the clock began.
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

/// A part of the plan is wrong.
pub(crate) fn plan_error(message: impl Into<String>) -> EngineError {
    EngineError::Plan(message.into())
}
