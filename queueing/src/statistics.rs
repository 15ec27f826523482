//! A port's counts.

use crate::disciplines::{DROP_REASON_COUNT, MARK_REASON_COUNT};
use crate::outcomes::{DropReason, MarkReason};
use core::ops::{Add, Index, IndexMut};

/// Dropped packets by reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DropCounts([u64; DROP_REASON_COUNT]);

impl Default for DropCounts {
    fn default() -> Self {
        DropCounts([0; DROP_REASON_COUNT])
    }
}

impl Index<DropReason> for DropCounts {
    type Output = u64;

    fn index(&self, reason: DropReason) -> &u64 {
        &self.0[reason.index()]
    }
}

impl IndexMut<DropReason> for DropCounts {
    fn index_mut(&mut self, reason: DropReason) -> &mut u64 {
        &mut self.0[reason.index()]
    }
}

impl DropCounts {
    /// Every reason with its count.
    pub fn iter(&self) -> impl Iterator<Item = (DropReason, u64)> {
        DropReason::all().zip(self.0)
    }

    /// Packets dropped for any reason.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }
}

/// Marked packets by reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarkCounts([u64; MARK_REASON_COUNT]);

impl Default for MarkCounts {
    fn default() -> Self {
        MarkCounts([0; MARK_REASON_COUNT])
    }
}

impl Index<MarkReason> for MarkCounts {
    type Output = u64;

    fn index(&self, reason: MarkReason) -> &u64 {
        &self.0[reason.index()]
    }
}

impl IndexMut<MarkReason> for MarkCounts {
    fn index_mut(&mut self, reason: MarkReason) -> &mut u64 {
        &mut self.0[reason.index()]
    }
}

impl MarkCounts {
    /// Every reason with its count.
    pub fn iter(&self) -> impl Iterator<Item = (MarkReason, u64)> {
        MarkReason::all().zip(self.0)
    }

    /// Marked packets, whatever the reason.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }
}

/// What a port, or one of its queues, has done. `enqueued` is `dequeued` and what waits; what came
/// to the port is `enqueued` and `refused`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortStatistics {
    /// Packets stored.
    pub enqueued: u64,
    /// Packets that left a queue, to be sent or discarded by the discipline.
    pub dequeued: u64,
    /// Packets dropped on arrival.
    pub refused: u64,
    /// Packets dropped, on arrival or after their dequeue, by reason.
    pub drops: DropCounts,
    /// Bytes of the packets that the queue dropped, without those that the owner dropped after
    /// their dequeue.
    pub dropped_bytes: u64,
    /// Packets marked, by reason.
    pub marks: MarkCounts,
    /// Packets whose transmission began.
    pub transmitted: u64,
    /// Bytes of these packets that count against the rate.
    pub transmitted_bytes: u64,
    /// The most packets in one of its queues.
    pub depth_max_packets: u64,
    /// The most bytes in one of its queues.
    pub depth_max_bytes: u64,
    /// Packets queued now.
    pub waiting_packets: u64,
    /// Bytes queued now.
    pub waiting_bytes: u64,
}

impl PortStatistics {
    /// Two queues of one port together.
    #[must_use]
    pub fn and(self, other: PortStatistics) -> PortStatistics {
        let waiting_packets = self.waiting_packets + other.waiting_packets;
        let waiting_bytes = self.waiting_bytes + other.waiting_bytes;
        PortStatistics { waiting_packets, waiting_bytes, ..self + other }
    }
}

/// A port before and after a change of what drives it; what waits is the later one's.
impl Add for PortStatistics {
    type Output = PortStatistics;

    fn add(self, later: PortStatistics) -> PortStatistics {
        let (mut drops, mut marks) = (self.drops, self.marks);
        for (reason, count) in later.drops.iter() {
            drops[reason] += count;
        }
        for (reason, count) in later.marks.iter() {
            marks[reason] += count;
        }
        PortStatistics {
            enqueued: self.enqueued + later.enqueued,
            dequeued: self.dequeued + later.dequeued,
            refused: self.refused + later.refused,
            drops,
            dropped_bytes: self.dropped_bytes + later.dropped_bytes,
            marks,
            transmitted: self.transmitted + later.transmitted,
            transmitted_bytes: self.transmitted_bytes + later.transmitted_bytes,
            depth_max_packets: self.depth_max_packets.max(later.depth_max_packets),
            depth_max_bytes: self.depth_max_bytes.max(later.depth_max_bytes),
            waiting_packets: later.waiting_packets,
            waiting_bytes: later.waiting_bytes,
        }
    }
}
