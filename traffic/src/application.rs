//! The sending end of a workload while it runs: what it writes, and when.

use crate::message;
use core::fmt;
use narrows_common::{Rng, Time};
use smallvec::SmallVec;

/// The sending end of a workload. Spurious calls are no-ops.
pub trait Application: fmt::Debug + Send {
    /// What to write at `now`; called from the flow's start on, until it returns `None`. `rng` is
    /// the flow's own.
    fn poll_write(&mut self, now: Time, rng: &mut Rng) -> Option<Write>;

    /// When [`Application::poll_write`] will have something, if only time is missing.
    fn poll_timeout(&self) -> Option<Time> {
        None
    }

    /// A message of the other end was read.
    fn handle_message(&mut self, _now: Time) {}

    /// True when it will never write again; the connection then closes after the last byte.
    fn is_finished(&self) -> bool;
}

/// What an application hands to its connection at once. One application writes either kind only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Write {
    /// Bytes of a stream without messages.
    Stream(Content),
    /// A message, whose latency is recorded: a header ([`message`]) and zeros behind it.
    Message {
        /// Its length with the header, [`message::HEADER_BYTES`] at least.
        length_bytes: u32,
    },
}

/// Bytes of a stream: a length that stands for zeros, or the bytes themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// So many zero bytes; they cost no memory.
    Zeros(u64),
    /// These bytes.
    Bytes(ShortBytes),
}

/// Bytes that take no memory of their own while they are no more than a message's header.
pub type ShortBytes = SmallVec<[u8; message::HEADER_BYTES as usize]>;

impl Content {
    /// How many bytes.
    pub fn len(&self) -> u64 {
        match self {
            Content::Zeros(len) => *len,
            Content::Bytes(bytes) => bytes.len() as u64,
        }
    }

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
