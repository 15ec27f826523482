//! UDP (RFC 768): datagrams of messages, each with a number and the time at which it left.
//!
//! ```text
//! User -> Outbox::write_message -> Sender::poll_transmit -> datagram::Emitter -> packet
//! packet -> datagram::parse_datagram -> Receiver::handle_datagram -> Arrivals, User
//! ```
//!
//! A datagram's payload is a message (`narrows_traffic::message`), whose number counts the flow's
//! datagrams. A message longer than a segment goes in as few datagrams as hold it, alike to a byte.
//! A stream without messages, which only a sender with a rate of its own takes, goes in messages as
//! long as a segment.
//! [`SENDERS`] lists who says when a datagram leaves: the application, or TFRC.
//! Over a socket of somebody else's the outbox and the arrivals are the same (`sockets`).
//! There is no handshake and no end of a flow: the receiver knows both from the scenario. A port
//! without a flow answers nothing.

mod arrivals;
mod outbox;
mod receiver;
mod sender;
mod settings;
mod tfrc;

pub(crate) use arrivals::Arrivals;
pub use arrivals::DatagramCounters;
pub(crate) use outbox::Outbox;
pub use receiver::Receiver;
pub(crate) use receiver::parse_message;
pub use sender::Sender;
pub use settings::Settings;

use crate::cc::{Class, Need, Parameter};
use serde::Serialize;

/// What there is to know about a sender of datagrams, in the words of [`crate::cc::Variant`].
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Record {
    /// The name in a scenario.
    pub name: &'static str,
    /// One line on what it is.
    pub title: &'static str,
    /// Where it comes from.
    pub reference: &'static str,
    /// What it takes for congestion.
    pub class: Class,
    /// What the flow must have.
    pub needs: &'static [Need],
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// What of the source is not implemented.
    pub not_implemented: &'static [&'static str],
    /// Bytes of its own in front of each message.
    pub header_bytes: u32,
    /// It sends as the application writes, which must have a pace of its own.
    pub needs_pace: bool,
}

/// Every sender of datagrams.
pub const SENDERS: &[Record] = &[UDP, tfrc::TFRC];

/// Each message leaves when it is written.
const UDP: Record = Record {
    name: "udp",
    title: "UDP: datagrams leave as the application writes them",
    reference: "RFC 768; ns-2 Agent/UDP",
    class: Class::Uncontrolled,
    needs: &[],
    parameters: &[],
    not_implemented: &[],
    header_bytes: 0,
    needs_pace: true,
};

/// The sender of this name; `None` when it is none of datagrams.
pub fn sender_by_name(name: &str) -> Option<&'static Record> {
    SENDERS.iter().find(|record| record.name == name)
}
