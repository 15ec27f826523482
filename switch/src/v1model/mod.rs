//! The architecture: v1model as implemented by bmv2's `simple_switch`.
//!
//! Its metadata, the requests of its externs, and the order of its blocks (behavioral-model,
//! docs/simple_switch.md).

mod clones;
mod egress;
mod ingress;
mod instance;
mod item;
mod model;
mod phases;
mod queues;
mod spare;
mod statistics;
mod work;

pub(crate) use item::Item;
pub use item::Transmit;
pub(crate) use model::V1Model;
pub use model::{Digest, TimestampUnit};
pub use statistics::Statistics;
pub use work::Handover;
