//! What each of a port's queues has done, under all programs of its switch.

use narrows_common::Time;
use narrows_queueing::{DropReason, PortStatistics};
use narrows_switch::Switch;

/// What one of a port's queues has done.
#[derive(Clone, Copy, Debug, Default)]
pub struct QueueCounts {
    /// Its counts.
    pub done: PortStatistics,
    /// The integral of its length, in packet- and byte-picoseconds.
    waited: (u128, u128),
}

impl QueueCounts {
    /// Under an earlier program and a later one.
    pub fn then(self, later: QueueCounts) -> QueueCounts {
        let waited = (self.waited.0 + later.waited.0, self.waited.1 + later.waited.1);
        QueueCounts { done: self.done + later.done, waited }
    }

    /// Two queues of one port together.
    #[must_use]
    pub fn and(self, other: QueueCounts) -> QueueCounts {
        let waited = (self.waited.0 + other.waited.0, self.waited.1 + other.waited.1);
        QueueCounts { done: self.done.and(other.done), waited }
    }

    /// Its counts once its program is replaced, with which its packets are lost.
    #[must_use]
    pub(super) fn lost(mut self) -> QueueCounts {
        self.done.dequeued += self.done.waiting_packets;
        self.done.drops[DropReason::EGRESS_PROGRAM] += self.done.waiting_packets;
        self
    }

    /// Mean packets and bytes in it from time zero to `now`.
    pub fn mean_depth(&self, now: Time) -> (f64, f64) {
        let time_ps = now.as_ps().max(1) as f64;
        (self.waited.0 as f64 / time_ps, self.waited.1 as f64 / time_ps)
    }
}

/// The counts of each of a port's queues under one program; `None` if there is no such port.
pub(super) fn of_program(switch: &Switch, now: Time, port: u16) -> Option<Vec<QueueCounts>> {
    let done = switch.queue_statistics(port).ok()?;
    let waited = switch.queues_waited(now, port).ok()?;
    Some(done.into_iter().zip(waited).map(|(done, waited)| QueueCounts { done, waited }).collect())
}
