//! The traffic manager: each output port has queues, a scheduler among them, and an exact
//! serializer.
//!
//! A packet leaves its queue when its transmission starts; the wait until then is its sojourn time.
//! The packet in transmission does not count against a limit or a depth. A packet at an idle port
//! is enqueued and dequeued at the same instant. If a departure and an arrival coincide, the
//! departure comes first; a discipline's timer comes before both.

mod control;
mod cores;
mod duplicates;
mod idle;
mod scheduling;
mod timers;

use crate::discipline::QueueDiscipline;
use crate::disciplines::{Discipline, DisciplineConfig};
use crate::ledger::{QueueEvent, QueueRecord, Source};
use crate::outcomes::{DropReason, MarkReason, Outcomes};
use crate::port::config::{PortConfig, PortError};
use crate::port::{Now, Port, PortQueue};
use crate::port_core::Fate;
use crate::queued::{Label, Queued, QueuedPacket};
use crate::randomness::Randomness;
use crate::record::DisciplineError;
use narrows_common::{Duration, Rng, Time};
use std::collections::BTreeSet;

/// A packet that arrives at a port.
#[derive(Debug)]
pub struct Arrival<P> {
    /// The packet.
    pub packet: P,
    /// Its flow; 0 if it has none.
    pub flow: u32,
    /// Its priority; higher priorities are served first.
    pub priority: u64,
    /// The length of its frame, without check sequence.
    pub frame_bytes: u64,
}

/// A dequeued packet.
#[derive(Debug)]
pub struct Dequeued<P> {
    /// The port's index.
    pub port: usize,
    /// The queue's index; queue 0 is served first.
    pub queue: usize,
    /// The time.
    pub at: Time,
    /// The packet.
    pub queued: Queued<P>,
    /// Packets left in its queue.
    pub depth_after: u32,
}

/// A transmission that began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmission {
    /// The port's number.
    pub port: u16,
    /// When its first bit left.
    pub start: Time,
    /// When its last bit left.
    pub end: Time,
}

/// All ports, identified by index; [`TrafficManager::find`] finds the index of a number.
#[derive(Debug)]
pub struct TrafficManager<P, D = Discipline<P>> {
    ports: Vec<Port<D>>,
    /// Index into `ports` by port number, or `u32::MAX`.
    by_number: Vec<u32>,
    /// Ports with queued packets, ordered by when their serializer becomes free, the first one
    /// last. There are few.
    due: Vec<(Time, u32)>,
    /// A lower bound of all disciplines' timers.
    next_timer: Option<Time>,
    records: Vec<QueueRecord>,
    seed: u64,
    /// Disciplines that took another's place; each has random numbers of its own.
    changes: u64,
    numbered: u64,
    outcomes: Outcomes<P>,
    dropped: Vec<P>,
}

const NO_PORT: u32 = u32::MAX;

/// The random numbers of a port's queue, after so many changes of disciplines.
fn randomness(seed: u64, port: u16, queue: u8, changes: u64) -> Randomness {
    let name = format!("port {port}, queue {queue}, change {changes}");
    Randomness::Seeded(Rng::for_component(seed, &name))
}

/// Takes note of a discipline's timer.
#[inline]
fn learn<P>(next: &mut Option<Time>, discipline: &impl QueueDiscipline<P>) {
    if let Some(timer) = discipline.next_timer() {
        *next = Some(next.map_or(timer, |next| next.min(timer)));
    }
}

impl<P: QueuedPacket> TrafficManager<P> {
    /// Idle ports. `pipeline` says which of several traffic managers this is, `record` whether it
    /// keeps a ledger. The disciplines' random numbers follow from `seed`.
    ///
    /// # Errors
    /// When a port's configuration does not fit.
    pub fn new(
        ports: &[PortConfig],
        pipeline: u16,
        record: bool,
        seed: u64,
    ) -> Result<Self, PortError> {
        Self::with(ports, pipeline, record, seed, Discipline::build)
    }
}

