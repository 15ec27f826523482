//! The rows a run records. Engines append them to a `Vec`; the world drains it to disk.
//!
//! Units are last in the names; the Parquet columns carry the same names.

use crate::{Duration, Time};

/// One row of what a sender knew, as Linux's `tcp_info` names it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowRecord {
    /// When.
    pub at: Time,
    /// Which flow.
    pub flow: u32,
    /// Congestion window in bytes.
    pub cwnd_bytes: u64,
    /// Slow-start threshold in bytes; `u64::MAX` before the first loss.
    pub ssthresh_bytes: u64,
    /// Bytes sent and neither acknowledged nor marked lost.
    pub in_flight_bytes: u64,
    /// Smoothed round-trip time; zero before a sample.
    pub srtt: Duration,
    /// The round-trip sample of this instant; zero where there is none.
    pub rtt: Duration,
    /// Retransmission time-out in force.
    pub rto: Duration,
    /// Bytes acknowledged in sequence so far.
    pub acked_bytes: u64,
    /// Segments retransmitted so far.
    pub retransmits: u64,
    /// Retransmission time-outs so far.
    pub timeouts: u64,
    /// The latest sample of the rate at which the path delivers; `None` where there is none.
    pub delivery_rate_bps: Option<u64>,
    /// Round trips since the connection opened.
    pub round: u64,
    /// What the sender is doing about loss.
    pub phase: Phase,
}

/// What a sender is doing about loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Phase {
    /// cwnd below ssthresh, nothing known lost.
    SlowStart,
    /// cwnd at or above ssthresh, nothing known lost.
    CongestionAvoidance,
    /// Repairing a loss without a time-out.
    FastRecovery,
    /// Repairing after a retransmission time-out.
    Loss,
}

impl Phase {
    /// The name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Phase::SlowStart => "slow-start",
            Phase::CongestionAvoidance => "congestion-avoidance",
            Phase::FastRecovery => "fast-recovery",
            Phase::Loss => "loss",
        }
    }
}

/// One message of an application: written at one end, read in order at the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageRecord {
    /// Which flow.
    pub flow: u32,
    /// The message's number in its flow, from 0.
    pub message: u64,
    /// Its length in bytes.
    pub length_bytes: u64,
    /// When the application wrote its first byte.
    pub written_at: Time,
    /// When the last byte could be read in order.
    pub read_at: Time,
}
