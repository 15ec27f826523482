//! A packet in the switch, and a transmission.

use crate::interpreter::Bridged;
use narrows_common::prefetch::{Address, prefetch};
use narrows_common::{Packet, Time, budgets};
use narrows_queueing::QueuedPacket;

/// So many bytes of a packet are asked for before egress: most headers and a stamp.
const HEADER_BYTES: usize = 128;
/// So many bytes of the values that it kept: those of most programs.
const BRIDGED_BYTES: usize = 448;

/// A packet on its way through the switch. Neither part moves in memory.
#[derive(Debug)]
pub(crate) struct Item {
    pub packet: Box<Packet>,
    pub state: Box<ItemState>,
}

/// What the switch keeps of a packet, in one cache line.
#[derive(Debug, Default)]
#[repr(align(64))]
pub(crate) struct ItemState {
    pub bridged: Bridged,
    /// The flow that ingress found.
    pub flow: u32,
    pub rounds: Rounds,
    pub enqueue: Enqueue,
}

/// How a packet enters a queue after ingress.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Enqueue {
    pub priority: u64,
    pub frame_bytes: u32,
    /// The index of its port.
    pub port: u16,
    /// The port is idle, and nothing else happens before the packet arrives there.
    pub is_idle: bool,
    /// A copy of the packet has gone to the same port.
    pub is_duplicate: bool,
}

/// The budget that keeps a packet and its copies from circulating forever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rounds {
    /// How often the packet, or the packets that it was copied from, reentered the parser or were
    /// cloned at egress.
    pub used: u32,
    /// How many copies may still descend from it.
    pub copies: u32,
}

impl Default for Rounds {
    fn default() -> Self {
        Rounds { used: 0, copies: budgets::COPIES_OF_A_PACKET }
    }
}

impl Rounds {
    /// The budget after one more pass; `None` if the packet has used all passes.
    pub(crate) fn once_more(self) -> Option<Rounds> {
        let used = self.used + 1;
        (used <= budgets::ROUNDS_OF_A_PACKET).then_some(Rounds { used, ..self })
    }

    /// Takes `count` copies from the budget and returns the budget of each. A packet that `goes_on`
    /// itself keeps most of the budget; otherwise its copies share all of it. `None` if there are
    /// too many.
    pub(crate) fn share(&mut self, count: usize, goes_on: bool) -> Option<Rounds> {
        let count = u32::try_from(count).ok()?.max(1);
        let left = self.copies.checked_sub(count)?;
        let each = match goes_on {
            true => (left / count / 2).min(budgets::COPIES_OF_A_COPY),
            false => left / count,
        };
        self.copies = left - each * count;
        Some(Rounds { used: self.used, copies: each })
    }
}

impl QueuedPacket for Item {
    fn packet(&self) -> &Packet {
        &self.packet
    }

    fn prefetch(&self) {
        prefetch(&*self.packet);
        prefetch(&*self.state);
    }

    fn prefetch_parts(&self) {
        Address::of(&self.packet.data).prefetch(HEADER_BYTES);
        Address::of(&self.state.bridged.slots).prefetch(BRIDGED_BYTES);
    }
}

/// A transmission that began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// The output port.
    pub port: u16,
    /// When its first bit left.
    pub start: Time,
    /// When its last bit left.
    pub end: Time,
    /// The packet, as the program left it.
    pub packet: Box<Packet>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packets_state_is_a_cache_line() {
        assert_eq!(size_of::<ItemState>(), 64);
    }
}
