//! The queue ledger: one row for each event of a packet at a queue.

use crate::outcomes::{DropReason, MarkReason};
use crate::queued::{Backlog, Label};
use narrows_common::{Duration, Time};

/// An event of a packet at a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueEvent {
    /// It was stored.
    Enqueue,
    /// It left the queue.
    Dequeue,
    /// It was discarded: on arrival, or after its dequeue.
    Drop(DropReason),
    /// It was marked as having met congestion: on arrival, or just before its dequeue.
    Mark(MarkReason),
}

/// One row of the queue ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueRecord {
    /// The time.
    pub at: Time,
    /// The event.
    pub event: QueueEvent,
    /// The output port's number.
    pub port: u16,
    /// The queue's index at the port; queue 0 is served first.
    pub queue: u8,
    /// The packet's number at this traffic manager, from 0, in arrival order.
    pub packet: u64,
    /// The packet's flow; 0 if it has none.
    pub flow: u32,
    /// Bytes that count against the rate and the limit.
    pub length_bytes: u32,
    /// Packets in the queue after the event.
    pub depth_packets: u32,
    /// Bytes in the queue after the event.
    pub depth_bytes: u64,
    /// How long the packet was queued; zero unless the event is a dequeue.
    pub sojourn: Duration,
    /// The packet arrived as a duplicate: a second copy for its port. Only rows of its arrival.
    pub is_duplicate: bool,
}

/// The port and queue of ledger rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source {
    pub port: u16,
    pub queue: u8,
    /// Whether to record its events.
    pub is_recorded: bool,
}

impl Source {
    /// Writes a row if its events are recorded.
    #[inline]
    pub(crate) fn write(
        self,
        rows: &mut Vec<QueueRecord>,
        at: Time,
        event: QueueEvent,
        label: Label,
        depth: Backlog,
        sojourn: Duration,
    ) {
        if self.is_recorded {
            rows.push(QueueRecord {
                at,
                event,
                port: self.port,
                queue: self.queue,
                packet: label.number,
                flow: label.flow,
                length_bytes: label.length.get() as u32,
                depth_packets: depth.packets as u32,
                depth_bytes: depth.bytes.get(),
                sojourn,
                is_duplicate: false,
            });
        }
    }
}
