//! A packet in a queue, and the first-in-first-out queue that most disciplines keep.

use crate::ecn::{Ecn, ecn};
use narrows_common::prefetch::prefetch;
use narrows_common::{Bytes, Packet, Time};
use std::collections::VecDeque;

/// What a discipline may read of a queued packet.
pub trait QueuedPacket {
    /// The packet's bytes as it arrived.
    fn packet(&self) -> &Packet;

    /// Asks for the packet's memory, if it lies elsewhere: there is one more packet before it.
    fn prefetch(&self) {}

    /// Asks for what [`QueuedPacket::prefetch`] left out, as it is found in that memory: the packet
    /// leaves next.
    fn prefetch_parts(&self) {}
}

impl QueuedPacket for Packet {
    fn packet(&self) -> &Packet {
        self
    }
}

/// The ledger's fields of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label {
    /// The packet's number at this traffic manager, from 0, in arrival order.
    pub number: u64,
    /// The packet's flow; 0 if it has none.
    pub flow: u32,
    /// Bytes that count against rate and limit.
    pub length: Bytes,
}

/// A packet in a queue.
#[derive(Debug)]
pub struct Queued<P> {
    /// The packet.
    pub packet: P,
    /// Its fields in the ledger.
    pub label: Label,
    /// The time of its arrival.
    pub enqueued_at: Time,
    /// Packets in its queue when it arrived.
    pub depth_before: u32,
    /// The queue marked it: it leaves with the codepoint for congestion experienced.
    pub is_marked: bool,
}

impl<P: QueuedPacket> Queued<P> {
    /// True if its transport understands marks, or it has one.
    #[inline]
    pub fn takes_marks(&self) -> bool {
        ecn(self.packet.packet()) != Ecn::NotCapable
    }
}

/// The packets and bytes in a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Packets.
    pub packets: u64,
    /// Bytes that count against the rate.
    pub bytes: Bytes,
}

impl Backlog {
    /// The backlog plus one packet.
    #[inline]
    #[must_use]
    pub fn with(self, length: Bytes) -> Self {
        Backlog { packets: self.packets + 1, bytes: self.bytes + length }
    }

    /// The backlog minus one packet.
    #[inline]
    #[must_use]
    pub fn without(self, length: Bytes) -> Self {
        Backlog { packets: self.packets - 1, bytes: self.bytes - length }
    }
}

/// A first-in-first-out queue.
#[derive(Debug)]
pub struct Fifo<P> {
    packets: VecDeque<Queued<P>>,
    bytes: Bytes,
}

impl<P> Default for Fifo<P> {
    fn default() -> Self {
        Fifo { packets: VecDeque::new(), bytes: Bytes::ZERO }
    }
}

impl<P> Fifo<P> {
    /// Adds a packet at the tail.
    #[inline]
    pub fn push(&mut self, packet: Queued<P>) {
        let Queued { packet, label, enqueued_at, depth_before, is_marked } = packet;
        let Label { number, flow, length } = label;
        self.bytes += length;
        // Field by field: a processor that has just written the fields waits before it can copy
        // several of them together.
        let label = Label { number, flow, length };
        self.packets.push_back(Queued { packet, label, enqueued_at, depth_before, is_marked });
    }

    /// Takes the packet at the head, and asks for the memory of those behind it.
    #[inline]
    pub fn pop(&mut self) -> Option<Queued<P>>
    where
        P: QueuedPacket,
    {
        let packet = self.packets.pop_front()?;
        self.bytes -= packet.label.length;
        if let Some(first) = self.packets.front() {
            first.packet.prefetch_parts();
        }
        if let Some(second) = self.packets.get(1) {
            second.packet.prefetch();
        }
        if let Some(third) = self.packets.get(2) {
            prefetch(third);
        }
        Some(packet)
    }

    /// Takes the packet at the tail.
    pub fn pop_back(&mut self) -> Option<Queued<P>> {
        let packet = self.packets.pop_back()?;
        self.bytes -= packet.label.length;
        Some(packet)
    }

    /// The packet at the head, to mark it.
    #[inline]
    pub fn front_mut(&mut self) -> Option<&mut Queued<P>> {
        self.packets.front_mut()
    }

    /// The packet at the head.
    #[inline]
    pub fn front(&self) -> Option<&Queued<P>> {
        self.packets.front()
    }

    /// Takes out the first packet for which `is_out` holds.
    pub fn remove_first(&mut self, is_out: impl Fn(&P) -> bool) -> Option<Queued<P>> {
        let at = self.packets.iter().position(|queued| is_out(&queued.packet))?;
        let packet = self.packets.remove(at)?;
        self.bytes -= packet.label.length;
        Some(packet)
    }

    /// The packets and bytes in the queue.
    #[inline]
    pub fn backlog(&self) -> Backlog {
        Backlog { packets: self.packets.len() as u64, bytes: self.bytes }
    }

    /// The packets from head to tail.
    pub fn iter(&self) -> impl Iterator<Item = &Queued<P>> {
        self.packets.iter()
    }
}
