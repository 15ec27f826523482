//! What a variant or a recovery is, and what it needs of the connection.

use schemars::JsonSchema;
use serde::Serialize;

/// What a variant takes for congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Loss.
    LossBased,
    /// Delay.
    DelayBased,
    /// Loss, and delay or marks or measured bandwidth with it.
    Hybrid,
    /// A model of the path's bandwidth and round trip; the window in recovery is its own too.
    ModelBased,
    /// Nothing: it keeps to a rate that it is told.
    RateTarget,
    /// Nothing: it sends as the application writes.
    Uncontrolled,
}

/// What a variant needs of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Need {
    /// Selective acknowledgments.
    Sack,
    /// When each segment left and what became of it; the sender keeps it where asked for.
    SegmentTimes,
    /// Segments spread over the round trip; the sender does it where asked for.
    Pacing,
    /// Congestion marks, each echoed as it came (RFC 8257 section 3.2); on unless a scenario
    /// turns it off.
    Ecn,
    /// Timestamps, for one-way delays; without them round trips stand in.
    Timestamps,
}