impl<P, D: QueueDiscipline<P>> TrafficManager<P, D> {
    /// Like `new`, with queues of any discipline.
    ///
    /// # Errors
    /// Those of [`TrafficManager::new`].
    pub fn with(
        configs: &[PortConfig],
        pipeline: u16,
        record: bool,
        seed: u64,
        make: impl Fn(&DisciplineConfig, Randomness) -> Result<D, DisciplineError>,
    ) -> Result<Self, PortError> {
        let most = configs.iter().map(|config| config.port as usize + 1).max().unwrap_or(0);
        let mut by_number = vec![NO_PORT; most];
        let (mut numbers, mut ports) = (BTreeSet::new(), vec![]);
        for (i, config) in configs.iter().enumerate() {
            let number = config.port;
            if !numbers.insert(number) {
                return Err(PortError::Twice(number));
            }
            config.check()?;
            let is_recorded = record && config.record;
            let queue = |queue| {
                let class = config.classes.get(usize::from(queue));
                let own = class.and_then(|class| class.discipline.as_ref());
                let chosen = own.unwrap_or(&config.discipline);
                let discipline = make(chosen, randomness(seed, number, queue, 0))
                    .map_err(|error| PortError::Discipline { port: number, error })?;
                let source = Source { port: number, queue, is_recorded };
                Ok(PortQueue::new(discipline, source, class))
            };
            let queues = (0..config.queues).map(queue).collect::<Result<_, _>>()?;
            ports.push(Port::new(config, pipeline, queues));
            by_number[number as usize] = i as u32;
        }
        Ok(TrafficManager {
            ports,
            by_number,
            due: vec![],
            next_timer: None,
            records: vec![],
            seed,
            changes: 0,
            numbered: 0,
            outcomes: Outcomes::default(),
            dropped: vec![],
        })
    }

    /// The index of the port with this number.
    #[inline]
    pub fn find(&self, number: u64) -> Option<usize> {
        match self.by_number.get(number as usize) {
            Some(&port) if port != NO_PORT => Some(port as usize),
            _ => None,
        }
    }

    /// The number of a port.
    #[inline]
    pub fn number_of(&self, port: usize) -> u16 {
        self.ports[port].number
    }

    /// The traffic manager that has a port's queues, if it is another one.
    #[inline]
    pub fn elsewhere(&self, port: usize) -> Option<u16> {
        self.ports[port].elsewhere
    }

    /// The priority that a queue of a port serves.
    #[inline]
    pub fn priority_of(&self, port: usize, queue: usize) -> u64 {
        self.ports[port].priority_of(queue)
    }

    /// When [`TrafficManager::take_due`] must be called next.
    #[inline]
    pub fn next_due(&self) -> Option<Time> {
        let due = self.due.last().map(|&(at, _)| at);
        match self.next_timer {
            None => due,
            Some(timer) => Some(due.map_or(timer, |due| due.min(timer))),
        }
    }

    /// True while the port waits for its serializer; [`TrafficManager::take_due`] will return it.
    #[inline]
    pub fn is_armed(&self, port: usize) -> bool {
        self.ports[port].armed && !self.ports[port].held
    }

    /// Offers a packet to a port. Then take a packet that can leave immediately with
    /// [`TrafficManager::dequeue_idle`], and dropped packets with [`TrafficManager::poll_dropped`].
    #[inline]
    pub fn offer(&mut self, at: Time, port: usize, arrival: Arrival<P>)
    where
        P: QueuedPacket,
    {
        let number = self.numbered;
        self.numbered += 1;
        let index = port;
        if self.ports[index].core.is_some() {
            return self.offer_to_core(at, index, number, arrival);
        }
        let port = &mut self.ports[index];
        let queue_index = port.queue_for(arrival.priority, arrival.packet.packet());
        let room = port.room(at, queue_index);
        let length = port.counts.bytes(arrival.frame_bytes);
        let label = Label { number, flow: arrival.flow, length };
        let queue = &mut port.queues[queue_index];
        let mut depth = queue.backlog;
        let (depth_before, packet, is_marked) = (depth.packets as u32, arrival.packet, false);
        let queued = Queued { packet, label, enqueued_at: at, depth_before, is_marked };
        queue.discipline.enqueue(queued, at, &room, &mut self.outcomes);
        learn(&mut self.next_timer, &queue.discipline);
        let has_outcomes = !self.outcomes.is_empty();
        if !(has_outcomes && self.outcomes.has_refused(number)) {
            depth = depth.with(length);
            queue.count_enqueued(depth);
            let (rows, event) = (&mut self.records, QueueEvent::Enqueue);
            queue.source.write(rows, at, event, label, depth, Duration::ZERO);
        }
        if has_outcomes {
            let (port, now) = self.split(at, index);
            port.settle(queue_index, depth, now);
        }
    }

    /// The next packet of a port with a free serializer; a busy port becomes due when it is free.
    #[inline]
    pub fn dequeue_idle(&mut self, at: Time, port: usize) -> Option<Dequeued<P>> {
        let found = &self.ports[port];
        if found.scheduler.is_some() {
            return self.dequeue_scheduled(at, port);
        }
        if found.core.is_some() {
            return self.dequeue_from_core(at, port);
        }
        if found.armed {
            return None;
        }
        let queue = found.next_waiting(0)?;
        let free_at = found.serializer.as_ref().map(|serializer| serializer.free_at(at));
        if let Some(free_at) = free_at.filter(|&free| free > at) {
            self.arm(port, free_at);
            return None;
        }
        self.dequeue_waiting(at, port, queue)
    }

