//! The queue ledger: a row for each event of a packet at a queue.

use crate::outcomes::{DropReason, MarkReason};
use crate::queued::{Backlog, Label};
use narrows_common::{Duration, Time};

/// What happened to a packet at a queue.
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
    /// When.
    pub at: Time,
    /// What.
    pub event: QueueEvent,
    /// Which output port.
    pub port: u16,
    /// Which of its priority queues, 0 the first served.
    pub queue: u8,
    /// The n-th packet that came to this traffic manager, from 0.
    pub packet: u64,
    /// The packet's flow, 0 where it has none.
    pub flow: u32,
    /// Bytes that count against the rate and the limit.
    pub length_bytes: u32,
    /// Packets waiting in the queue after the event.
    pub depth_packets: u32,
    /// Bytes waiting in the queue after the event.
    pub depth_bytes: u64,
    /// How long the packet waited; zero but at a dequeue.
    pub sojourn: Duration,
}

/// Where a queue's rows come from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source {
    pub port: u16,
    pub queue: u8,
    /// Whether its events are recorded.
    pub is_recorded: bool,
}

impl Source {
    /// Writes a row, where rows are recorded.
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
            });
        }
    }
}
