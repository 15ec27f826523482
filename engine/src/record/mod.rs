//! What a run leaves behind: the rows of its tables, their Parquet files, its summary.
//!
//! It knows no node of the network: who has figures hands them over as plain data.

pub(crate) mod flow_summary;
pub(crate) mod instrument;
pub(crate) mod queue_figures;
pub(crate) mod recorder;
pub(crate) mod rows;
pub(crate) mod summary;
pub(crate) mod table;
pub(crate) mod table_schema;
pub(crate) mod telemetry_report;
