//! The order of events in a whole network.

use narrows_common::Time;

/// An event's place in the order of a whole network: its instant, then its rank among the events
/// of that instant. Sources come first, by their numbers; then arrivals, by their directions.
pub(crate) type Key = (Time, u64);

/// The rank of a source.
pub(crate) fn source_rank(source: usize) -> u64 {
    source as u64
}

/// The rank of an arrival by a link direction.
pub(crate) fn arrival_rank(direction: usize) -> u64 {
    1 << 32 | direction as u64
}
