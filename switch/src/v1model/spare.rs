//! Reusable memory of packets and of their state.

use super::item::{Item, ItemState, Rounds};
use narrows_common::Packet;

/// The most spare packets, and the most spare states.
const SPARE_MAX: usize = 4096;
/// Spare packets, and spare states, that a pipeline keeps for itself.
const SPARE_OWN: usize = 1024;
/// Spare packets for the switch's own copies.
const SPARE_KEPT: usize = 64;

/// Memory for packets in the switch.
#[derive(Default)]
pub(crate) struct Spare {
    packets: Vec<Box<Packet>>,
    states: Vec<Box<ItemState>>,
}

impl Spare {
    /// Keeps a packet's memory for reuse.
    #[inline]
    pub(crate) fn recycle(&mut self, mut packet: Box<Packet>) {
        if self.packets.len() < SPARE_MAX {
            packet.clear();
            self.packets.push(packet);
        }
    }

    /// An empty packet, with recycled memory if available.
    pub(crate) fn take_packet(&mut self) -> Box<Packet> {
        self.packets.pop().unwrap_or_default()
    }

    /// A spare packet beyond those for the switch's own copies.
    #[inline]
    pub(crate) fn poll(&mut self) -> Option<Box<Packet>> {
        if self.packets.len() > SPARE_KEPT { self.packets.pop() } else { None }
    }

    /// A spare packet and a spare state beyond those that a pipeline keeps.
    pub(crate) fn poll_surplus(&mut self) -> Option<Item> {
        if self.packets.len().min(self.states.len()) <= SPARE_OWN {
            return None;
        }
        Some(Item { packet: self.packets.pop()?, state: self.states.pop()? })
    }

    /// Wraps a packet for its way through the switch.
    #[inline]
    pub(crate) fn take_item(&mut self, packet: Box<Packet>) -> Item {
        let mut state = self.states.pop().unwrap_or_default();
        state.rounds = Rounds::default();
        Item { packet, state }
    }

    /// Copies a packet's first `len` bytes for the way through the switch.
    pub(crate) fn copy(&mut self, packet: &Packet, len: usize) -> Item {
        let mut copy = self.take_packet();
        copy.copy_front(packet, len);
        self.take_item(copy)
    }

    /// Keeps the memory of an item's state. Returns its packet.
    #[inline]
    pub(crate) fn give_state(&mut self, item: Item) -> Box<Packet> {
        let Item { packet, state } = item;
        if self.states.len() < SPARE_MAX {
            self.states.push(state);
        }
        packet
    }

    /// Discards a packet and keeps its memory.
    pub(crate) fn discard(&mut self, item: Item) {
        let packet = self.give_state(item);
        self.recycle(packet);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spare_packets_go_back_but_those_for_copies() {
        let mut spare = Spare::default();
        (0..SPARE_KEPT + 3).for_each(|_| spare.recycle(Box::new(Packet::from_bytes(&[1]))));
        let polled: Vec<_> = std::iter::from_fn(|| spare.poll()).collect();
        assert_eq!(polled.len(), 3);
        assert!(polled.iter().all(|packet| packet.to_bytes().is_empty()));
        assert_eq!(spare.packets.len(), SPARE_KEPT);
    }
}
