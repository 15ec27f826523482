//! ns-2's own variants of Vegas and Reno.

pub mod rate_based_pacing;
pub mod vegas;
