//! An output port: queues, and the scheduler that chooses among them, in front of an exact
//! serializer.

pub(crate) mod config;
pub(crate) mod core_queue;
pub(crate) mod scheduler;
pub(crate) mod serializer;

use crate::discipline::{QueueDiscipline, Room};
use crate::ledger::{QueueEvent, QueueRecord, Source};
use crate::limit::QueueLimit;
use crate::outcomes::{DropReason, Dropped, Outcome, Outcomes};
use crate::port::config::PortConfig;
use crate::port::core_queue::CoreQueue;
use crate::port::scheduler::{QueueConfig, Scheduler};
use crate::port::serializer::PortSerializer;
use crate::queued::{Backlog, Label, Queued};
use crate::statistics::PortStatistics;
use narrows_common::{Duration, LengthBasis, Packet, Rate, Time};

/// A queue, and the source of its ledger rows.
#[derive(Debug)]
pub(crate) struct PortQueue<D> {
    pub discipline: D,
    /// Its limit, if it differs from the port's.
    pub limit: Option<QueueLimit>,
    /// The discipline is its own, and stays when the port's changes.
    pub has_own_discipline: bool,
    pub source: Source,
    /// What waits. It is the discipline's backlog, which costs a dispatch to ask for.
    pub backlog: Backlog,
    /// What it has done, without what waits.
    pub done: PortStatistics,
    /// Packet- and byte-picoseconds that packets waited which have left.
    waited: (u128, u128),
}

#[derive(Debug)]
pub(crate) struct Port<D> {
    pub number: u16,
    /// The traffic manager that has its queues, if it is another one.
    pub elsewhere: Option<u16>,
    /// `None` for a port without a rate.
    pub serializer: Option<PortSerializer>,
    pub limit: QueueLimit,
    pub counts: LengthBasis,
    /// The first is served first.
    pub queues: Vec<PortQueue<D>>,
    /// Chooses among queues that differ; `None` for strict priorities.
    pub scheduler: Option<Box<Scheduler>>,
    /// True while the port is in the due list: packets wait for its serializer.
    pub armed: bool,
    /// True while the port is in the due list although its serializer is free: the queues with
    /// packets have used up their rates.
    pub held: bool,
    /// A core that decides in place of the discipline and the serializer.
    pub core: Option<Box<CoreQueue>>,
    /// The queue that was served last.
    pub served: usize,
}

impl<D> PortQueue<D> {
    /// An empty queue, and what it has of its own, if anything.
    pub(crate) fn new(discipline: D, source: Source, class: Option<&QueueConfig>) -> Self {
        PortQueue {
            discipline,
            limit: class.and_then(|class| class.limit),
            has_own_discipline: class.is_some_and(|class| class.discipline.is_some()),
            source,
            backlog: Backlog::default(),
            done: PortStatistics::default(),
            waited: (0, 0),
        }
    }

    /// A packet was stored; `depth` is the backlog including it.
    #[inline]
    pub(crate) fn count_enqueued(&mut self, depth: Backlog) {
        self.backlog = depth;
        self.done.enqueued += 1;
        self.done.depth_max_packets = self.done.depth_max_packets.max(depth.packets);
        self.done.depth_max_bytes = self.done.depth_max_bytes.max(depth.bytes.get());
    }

    /// A packet left after this sojourn time.
    #[inline]
    pub(crate) fn count_dequeued(&mut self, sojourn: Duration, label: Label) {
        self.done.dequeued += 1;
        self.waited.0 += u128::from(sojourn.as_ps());
        self.waited.1 += u128::from(sojourn.as_ps()) * u128::from(label.length.get());
    }

    /// It dropped a packet.
    #[inline]
    pub(crate) fn count_drop(&mut self, reason: DropReason, label: Label) {
        self.done.drops[reason] += 1;
        if reason != DropReason::EGRESS_PROGRAM {
            self.done.dropped_bytes += label.length.get();
        }
    }

    /// The integral of its length until `now`, in packet- and byte-picoseconds.
    pub(crate) fn waited<P>(&self, now: Time) -> (u128, u128)
    where
        D: QueueDiscipline<P>,
    {
        let (mut packets, mut bytes) = self.waited;
        self.discipline.visit(&mut |queued| {
            let since = u128::from(now.saturating_since(queued.enqueued_at).as_ps());
            packets += since;
            bytes += since * u128::from(queued.label.length.get());
        });
        (packets, bytes)
    }

    /// Its counts, and its backlog.
    pub(crate) fn statistics(&self) -> PortStatistics {
        let Backlog { packets, bytes } = self.backlog;
        PortStatistics { waiting_packets: packets, waiting_bytes: bytes.get(), ..self.done }
    }
}

impl<D> Port<D> {
    pub(crate) fn new(config: &PortConfig, pipeline: u16, queues: Vec<PortQueue<D>>) -> Self {
        Port {
            number: config.port,
            elsewhere: (config.pipeline != pipeline).then_some(config.pipeline),
            serializer: config
                .rate_bps
                .map(|bps| PortSerializer::new(Rate::from_bps(bps), config.trace.as_ref())),
            limit: config.queue,
            counts: config.counts,
            queues,
            scheduler: (!config.classes.is_empty())
                .then(|| Box::new(Scheduler::new(&config.classes))),
            armed: false,
            held: false,
            core: None,
            served: 0,
        }
    }

    /// The queue of a priority; higher priorities are served first.
    #[inline]
    pub(crate) fn queue_of(&self, priority: u64) -> usize {
        let last = self.queues.len() - 1;
        last - priority.min(last as u64) as usize
    }

