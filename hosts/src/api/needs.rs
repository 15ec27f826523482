//! The class of a variant or recovery, and what it requires of the connection.

use schemars::JsonSchema;
use serde::Serialize;

/// The signal that a variant treats as congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Loss.
    LossBased,
    /// Delay.
    DelayBased,
    /// Loss, plus delay, marks or measured bandwidth.
    Hybrid,
    /// A model of the path's bandwidth and round trip, which also sets the window during recovery.
    ModelBased,
    /// None: it keeps to a given rate.
    RateTarget,
    /// None: it sends when the application writes.
    Uncontrolled,
}

/// What a variant requires of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Need {
    /// Selective acknowledgments.
    Sack,
    /// The departure and the fate of each segment; the sender keeps them on request.
    SegmentTimes,
    /// Segments spread over the round trip; the sender paces on request.
    Pacing,
    /// Congestion marks, each echoed exactly (RFC 8257 section 3.2); on unless a scenario disables
    /// them.
    Ecn,
    /// Timestamps, for one-way delays; without them round trips replace these.
    Timestamps,
}
