//! TCP (RFC 9293) without input or output: segments come in as parsed views, go out as bytes.
//!
//! ```text
//! packet -> wire::parse -> Connection::handle_segment -> Sender (scoreboard, recovery, cc)
//!                                                     -> Receiver (reassembly, ACK policy)
//! Connection::poll_transmit -> wire::Emitter -> packet
//! ```

pub mod ack_control;
pub mod connection;
pub mod options;
pub mod ranges;
pub mod rate;
pub mod receive_buffer;
pub mod receiver;
pub mod recovery;
pub mod rtt;
pub mod scoreboard;
pub mod send_buffer;
pub mod sender;
pub mod sent_log;
pub mod seq;
pub mod timers;
pub mod wire;

pub use connection::{Connection, KeepAlive, State};

/// Percentiles of a flow's delays are within 2^-7, 0.8 %, so that thousands of flows stay small.
pub(crate) const DELAY_PRECISION_BITS: u32 = 6;
