//! The counters of a flow's ends, and the flow's final report.

use crate::api::State;
use narrows_common::histogram::Summary;
use narrows_common::{Duration, Time};

/// Percentiles of a flow's delays are within 2^-7, 0.8 %, so that thousands of flows stay small.
pub(crate) const DELAY_PRECISION_BITS: u32 = 6;

/// A flow as seen by one of its hosts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowReport {
    /// The flow's number.
    pub flow: u32,
    /// The connection's state; `Closed` over UDP.
    pub state: State,
    /// True if a reset ended it.
    pub was_reset: bool,
    /// When the handshake was complete at this end.
    pub established_at: Option<Time>,
    /// When the flow was complete. At the sender: the application had finished and its last byte
    /// was acknowledged; over UDP, its last datagram had left. At the receiver: the peer had closed
    /// and the last byte was readable; the time is that byte's arrival. The acknowledgments of FINs
    /// do not count.
    pub completed_at: Option<Time>,
    /// Bytes acknowledged in sequence (sender).
    pub acked_bytes: u64,
    /// Counts of sent data (sender).
    pub sent: SenderCounters,
    /// Counts of received data (receiver); `delivered_bytes` are the bytes readable in order.
    pub received: ReceiverCounters,
    /// Counts of messages read; `None` if there are none.
    pub messages: Option<MessageCounters>,
    /// Messages skipped because the send buffer had no room.
    pub skipped_messages: u64,
    /// Round-trip samples (sender).
    pub rtt: Summary,
    /// From a segment's transmission to its arrival, for every stamped segment (receiver).
    pub one_way_delay: Summary,
    /// One-way delays below the lower bound of the path, which are errors of the instrument and not
    /// among the samples (receiver).
    pub impossible_delays: u64,
    /// Counts of received datagrams; `None` at the sender, and over TCP.
    pub datagrams: Option<DatagramCounters>,
}

/// What a sender counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderCounters {
    /// Segments with payload or FIN sent, retransmissions included.
    pub segments_sent: u64,
    /// Payload bytes sent, retransmissions included.
    pub bytes_sent: u64,
    /// Segments retransmitted.
    pub retransmits: u64,
    /// Retransmission time-outs of data.
    pub timeouts: u64,
    /// Losses detected without a time-out.
    pub fast_recoveries: u64,
    /// Window cuts by an echoed congestion mark.
    pub ecn_cuts: u64,
    /// Zero-window probes sent.
    pub probes: u64,
    /// Tail loss probes sent (RFC 8985).
    pub loss_probes: u64,
    /// Window cuts undone because nothing had been lost.
    pub undone_cuts: u64,
}

/// What a receiver counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiverCounters {
    /// Bytes readable in order.
    pub delivered_bytes: u64,
    /// Segments received with payload or FIN.
    pub segments_received: u64,
    /// Segments received with congestion marks.
    pub ce_marks: u64,
    /// Pure ACKs sent.
    pub acks_sent: u64,
}

/// Counts of a flow's received datagrams.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DatagramCounters {
    /// Datagrams received, without duplicates.
    pub received: u64,
    /// Numbers below the highest received that are missing.
    pub lost: u64,
    /// Duplicates received.
    pub duplicates: u64,
    /// Datagrams received after one with a higher number.
    pub reordered: u64,
    /// Interarrival jitter at the end (RFC 3550 section 6.4.1).
    pub jitter: Duration,
    /// Absolute differences between the delays of successive arrivals.
    pub delay_variation: Summary,
}

/// A receiver's counts of messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessageCounters {
    /// Messages read to their end.
    pub read: u64,
    /// Of these, states replaced by a newer one of the same sender when they became readable;
    /// `None` if messages do not replace each other.
    pub superseded: Option<u64>,
    /// True if the stream had other bytes where a header should begin; from there on it was read
    /// without separating messages.
    pub is_garbled: bool,
}
