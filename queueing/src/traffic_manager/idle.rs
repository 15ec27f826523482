//! Packets that arrive at an idle port and leave immediately.

use super::{Arrival, Dequeued, TrafficManager};
use crate::discipline::QueueDiscipline;
use crate::ledger::QueueEvent;
use crate::queued::{Backlog, Label, Queued};
use narrows_common::{Duration, Time};

impl<P, D: QueueDiscipline<P>> TrafficManager<P, D> {
    /// True if a packet that arrives now at this port leaves immediately. Never where the queues
    /// differ: one of them may have used up its rate.
    #[inline]
    pub fn is_idle(&self, at: Time, port: usize) -> bool {
        let port = &self.ports[port];
        !port.armed
            && port.serializer.as_ref().is_none_or(|one| one.free_at(at) <= at)
            && port.next_waiting(0).is_none()
            && port.is_simple()
    }

    /// True if a packet may [`TrafficManager::pass`] this port while it is idle.
    #[inline]
    pub fn is_transparent(&self, port: usize) -> bool {
        // The queues of an idle port do not differ.
        self.ports[port].queues[0].discipline.is_transparent()
    }

    /// Takes a packet past the queue of a transparent port that is idle. Counts and ledger are
    /// those of [`TrafficManager::offer`] and [`TrafficManager::dequeue_idle`], which would store
    /// the packet and give it back.
    #[inline]
    pub fn pass(&mut self, at: Time, port: usize, arrival: Arrival<P>) -> Dequeued<P> {
        debug_assert!(self.is_idle(at, port) && self.is_transparent(port));
        let (index, number) = (port, self.numbered);
        self.numbered += 1;
        let port = &mut self.ports[index];
        let queue = port.queue_of(arrival.priority);
        let length = port.counts.bytes(arrival.frame_bytes);
        let label = Label { number, flow: arrival.flow, length };
        let (packet, depth) = (arrival.packet, Backlog::default().with(length));
        let queued = Queued { packet, label, enqueued_at: at, depth_before: 0, is_marked: false };
        let found = &mut port.queues[queue];
        found.count_enqueued(depth);
        let (rows, event) = (&mut self.records, QueueEvent::Enqueue);
        found.source.write(rows, at, event, label, depth, Duration::ZERO);
        let depth_after = port.count_departure(rows, at, queue, &queued);
        Dequeued { port: index, queue, at, queued, depth_after }
    }
}
