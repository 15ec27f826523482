//! A packet in the switch, and its transmission.

use crate::interpreter::Bridged;
use narrows_common::{Packet, Time};
use narrows_queueing::QueuedPacket;

/// A packet on its way through the switch. It stays in one place all the while.
#[derive(Debug, Default)]
pub(crate) struct Item {
    pub packet: Packet,
    pub bridged: Bridged,
    /// The flow that ingress found.
    pub flow: u32,
    /// How often it came to the parser again at this instant.
    pub reentries: u32,
}

impl QueuedPacket for Box<Item> {
    fn packet(&self) -> &Packet {
        &self.packet
    }
}

/// A transmission that began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// From which port.
    pub port: u16,
    /// When its first bit left.
    pub start: Time,
    /// When its last bit left.
    pub end: Time,
    /// The packet, as the program left it.
    pub packet: Packet,
}
