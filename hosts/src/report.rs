//! What the ends of a flow count, and what the flow comes to.

use crate::tcp::state::State;
use narrows_common::histogram::Summary;
use narrows_common::{Duration, Time};

/// Percentiles of a flow's delays are within 2^-7, 0.8 %, so that thousands of flows stay small.
pub(crate) const DELAY_PRECISION_BITS: u32 = 6;

/// A flow as one of its hosts saw it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowReport {
    /// The flow's number.
    pub flow: u32,
    /// The connection's state; over UDP closed.
    pub state: State,
    /// True when a reset ended it.
    pub was_reset: bool,
    /// When the handshake was done at this end.
    pub established_at: Option<Time>,
    /// When the flow was complete. At the sender: the application had finished and its last byte
    /// was acknowledged; over UDP: its last datagram had left. At the receiver: the peer had closed
    /// and its last byte could be read; the instant is that byte's arrival. The FINs' own
    /// acknowledgments do not count.
    pub completed_at: Option<Time>,
    /// Bytes acknowledged in sequence (sender).
    pub acked_bytes: u64,
    /// What was sent (sender).
    pub sent: SenderCounters,
    /// What arrived (receiver); `delivered_bytes` are those readable in order.
    pub received: ReceiverCounters,
    /// What was read of messages; `None` where none are read.
    pub messages: Option<MessageCounters>,
    /// Messages left out because the send buffer had no room for them.
    pub skipped_messages: u64,
    /// Round-trip samples (sender).
    pub rtt: Summary,
    /// From a segment's transmission to its arrival, for every stamped one (receiver).
    pub one_way_delay: Summary,
    /// One-way delays below the least one of the path, which the instrument got wrong; none of them
    /// is among the samples (receiver).
    pub impossible_delays: u64,
    /// What arrived of datagrams; `None` at the sender, and over TCP.
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
    /// Times that a loss was found without a time-out.
    pub fast_recoveries: u64,
    /// Times that an echoed congestion mark cut the window.
    pub ecn_cuts: u64,
    /// Zero-window probes sent.
    pub probes: u64,
    /// Tail loss probes sent (RFC 8985).
    pub loss_probes: u64,
    /// Cuts that were taken back because nothing had been lost.
    pub undone_cuts: u64,
}

/// What a receiver counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiverCounters {
    /// Bytes that could be read in order.
    pub delivered_bytes: u64,
    /// Segments with payload or FIN that arrived.
    pub segments_received: u64,
    /// Segments that arrived with congestion marks.
    pub ce_marks: u64,
    /// ACKs without data sent.
    pub acks_sent: u64,
}

/// What arrived of a flow's datagrams.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DatagramCounters {
    /// Datagrams that arrived, copies not counted.
    pub received: u64,
    /// Numbers below the highest that did not come.
    pub lost: u64,
    /// Copies of what had come.
    pub duplicates: u64,
    /// Datagrams that came after one of a higher number.
    pub reordered: u64,
    /// Interarrival jitter at the end (RFC 3550 section 6.4.1).
    pub jitter: Duration,
    /// By how much the delays of successive arrivals differ, the sign left off.
    pub delay_variation: Summary,
}

/// What a receiver counts of messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessageCounters {
    /// Messages read to their end.
    pub read: u64,
    /// Of these, states that a newer one of the same sender replaced at the instant at which they
    /// could be read; `None` where messages replace nothing.
    pub superseded: Option<u64>,
    /// True when the stream had something else where a header should be; from there on it was read
    /// without telling messages apart.
    pub is_garbled: bool,
}
