//! What each of a port's queues has done, under all programs of its switch.

use narrows_common::Time;
use narrows_queueing::{DropReason, PortStatistics};
use narrows_switch::Switch;

use super::ManagedSwitch;
use super::refusal::Refusal;

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
    fn then(self, later: QueueCounts) -> QueueCounts {
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

impl ManagedSwitch {
    /// A port's counts under all programs.
    ///
    /// # Errors
    /// If the port does not exist.
    pub fn port_statistics(&self, port: u16) -> Result<PortStatistics, Refusal> {
        let now = match &self.switch {
            Some(switch) => {
                switch.port_statistics(port).map_err(|_| Refusal::no_such_port(port))?
            }
            None => PortStatistics::default(),
        };
        let before = self.queues_before.get(&port).into_iter().flatten().map(|queue| queue.done);
        Ok(before.fold(PortStatistics::default(), PortStatistics::and) + now)
    }

    /// The counts of each of a port's queues under all programs, the first served first.
    ///
    /// # Errors
    /// If the port does not exist.
    pub fn queue_counts(&mut self, port: u16) -> Result<Vec<QueueCounts>, Refusal> {
        let queues = usize::from(self.port(port)?.queues);
        let mut each = match &self.switch {
            Some(switch) => {
                counts(switch, self.now, port).ok_or_else(|| Refusal::no_such_port(port))?
            }
            None => vec![QueueCounts::default(); queues],
        };
        if let Some(before) = self.queues_before.get(&port) {
            each.iter_mut().zip(before).for_each(|(now, before)| *now = before.then(*now));
        }
        Ok(each)
    }
}

/// The counts of each of a port's queues under one program; `None` if there is no such port.
fn counts(switch: &Switch, now: Time, port: u16) -> Option<Vec<QueueCounts>> {
    let done = switch.queue_statistics(port).ok()?;
    let waited = switch.queues_waited(now, port).ok()?;
    Some(done.into_iter().zip(waited).map(|(done, waited)| QueueCounts { done, waited }).collect())
}
