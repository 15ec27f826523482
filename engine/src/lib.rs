//! The engine of a run: it takes a plan and writes Parquet tables and a summary.
//!
//! ```text
//! plan ─▶ network { switches, hosts, links, packets in flight } ─▶ record { tables, summary }
//!            ▲ advanced from event to event by virtual_time,
//!            └ or under a machine's clock by real_time
//! ```
//!
//! Each module imports only those to its left:
//!
//! ```text
//! error, mailbox, plan <- record <- network <- virtual_time, real_time <- python
//! ```

pub mod error;
pub mod mailbox;
pub mod network;
pub mod plan;
#[cfg(feature = "python")]
mod python;
pub mod real_time;
mod record;
pub mod virtual_time;

pub use error::EngineError;
pub use network::{Network, Progress};
pub use plan::Plan;
pub use record::instrument::Instrument;
pub use record::queue_figures::{Quantiles, QueueSummary};
pub use record::rows::TABLES;
pub use record::summary::Summary;
pub use record::table_schema::{ColumnKind, ColumnSchema, TableSchema};
pub use record::telemetry_report::{Report, ReportError};