    /// The next packet of a port with a free serializer; `queue` is the first in which packets
    /// wait. Most calls of [`TrafficManager::dequeue_idle`] do not come so far.
    #[inline(never)]
    fn dequeue_waiting(&mut self, at: Time, port: usize, queue: usize) -> Option<Dequeued<P>> {
        let mut queue = queue;
        loop {
            if let Some(found) = self.dequeue_from(at, port, queue) {
                return Some(found);
            }
            // The discipline has dropped all packets of the queue.
            queue = self.ports[port].next_waiting(queue + 1)?;
        }
    }

    /// The next packet of a queue, unless the discipline discards all queued packets.
    // Every packet takes this path; a call would copy it once more.
    #[inline(always)]
    fn dequeue_from(&mut self, at: Time, port: usize, queue: usize) -> Option<Dequeued<P>> {
        let found = &mut self.ports[port].queues[queue];
        let queued = found.discipline.dequeue(at, &mut self.outcomes);
        learn(&mut self.next_timer, &found.discipline);
        if !self.outcomes.is_empty() {
            let before = found.backlog;
            let (port, now) = self.split(at, port);
            port.settle(queue, before, now);
        }
        let queued = queued?;
        let depth_after = self.ports[port].count_departure(&mut self.records, at, queue, &queued);
        Some(Dequeued { port, queue, at, queued, depth_after })
    }

    /// The port becomes due at this time: it enters the due list, whose last is due first.
    #[inline]
    fn arm(&mut self, port: usize, at: Time) {
        self.ports[port].armed = true;
        let (due, mut last) = ((at, port as u32), self.due.len());
        self.due.push(due);
        while last > 0 && self.due[last - 1] <= due {
            self.due.swap(last - 1, last);
            last -= 1;
        }
    }

    /// The first port due by `now`, with a free serializer, and its time. Earlier timers have been
    /// handled.
    #[inline]
    pub fn take_due(&mut self, now: Time) -> Option<(Time, usize)> {
        if self.next_timer.is_some_and(|timer| timer <= now) {
            self.serve_timers(now);
        }
        let (at, port) = *self.due.last().filter(|&&(at, _)| at <= now)?;
        self.due.pop();
        let found = &mut self.ports[port as usize];
        (found.armed, found.held) = (false, false);
        Some((at, port as usize))
    }

    /// A port, and what an operation on one of its queues needs besides.
    fn split(&mut self, at: Time, port: usize) -> (&mut Port<D>, Now<'_, P>) {
        let TrafficManager { ports, records, outcomes, dropped, .. } = self;
        (&mut ports[port], Now { at, rows: records, outcomes, dropped })
    }

    /// The next packet that a discipline dropped.
    #[inline]
    pub fn poll_dropped(&mut self) -> Option<P> {
        self.dropped.pop()
    }

    /// Sends a packet of this frame length, which was dequeued at `at`.
    #[inline]
    pub fn transmit(&mut self, at: Time, port: usize, frame_bytes: u64) -> Transmission {
        let port = &mut self.ports[port];
        let bytes = port.counts.bytes(frame_bytes);
        let done = &mut port.queues[port.served].done;
        done.transmitted += 1;
        done.transmitted_bytes += bytes.get();
        if let Some(scheduler) = &mut port.scheduler {
            scheduler.count_sent(port.served, at, bytes.get());
        }
        let (start, end) = match (&mut port.core, &mut port.serializer) {
            (Some(core), _) => core.finish(Fate::Sent, frame_bytes),
            (None, Some(serializer)) => serializer.send(at, bytes.bits()),
            (None, None) => (at, at),
        };
        Transmission { port: port.number, start, end }
    }

    /// The owner drops a packet after its dequeue instead of sending it.
    pub fn drop_dequeued(&mut self, at: Time, port: usize, queue: usize, label: Label) {
        if self.ports[port].core.is_some() {
            return self.drop_from_core(port, label);
        }
        let port = &mut self.ports[port];
        let depth = port.queues[queue].backlog;
        let reason = DropReason::EGRESS_PROGRAM;
        port.count_dropped(&mut self.records, at, queue, label, depth, reason);
    }

    /// The owner marked a packet after its dequeue.
    #[cold]
    pub fn count_mark(&mut self, at: Time, port: usize, queue: usize, label: Label) {
        let reason = MarkReason::EGRESS_PROGRAM;
        let PortQueue { source, done, backlog, .. } = &mut self.ports[port].queues[queue];
        done.marks[reason] += 1;
        let event = QueueEvent::Mark(reason);
        source.write(&mut self.records, at, event, label, *backlog, Duration::ZERO);
    }

    /// The ledger's rows so far; the caller takes them out.
    pub fn records(&mut self) -> &mut Vec<QueueRecord> {
        &mut self.records
    }
}
