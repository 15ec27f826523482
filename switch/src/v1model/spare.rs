//! Reusable memory of packets and of their state.

use super::item::{Item, Rounds};
use narrows_common::Packet;

/// The most spare packets, and the most spare items.
const SPARE_MAX: usize = 4096;

/// Memory for packets in the switch.
#[derive(Default)]
pub(crate) struct Spare {
    packets: Vec<Packet>,
    #[expect(clippy::vec_box, reason = "an item keeps its address")]
    items: Vec<Box<Item>>,
}

impl Spare {
    /// Keeps a packet's memory for reuse.
    #[inline]
    pub(crate) fn recycle(&mut self, mut packet: Packet) {
        if self.packets.len() < SPARE_MAX {
            packet.clear();
            self.packets.push(packet);
        }
    }

    /// An empty packet, with recycled memory if available.
    pub(crate) fn take_packet(&mut self) -> Packet {
        self.packets.pop().unwrap_or_default()
    }

    /// Wraps a packet for its way through the switch.
    #[inline]
    pub(crate) fn take_item(&mut self, packet: Packet) -> Box<Item> {
        let mut item = self.items.pop().unwrap_or_default();
        item.packet = packet;
        item.rounds = Rounds::default();
        item
    }

    /// Copies a packet's first `len` bytes for the way through the switch.
    pub(crate) fn copy(&mut self, packet: &Packet, len: usize) -> Box<Item> {
        let mut copy = self.take_packet();
        copy.copy_front(packet, len);
        self.take_item(copy)
    }

    /// Keeps the memory of an item without its packet.
    #[inline]
    pub(crate) fn give_item(&mut self, item: Box<Item>) {
        if self.items.len() < SPARE_MAX {
            self.items.push(item);
        }
    }

    /// Discards a packet and keeps its memory.
    pub(crate) fn discard(&mut self, mut item: Box<Item>) {
        self.recycle(core::mem::take(&mut item.packet));
        self.give_item(item);
    }
}
