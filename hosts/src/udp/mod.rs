//! UDP (RFC 768): datagrams that carry messages, each with a number and its departure time.
//!
//! ```text
//! AppDriver -> Outbox::write_message -> Sender::poll_transmit -> datagram::Emitter -> packet
//! packet -> datagram::parse_datagram -> Receiver::handle_datagram -> Arrivals, AppDriver
//! ```
//!
//! A datagram's payload is a message (`narrows_traffic::message`); the message's number counts the
//! flow's datagrams. A message longer than a segment is split into the fewest datagrams that hold
//! it, equal in length to a byte. A stream without messages requires a sender with its own rate,
//! and is sent as messages of one segment. [`SENDERS`] lists what decides when a datagram leaves:
//! the application, or TFRC. Over the kernel's sockets, outbox and arrivals are the same
//! (`sockets`).
//!
//! There is no handshake and no end of a flow: the receiver knows both from the scenario. A port
//! without a flow does not answer.

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
