//! Sans-IO TCP (RFC 9293): segments arrive as parsed views and leave as bytes.
//!
//! ```text
//! packet -> segment::parse -> Connection::handle_segment -> Sender (scoreboard, recovery, cc)
//!                                                     -> Receiver (reassembly, ACK policy)
//! Connection::poll_transmit -> segment::Emitter -> packet
//! ```

pub mod connection;
pub mod rate;
pub mod receive_buffer;
pub mod receiver;
pub mod send_buffer;
pub mod sender;
pub mod seq;
pub mod timers;

pub use connection::Connection;
