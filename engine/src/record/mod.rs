//! The output of a run: rows, Parquet tables, summary.
//!
//! This module does not depend on the network: callers pass figures as plain data.

#[cfg(any(feature = "python", test))]
pub(crate) mod checked_copy;
mod checked_pages;
pub(crate) mod flow_summary;
pub(crate) mod instrument;
#[cfg(feature = "python")]
pub(crate) mod ledger;
pub(crate) mod link_rows;
#[cfg(any(feature = "python", test))]
pub(crate) mod plain_table;
pub(crate) mod queue_figures;
pub(crate) mod recorder;
pub(crate) mod rows;
pub(crate) mod summary;
pub(crate) mod table;
pub(crate) mod table_schema;
pub(crate) mod telemetry_report;
