//! What a run leaves behind: the tables' rows, the Parquet writer, the summary.

pub(crate) mod queue_figures;
pub(crate) mod recorder;
pub(crate) mod rows;
pub(crate) mod summary;
pub(crate) mod table;
pub(crate) mod telemetry_report;
