//! A FIFO of packets with its length in packets and bytes.

use crate::interpreter::Bridged;
use narrows_common::record::{QueueEvent, QueueRecord};
use narrows_common::{Bytes, Duration, Packet, Time};
use std::collections::VecDeque;

/// A packet on its way through the switch. It stays in one place all the while.
#[derive(Debug, Default)]
pub(crate) struct Item {
    pub packet: Packet,
    pub bridged: Bridged,
    pub label: Label,
    pub enqueued_at: Time,
    /// Packets that waited when it came.
    pub depth_before: u32,
    /// How often it came to the parser again at this instant.
    pub reentries: u32,
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

#[derive(Debug)]
pub(crate) struct Queue {
    items: VecDeque<Box<Item>>,
    bytes: Bytes,
    port: u16,
    index: u8,
    /// Whether its events are recorded.
    record: bool,
}

impl Queue {
    /// The `index`-th of a port's queues.
    pub(crate) fn new(port: u16, index: u8, record: bool) -> Self {
        Queue { items: VecDeque::new(), bytes: Bytes::ZERO, port, index, record }
    }

    /// The ledger's row of an event that is no dequeue.
    #[inline]
    pub(crate) fn note(
        &self,
        records: &mut Vec<QueueRecord>,
        at: Time,
        event: QueueEvent,
        label: Label,
    ) {
        self.note_after(records, at, event, label, Duration::ZERO);
    }

    /// The row of a dequeue. Returns how long the packet waited.
    #[inline]
    pub(crate) fn note_dequeue(
        &self,
        records: &mut Vec<QueueRecord>,
        at: Time,
        item: &Item,
    ) -> Duration {
        let sojourn = at.saturating_since(item.enqueued_at);
        self.note_after(records, at, QueueEvent::Dequeue, item.label, sojourn);
        sojourn
    }

    #[inline]
    fn note_after(
        &self,
        records: &mut Vec<QueueRecord>,
        at: Time,
        event: QueueEvent,
        label: Label,
        sojourn: Duration,
    ) {
        if self.record {
            records.push(QueueRecord {
                at,
                event,
                port: self.port,
                queue: self.index,
                packet: label.number,
                flow: label.flow,
                length_bytes: label.length.get() as u32,
                depth_packets: self.packets() as u32,
                depth_bytes: self.bytes.get(),
                sojourn,
            });
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, item: Box<Item>) {
        self.bytes += item.label.length;
        self.items.push_back(item);
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Box<Item>> {
        let item = self.items.pop_front()?;
        self.bytes -= item.label.length;
        Some(item)
    }

    /// Takes out the first packet of which this holds.
    pub(crate) fn take_out(&mut self, is_out: impl Fn(&Packet) -> bool) -> Option<Box<Item>> {
        let at = self.items.iter().position(|item| is_out(&item.packet))?;
        let item = self.items.remove(at)?;
        self.bytes -= item.label.length;
        Some(item)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Item> {
        self.items.iter().map(Box::as_ref)
    }

    pub(crate) fn packets(&self) -> usize {
        self.items.len()
    }

    pub(crate) fn bytes(&self) -> Bytes {
        self.bytes
    }
}
