//! What a flow comes to, at either end.

use crate::app::message_reader::MessageCounters;
use crate::tcp::State;
use crate::tcp::receiver::ReceiverCounters;
use crate::tcp::sender::SenderCounters;
use crate::udp::DatagramCounters;
use narrows_common::Time;
use narrows_common::histogram::Summary;

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
    /// What arrived of datagrams; `None` at the sender, and over TCP.
    pub datagrams: Option<DatagramCounters>,
}
