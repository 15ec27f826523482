//! UDP (RFC 768): datagrams of messages, each with a number and the time at which it left.
//!
//! ```text
//! AppDriver -> Outbox::write_message -> Sender::poll_transmit -> datagram::Emitter -> packet
//! packet -> datagram::parse_datagram -> Receiver::handle_datagram -> Arrivals, AppDriver
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
pub(crate) mod record;
mod sender;
pub(crate) mod senders;
pub(crate) mod settings;
mod tfrc;

pub(crate) use arrivals::Arrivals;
pub(crate) use outbox::Outbox;
pub use receiver::Receiver;
pub(crate) use receiver::parse_message;
pub use record::Record;
pub use sender::Sender;
pub use senders::{SENDERS, sender_by_name};
pub use settings::Settings;
