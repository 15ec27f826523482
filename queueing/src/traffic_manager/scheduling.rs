//! Ports whose queues differ: by weights, rates or limits.

use super::{Dequeued, TrafficManager};
use crate::discipline::QueueDiscipline;
use crate::port::config::PortError;
use crate::port::scheduler::{QueueShare, Turn};
use narrows_common::Time;

impl<P, D: QueueDiscipline<P>> TrafficManager<P, D> {
    /// The next packet of such a port. A port that must wait becomes due.
    #[cold]
    pub(super) fn dequeue_scheduled(&mut self, at: Time, index: usize) -> Option<Dequeued<P>> {
        if self.ports[index].armed {
            if !self.ports[index].held {
                return None;
            }
            // A packet for another queue may have arrived, so the port chooses again.
            self.due.retain(|&(_, port)| port != index as u32);
            (self.ports[index].armed, self.ports[index].held) = (false, false);
        }
        loop {
            let port = &mut self.ports[index];
            let queues = &port.queues;
            let waits = |queue: usize| queues[queue].backlog.packets > 0;
            let turn = port.scheduler.as_mut()?.next(at, waits);
            let free_at = port.serializer.as_ref().map_or(Time::ZERO, |one| one.free_at(at));
            match turn {
                Turn::Nobody => return None,
                _ if free_at > at => {
                    self.arm(index, free_at);
                    return None;
                }
                Turn::Held(until) => {
                    self.arm(index, until);
                    self.ports[index].held = true;
                    return None;
                }
                Turn::Queue(queue) => {
                    if let Some(found) = self.dequeue_from(at, index, queue) {
                        return Some(found);
                    }
                }
            }
        }
    }

    /// Changes the weight or the rate of one of a port's queues.
    ///
    /// # Errors
    /// If the queue has no settings of its own, or a value does not fit it.
    pub fn set_share(&mut self, port: usize, change: QueueShare) -> Result<(), PortError> {
        let (number, queue) = (self.ports[port].number, usize::from(change.queue));
        let error = |what: &str| PortError::Class { port: number, queue, what: what.to_owned() };
        change.check().map_err(error)?;
        let queues = self.ports[port].queues.len();
        let scheduler = self.ports[port].scheduler.as_mut().filter(|_| queue < queues);
        let scheduler = scheduler.ok_or_else(|| error("the port has no classes for it"))?;
        scheduler.set(change).map_err(error)
    }
}
