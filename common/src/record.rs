//! The rows that a run records. Engines append them to a `Vec`; the recorder writes them to disk.
//!
//! Units are last in the names; the Parquet columns have the same names.

use crate::time::{Duration, Time};

/// A row of a sender's state, with the names of Linux's `tcp_info`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowRecord {
    /// The time.
    pub at: Time,
    /// The flow's number.
    pub flow: u32,
    /// Congestion window in bytes.
    pub cwnd_bytes: u64,
    /// Slow-start threshold in bytes; `u64::MAX` before the first loss.
    pub ssthresh_bytes: u64,
    /// Bytes sent, minus bytes acknowledged or considered lost.
    pub in_flight_bytes: u64,
    /// Smoothed round-trip time; zero before a sample.
    pub srtt: Duration,
    /// The round-trip sample of this instant; zero where there is none.
    pub rtt: Duration,
    /// Current retransmission time-out.
    pub rto: Duration,
    /// Bytes acknowledged in sequence so far.
    pub acked_bytes: u64,
    /// Segments retransmitted so far.
    pub retransmits: u64,
    /// Retransmission time-outs so far.
    pub timeouts: u64,
    /// The latest sample of the path's delivery rate; `None` if there is none.
    pub delivery_rate_bps: Option<u64>,
    /// Round trips since the connection opened.
    pub round: u64,
    /// The state of loss recovery.
    pub phase: Phase,
}

/// The state of a sender's loss recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Phase {
    /// cwnd below ssthresh, no known loss.
    SlowStart,
    /// cwnd at or above ssthresh, no known loss.
    CongestionAvoidance,
    /// Repairing a loss without a time-out.
    FastRecovery,
    /// Repairing a loss after a retransmission time-out.
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
    /// The flow's number.
    pub flow: u32,
    /// The message's number in its flow, from 0.
    pub message: u64,
    /// Its length in bytes.
    pub length_bytes: u64,
    /// When the application wrote its first byte.
    pub written_at: Time,
    /// When the last byte was readable in order.
    pub read_at: Time,
}
