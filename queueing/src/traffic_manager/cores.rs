//! Ports whose decisions are a core's: the traffic manager keeps the packets and the counts.

use super::{Arrival, Dequeued, TrafficManager};
use crate::discipline::{QueueDiscipline, Room};
use crate::disciplines::{Discipline, DisciplineConfig};
use crate::ledger::{QueueEvent, QueueRecord};
use crate::port::Port;
use crate::port::config::PortError;
use crate::port::core_queue::CoreQueue;
use crate::port::serializer::PortSerializer;
use crate::port_core::{CoreSettings, Fate, PortCore, discipline_of};
use crate::queued::{Label, Queued, QueuedPacket};
use crate::randomness::Randomness;
use narrows_common::{Rng, Time};

impl<P: QueuedPacket> TrafficManager<P> {
    /// Gives each port with a rate a core. No packet has arrived yet.
    ///
    /// # Errors
    /// When a port has what a core has not: several queues, a trace, another discipline, a setting
    /// out of range.
    pub fn use_cores(
        &mut self,
        make: &mut dyn FnMut() -> Box<dyn PortCore>,
    ) -> Result<(), PortError> {
        for port in &mut self.ports {
            let number = port.number;
            let error = |what: &str| PortError::Core { port: number, what: what.to_owned() };
            let Some(serializer) = &port.serializer else { continue };
            let PortSerializer::Fixed(serializer) = serializer else {
                return Err(PortError::Traced(number));
            };
            let [queue] = port.queues.as_mut_slice() else {
                return Err(error("it has several queues: a core has one"));
            };
            if port.scheduler.is_some() || port.elsewhere.is_some() {
                return Err(error("it has classes or pipelines: a core has neither"));
            }
            let discipline = discipline_of(&queue.discipline).map_err(error)?;
            let (rate, limit, counts) = (serializer.rate(), port.limit, port.counts);
            let settings = CoreSettings { rate, limit, counts, discipline };
            let name = queue.discipline.record().name;
            let core = CoreQueue::new(make(), settings, name).map_err(|what| error(&what))?;
            queue.discipline = plain();
            port.core = Some(Box::new(core));
        }
        Ok(())
    }

    /// Gives the discipline of a port's core other parameters.
    pub(super) fn set_core_discipline(
        &mut self,
        port: usize,
        config: &DisciplineConfig,
    ) -> Result<(), PortError> {
        let number = self.ports[port].number;
        let unused = Randomness::Seeded(Rng::from_seed(0));
        let made = Discipline::<P>::build(config, unused)
            .map_err(|error| PortError::Discipline { port: number, error })?;
        let error = |what: &str| PortError::Core { port: number, what: what.to_owned() };
        let discipline = discipline_of(&made).map_err(error)?;
        // Another discipline would enqueue the waiting packets again, and mark them.
        let in_force = self.ports[port].core.as_ref().map_or("", |core| core.discipline);
        if made.record().name != in_force {
            return Err(error(&format!("discipline {}: a core keeps its {in_force}", config.name)));
        }
        self.ports[port].set_core(|settings| settings.discipline = discipline)
    }
}

/// A queue that only keeps packets.
fn plain<P: QueuedPacket>() -> Discipline<P> {
    let config = DisciplineConfig::default();
    Discipline::build(&config, Randomness::Seeded(Rng::from_seed(0)))
        .expect("DropTail needs nothing")
}

impl<P, D: QueueDiscipline<P>> TrafficManager<P, D> {
    /// [`TrafficManager::offer`] at a port with a core.
    #[cold]
    pub(super) fn offer_to_core(&mut self, at: Time, index: usize, number: u64, arrival: Arrival<P>)
    where
        P: QueuedPacket,
    {
        let port = &mut self.ports[index];
        let length = port.counts.bytes(arrival.frame_bytes);
        let label = Label { number, flow: arrival.flow, length };
        let depth_before = port.queues[0].backlog.packets as u32;
        let packet = arrival.packet;
        let queued = Queued { packet, label, enqueued_at: at, depth_before, is_marked: false };
        let core = port.core.as_mut().expect("the port has a core");
        if core.offer(at, arrival.frame_bytes, queued.takes_marks()) {
            port.queues[0].discipline.enqueue(queued, at, &Room::UNLIMITED, &mut self.outcomes);
        } else {
            port.queues[0].done.refused += 1;
            self.dropped.push(queued.packet);
        }
        port.settle_core(label, &mut self.records);
    }

    /// [`TrafficManager::dequeue_idle`] at a port with a core.
    #[cold]
    pub(super) fn dequeue_from_core(&mut self, at: Time, index: usize) -> Option<Dequeued<P>> {
        let port = &mut self.ports[index];
        if port.armed {
            return None;
        }
        let core = port.core.as_mut().expect("the port has a core");
        let due = core.due()?;
        if due > at {
            self.arm(index, due);
            return None;
        }
        let (dequeued, dropped) = core.dequeue(at)?;
        for _ in 0..dropped {
            let queued = port.queues[0].discipline.dequeue(at, &mut self.outcomes)?;
            port.settle_core(queued.label, &mut self.records);
            self.dropped.push(queued.packet);
        }
        let mut queued = port.queues[0].discipline.dequeue(at, &mut self.outcomes)?;
        queued.is_marked = dequeued.is_marked;
        port.settle_core(queued.label, &mut self.records);
        let depth_after = port.queues[0].backlog.packets as u32;
        Some(Dequeued { port: index, queue: 0, at, queued, depth_after })
    }

    /// [`TrafficManager::drop_dequeued`] at a port with a core.
    #[cold]
    pub(super) fn drop_from_core(&mut self, index: usize, label: Label) {
        let port = &mut self.ports[index];
        port.core.as_mut().expect("the port has a core").finish(Fate::Dropped, 0);
        port.settle_core(label, &mut self.records);
    }
}

impl<D> Port<D> {
    /// Changes the settings of the port's core, if it has one.
    pub(super) fn set_core(&mut self, change: impl Fn(&mut CoreSettings)) -> Result<(), PortError> {
        let port = self.number;
        let set = self.core.as_mut().map_or(Ok(()), |core| core.set(change));
        set.map_err(|what| PortError::Core { port, what })
    }

    /// Counts and records what the core did in one call to one packet. A drop is the last of it.
    fn settle_core(&mut self, label: Label, records: &mut Vec<QueueRecord>) {
        while let Some(row) = self.core.as_mut().and_then(|core| core.poll_row()) {
            assert_eq!(row.length, label.length, "the core counts the same bytes");
            let queue = &mut self.queues[0];
            match row.event {
                QueueEvent::Enqueue => queue.count_enqueued(row.depth),
                QueueEvent::Dequeue => {
                    queue.backlog = row.depth;
                    queue.count_dequeued(row.sojourn, label);
                }
                QueueEvent::Drop(reason) => queue.count_drop(reason, label),
                QueueEvent::Mark(reason) => queue.done.marks[reason] += 1,
            }
            let source = self.queues[0].source;
            source.write(records, row.at, row.event, label, row.depth, row.sojourn);
            if matches!(row.event, QueueEvent::Drop(_)) {
                break;
            }
        }
    }
}
