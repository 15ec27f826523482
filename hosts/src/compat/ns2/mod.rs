//! ns-2's sources and sinks by name, and the features that only they have.

pub mod ack_control;
pub mod ack_reconstruction;
pub mod agents;
pub(crate) mod burst;