    /// The priority that a queue serves.
    #[inline]
    pub(crate) fn priority_of(&self, queue: usize) -> u64 {
        (self.queues.len() - 1 - queue) as u64
    }

    /// The queue of a packet: by its priority, or by its code point if it has none and the queues
    /// differ.
    #[inline]
    pub(crate) fn queue_for(&self, priority: u64, packet: &Packet) -> usize {
        match &self.scheduler {
            Some(scheduler) if priority == 0 => scheduler.queue_of(packet),
            _ => self.queue_of(priority),
        }
    }

    /// The room for a packet that arrives at `now` for one of the queues.
    #[inline]
    pub(crate) fn room(&self, now: Time, queue: usize) -> Room {
        match &self.scheduler {
            None => self.port_room(now),
            Some(scheduler) => self.queue_room(now, queue, scheduler),
        }
    }

    /// The room of a queue that differs from the others.
    #[cold]
    fn queue_room(&self, now: Time, queue: usize, scheduler: &Scheduler) -> Room {
        let mut room = self.port_room(now);
        room.limit = self.queues[queue].limit.unwrap_or(room.limit);
        if let Some(shaper) = scheduler.shaper(queue) {
            room.rate = Some(room.rate.map_or(shaper.rate(), |rate| rate.min(shaper.rate())));
            room.free_at = room.free_at.max(shaper.free_at());
            room.is_idle &= shaper.free_at() <= now;
        }
        room
    }

    #[inline]
    fn port_room(&self, now: Time) -> Room {
        match &self.serializer {
            Some(serializer) => {
                let (rate, free_at) = (Some(serializer.rate()), serializer.free_at(now));
                let is_idle = !self.armed && free_at <= now;
                Room { limit: self.limit, rate, free_at, is_idle }
            }
            None => Room { limit: self.limit, ..Room::UNLIMITED },
        }
    }

    /// The first queue from `from` on in which packets wait.
    #[inline]
    pub(crate) fn next_waiting(&self, from: usize) -> Option<usize> {
        let waits = |queue: &PortQueue<D>| queue.backlog.packets > 0;
        Some(from + self.queues[from..].iter().position(waits)?)
    }

    /// True if its own queues and serializer serve strict priorities, and nothing else decides.
    #[inline]
    pub(crate) fn is_simple(&self) -> bool {
        self.elsewhere.is_none() && self.scheduler.is_none() && self.core.is_none()
    }

    /// Counts and records a packet that its queue sends. Returns how many packets are left.
    #[inline]
    pub(crate) fn count_departure<P>(
        &mut self,
        rows: &mut Vec<QueueRecord>,
        at: Time,
        queue: usize,
        queued: &Queued<P>,
    ) -> u32 {
        let (label, sojourn) = (queued.label, at.saturating_since(queued.enqueued_at));
        self.served = queue;
        let queue = &mut self.queues[queue];
        queue.count_dequeued(sojourn, label);
        queue.backlog = queue.backlog.without(label.length);
        queue.source.write(rows, at, QueueEvent::Dequeue, label, queue.backlog, sojourn);
        queue.backlog.packets as u32
    }

    /// A packet was dropped after its dequeue.
    pub(crate) fn count_dropped(
        &mut self,
        rows: &mut Vec<QueueRecord>,
        at: Time,
        queue: usize,
        label: Label,
        depth: Backlog,
        reason: DropReason,
    ) {
        let queue = &mut self.queues[queue];
        queue.count_drop(reason, label);
        queue.source.write(rows, at, QueueEvent::Drop(reason), label, depth, Duration::ZERO);
    }
}

/// The context of an operation on a queue, besides its port.
pub(crate) struct Now<'a, P> {
    pub at: Time,
    pub rows: &'a mut Vec<QueueRecord>,
    pub outcomes: &'a mut Outcomes<P>,
    /// Receives the dropped packets.
    pub dropped: &'a mut Vec<P>,
}

impl<D> Port<D> {
    /// Counts and records a discipline's drops. `depth` is the backlog before; returns the backlog
    /// now, which is the queue's.
    #[inline(never)]
    pub(crate) fn settle<P>(
        &mut self,
        queue: usize,
        mut depth: Backlog,
        now: Now<'_, P>,
    ) -> Backlog {
        let Now { at, rows, outcomes, dropped } = now;
        for outcome in outcomes.all.drain(..) {
            let Dropped { packet, reason, was_stored } = match outcome {
                Outcome::Dropped(event) => event,
                Outcome::Marked(label, reason) => {
                    let PortQueue { source, done, .. } = &mut self.queues[queue];
                    done.marks[reason] += 1;
                    let event = QueueEvent::Mark(reason);
                    source.write(rows, at, event, label, depth, Duration::ZERO);
                    continue;
                }
            };
            let Queued { packet, label, enqueued_at, .. } = packet;
            match was_stored {
                true => {
                    depth = depth.without(label.length);
                    let sojourn = at.saturating_since(enqueued_at);
                    self.queues[queue].count_dequeued(sojourn, label);
                    let source = self.queues[queue].source;
                    source.write(rows, at, QueueEvent::Dequeue, label, depth, sojourn);
                }
                false => self.queues[queue].done.refused += 1,
            }
            self.count_dropped(rows, at, queue, label, depth, reason);
            dropped.push(packet);
        }
        self.queues[queue].backlog = depth;
        depth
    }

    /// The port's counts, and its backlog.
    pub(crate) fn statistics(&self) -> PortStatistics {
        let queues = self.queues.iter().map(PortQueue::statistics);
        queues.fold(PortStatistics::default(), PortStatistics::and)
    }
}
