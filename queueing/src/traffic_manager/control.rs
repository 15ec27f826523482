//! What can be changed of a port while packets go through it, and what it has done.

use super::{TrafficManager, randomness};
use crate::discipline::{QueueDiscipline, Room};
use crate::disciplines::{Discipline, DisciplineConfig};
use crate::limit::QueueLimit;
use crate::port::PortQueue;
use crate::port::config::PortError;
use crate::port::serializer::PortSerializer;
use crate::queued::QueuedPacket;
use crate::statistics::PortStatistics;
use narrows_common::{Rate, Time};

impl<P: QueuedPacket> TrafficManager<P> {
    /// Gives a port's queues a discipline from `now` on, except those with one of their own. Where
    /// it is the one in force, the queue keeps its state and takes the parameters; otherwise
    /// waiting packets move to the new queue.
    ///
    /// # Errors
    /// When there is no such discipline, it does not take these parameters, or the port's core has
    /// another one.
    pub fn set_discipline(
        &mut self,
        now: Time,
        port: usize,
        config: &DisciplineConfig,
    ) -> Result<(), PortError> {
        if self.ports[port].core.is_some() {
            return self.set_core_discipline(port, config);
        }
        let number = self.ports[port].number;
        let refused = |error| PortError::Discipline { port: number, error };
        let (record, parameters) = config.resolve().map_err(refused)?;
        for queue in 0..self.ports[port].queues.len() {
            if self.ports[port].queues[queue].has_own_discipline {
                continue;
            }
            let PortQueue { discipline, backlog, .. } = &mut self.ports[port].queues[queue];
            if discipline.record().name == record.name {
                discipline.set_parameters(&parameters);
            } else {
                let before = *backlog;
                self.changes += 1;
                let own = randomness(self.seed, number, queue as u8, self.changes);
                let new = Discipline::build(config, own).map_err(refused)?;
                let mut old = std::mem::replace(discipline, new);
                while let Some(packet) = old.hand_over() {
                    discipline.enqueue(packet, now, &Room::UNLIMITED, &mut self.outcomes);
                }
                self.outcomes.were_stored();
                let (port, now) = self.split(now, port);
                port.settle(queue, before, now);
            }
            self.learn_timer(port, queue);
        }
        Ok(())
    }
}

impl<P, D: QueueDiscipline<P>> TrafficManager<P, D> {
    /// Sets a port's rate; the packet in transmission ends as it began.
    ///
    /// # Errors
    /// If the port follows a trace, or its core cannot have this rate.
    pub fn set_rate(&mut self, port: usize, rate: Rate) -> Result<(), PortError> {
        let number = self.ports[port].number;
        self.ports[port].set_core(|settings| settings.rate = rate)?;
        match &mut self.ports[port].serializer {
            Some(PortSerializer::Fixed(serializer)) => serializer.set_rate(rate),
            Some(PortSerializer::Traced(_)) => return Err(PortError::Traced(number)),
            none => *none = Some(PortSerializer::new(rate, None)),
        }
        Ok(())
    }

    /// Sets the limit of a port's queues; packets that wait already stay.
    ///
    /// # Errors
    /// If the port's core cannot have this limit.
    pub fn set_limit(&mut self, port: usize, limit: QueueLimit) -> Result<(), PortError> {
        self.ports[port].set_core(|settings| settings.limit = limit)?;
        self.ports[port].limit = limit;
        Ok(())
    }

    /// How long packets have waited, in packet-picoseconds and byte-picoseconds: each from its
    /// enqueue to its dequeue, or to `now`. It is the area under the port's depth.
    pub fn waited(&self, port: usize, now: Time) -> (u128, u128) {
        let each = (0..self.queues(port)).map(|queue| self.queue_waited(port, queue, now));
        each.fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1))
    }

    /// The same of one of a port's queues.
    pub fn queue_waited(&self, port: usize, queue: usize, now: Time) -> (u128, u128) {
        self.ports[port].queues[queue].waited(now)
    }

    /// What a port has done.
    pub fn statistics(&self, port: usize) -> PortStatistics {
        self.ports[port].statistics()
    }

    /// How many queues a port has.
    pub fn queues(&self, port: usize) -> usize {
        self.ports[port].queues.len()
    }

    /// What one of a port's queues has done.
    pub fn queue_statistics(&self, port: usize, queue: usize) -> PortStatistics {
        self.ports[port].queues[queue].statistics()
    }
}
