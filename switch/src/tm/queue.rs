//! A FIFO of packets with its length in packets and bytes.

use narrows_common::{Bytes, Packet, Time};
use std::collections::VecDeque;

/// A packet between ingress and egress.
#[derive(Debug)]
pub(crate) struct Item {
    pub packet: Packet,
    pub carried: Carried,
    pub label: Label,
    pub enqueued_at: Time,
    /// Packets that waited when it came.
    pub depth_before: u32,
    /// How often it came round at this instant.
    pub rounds: u32,
}

/// Where a packet's state of the program is, the first slots of the machine.
#[derive(Debug)]
pub(crate) enum Carried {
    /// Still in the machine: the packet goes on at once.
    InMachine,
    /// All that egress reads of what ingress left.
    Slots(Box<[u64]>),
    /// With the late headers.
    WithLate(Box<[u64]>),
}

/// What the ledger says of a packet.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Label {
    /// Which of the packets that came to this switch's queues it is.
    pub number: u64,
    pub flow: u32,
    /// What counts of it, as it was enqueued.
    pub length: Bytes,
}

#[derive(Debug, Default)]
pub(crate) struct Queue {
    items: VecDeque<Item>,
    bytes: Bytes,
}

impl Queue {
    pub(crate) fn push(&mut self, item: Item) {
        self.bytes += item.label.length;
        self.items.push_back(item);
    }

    pub(crate) fn pop(&mut self) -> Option<Item> {
        let item = self.items.pop_front()?;
        self.bytes -= item.label.length;
        Some(item)
    }

    /// Takes out the first packet of which this holds.
    pub(crate) fn take_out(&mut self, is_out: impl Fn(&Packet) -> bool) -> Option<Item> {
        let at = self.items.iter().position(|item| is_out(&item.packet))?;
        let item = self.items.remove(at)?;
        self.bytes -= item.label.length;
        Some(item)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Item> {
        self.items.iter()
    }

    pub(crate) fn packets(&self) -> usize {
        self.items.len()
    }

    pub(crate) fn bytes(&self) -> Bytes {
        self.bytes
    }
}
