//! What a part of a network sends to another one. Each kind is a plain struct in a ring of its own:
//! an enum of them would be written in single fields and copied whole, for which a processor waits.

use narrows_common::prefetch::{Address, prefetch};
use narrows_common::{Packet, Time};

use super::order::Key;
use crate::network::in_flight::PARSED_BYTES;

/// A message that says what memory its receiver reads first.
pub(crate) trait Message {
    /// Asks for that memory.
    fn prefetch(&self);
}

/// A packet in flight.
#[derive(Debug)]
pub(crate) struct Arrival {
    /// When it arrives.
    pub at: Time,
    pub packet: Box<Packet>,
    /// Where its bytes are.
    pub bytes: Address,
    pub direction: u32,
}

impl Message for Arrival {
    #[inline(always)]
    fn prefetch(&self) {
        prefetch(&*self.packet);
        self.bytes.prefetch(PARSED_BYTES);
    }
}

/// A packet that a host sent by an event, and whose access link is in the other part.
#[derive(Debug)]
pub(crate) struct Sent {
    pub key: Key,
    pub packet: Box<Packet>,
    pub host: u32,
}

impl Message for Sent {
    #[inline(always)]
    fn prefetch(&self) {
        prefetch(&*self.packet);
    }
}

/// An empty packet, for one that came from the other part.
pub(crate) type Spare = Box<Packet>;

impl Message for Spare {
    #[inline(always)]
    fn prefetch(&self) {}
}

/// What leaves for another part.
#[derive(Debug, Default)]
pub(crate) struct Leaving {
    pub arrivals: Vec<Arrival>,
    pub sent: Vec<Sent>,
    pub spare: Vec<Spare>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_messages_fit_in_a_cache_line() {
        assert_eq!([size_of::<Arrival>(), size_of::<Sent>()], [32, 32]);
    }
}
