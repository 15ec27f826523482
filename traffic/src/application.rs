//! The sending end of a running workload: what it writes, and when.

use crate::message;
use core::fmt;
use narrows_common::{Rng, Time};
use smallvec::SmallVec;

/// The sending end of a workload. Spurious calls are no-ops.
pub trait Application: fmt::Debug + Send {
    /// The data to write at `now`. Called from the flow's start on, until it returns `None`. `rng`
    /// belongs to the flow.
    fn poll_write(&mut self, now: Time, rng: &mut Rng) -> Option<Write>;

    /// When [`Application::poll_write`] has data next, if it only waits for time.
    fn poll_timeout(&self) -> Option<Time> {
        None
    }

    /// A message from the other end was read.
    fn handle_message(&mut self, _now: Time) {}

    /// True if it will never write again; the connection then closes after the last byte.
    fn is_finished(&self) -> bool;
}

/// The data of one write. An application writes only one of these kinds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Write {
    /// Bytes of a stream without messages.
    Stream(Content),
    /// A message with recorded latency: a header ([`message`]) followed by zeros.
    Message {
        /// Its length including the header, at least [`message::HEADER_BYTES`].
        length_bytes: u32,
    },
}

/// Bytes of a stream: a count of zeros, or the bytes themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// This many zero bytes, which take no memory.
    Zeros(u64),
    /// These bytes.
    Bytes(ShortBytes),
}

/// Bytes stored inline up to the length of a message's header.
pub type ShortBytes = SmallVec<[u8; message::HEADER_BYTES as usize]>;

impl Content {
    /// The number of bytes.
    pub fn len(&self) -> u64 {
        match self {
            Content::Zeros(len) => *len,
            Content::Bytes(bytes) => bytes.len() as u64,
        }
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
