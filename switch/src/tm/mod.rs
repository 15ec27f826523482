//! The traffic manager: per output port a line of exact rate and strict-priority DropTail queues.
//!
//! A packet leaves its queue when its transmission starts; the wait until then is its sojourn.
//! The packet in transmission counts against no limit and no depth. An idle port's packet is
//! enqueued and dequeued at one instant. Where a departure and an arrival fall on the same
//! instant, the departure comes first.

mod ack_filter;
mod limit;
mod queue;

pub use limit::{Discipline, QueueLimit};
pub(crate) use queue::{Item, Label};

use narrows_common::record::{DropReason, QueueEvent, QueueRecord};
use narrows_common::{Bytes, Duration, LengthBasis, Packet, Rate, Serializer, Time};
use queue::Queue;
use serde::Deserialize;

/// An output port.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PortConfig {
    /// Its number in the program.
    pub port: u16,
    /// Bits per second; none means that packets leave as they come, never queued.
    #[serde(default)]
    pub rate_bps: Option<u64>,
    /// The limit of each of its queues.
    pub queue: QueueLimit,
    /// What its queues do beside keeping to the limit.
    #[serde(default)]
    pub discipline: Discipline,
    /// What counts against rate and limit.
    pub counts: LengthBasis,
    /// Strict priorities; `standard_metadata.priority` chooses, a higher value is served first.
    #[serde(default = "one")]
    pub queues: u8,
    /// Whether its events are recorded, where the switch records at all.
    #[serde(default = "yes")]
    pub record: bool,
    /// The pipeline that has its queues and its egress ([`crate::SwitchConfig::pipeline`]).
    #[serde(default)]
    pub pipeline: u16,
}

fn one() -> u8 {
    1
}

fn yes() -> bool {
    true
}

/// What a port has done. `enqueued` is `dequeued` and what waits; what came to the port is
/// `enqueued` and `dropped_queue_full`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortStatistics {
    /// Packets stored.
    pub enqueued: u64,
    /// Packets taken out for egress.
    pub dequeued: u64,
    /// Packets that found the queue at its limit.
    pub dropped_queue_full: u64,
    /// Packets that the program's egress dropped, after their dequeue.
    pub dropped_egress: u64,
    /// ACKs that a later one superseded, after their dequeue.
    pub dropped_ack_filter: u64,
    /// Packets whose transmission began.
    pub transmitted: u64,
    /// Bytes of these that count against the rate.
    pub transmitted_bytes: u64,
    /// Most packets that waited in one of its queues.
    pub depth_max_packets: u64,
    /// Most bytes that waited in one of its queues.
    pub depth_max_bytes: u64,
    /// Packets waiting now.
    pub waiting_packets: u64,
    /// Bytes waiting now.
    pub waiting_bytes: u64,
}

#[derive(Debug)]
pub(crate) struct Port {
    pub number: u16,
    /// The pipeline that has its queues, where that is another one.
    pub elsewhere: Option<u16>,
    line: Option<Serializer>,
    limit: QueueLimit,
    discipline: Discipline,
    pub counts: LengthBasis,
    /// The first is served first.
    queues: Vec<Queue>,
    /// True while the port is among those due: packets wait for its line.
    pub armed: bool,
    pub statistics: PortStatistics,
    /// Packet- and byte-picoseconds that packets waited which were taken out.
    waited: (u128, u128),
}

impl Port {
    fn waiting(&self) -> bool {
        self.queues.iter().any(|queue| queue.packets() > 0)
    }

    /// The queue of a priority, where a higher one is served first.
    fn queue_of(&self, priority: u64) -> usize {
        let last = self.queues.len() - 1;
        last - priority.min(last as u64) as usize
    }

    /// The priority that a queue serves.
    pub(crate) fn priority_of(&self, queue: usize) -> u64 {
        (self.queues.len() - 1 - queue) as u64
    }

    /// A packet has left a queue.
    #[inline]
    fn count_dequeued(&mut self, sojourn: Duration, length: Bytes) {
        self.statistics.dequeued += 1;
        self.waited.0 += u128::from(sojourn.as_ps());
        self.waited.1 += u128::from(sojourn.as_ps()) * u128::from(length.get());
    }
}

/// A transmission that began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// From which port.
    pub port: u16,
    /// When its first bit left.
    pub start: Time,
    /// When its last bit left.
    pub end: Time,
    /// The packet, as the program left it.
    pub packet: Packet,
}

/// A packet taken out of its queue.
#[derive(Debug)]
pub(crate) struct Dequeued {
    pub port: usize,
    pub queue: usize,
    pub at: Time,
    pub item: Box<Item>,
    /// Packets that wait behind it in its queue.
    pub depth_after: u32,
}

/// All ports.
#[derive(Debug)]
pub(crate) struct TrafficManager {
    pub ports: Vec<Port>,
    /// Index into `ports` by port number, or `u32::MAX`.
    by_number: Vec<u32>,
    /// Ports with packets waiting, by when their line becomes free, the first due at the end. They
    /// are few.
    due: Vec<(Time, u32)>,
    pub records: Vec<QueueRecord>,
    numbered: u64,
    /// Packets that a queue has thrown out, to be taken.
    #[expect(clippy::vec_box, reason = "an item keeps its place")]
    pub thrown_out: Vec<Box<Item>>,
}

const NO_PORT: u32 = u32::MAX;

impl TrafficManager {
    pub(crate) fn new(ports: &[PortConfig], pipeline: u16, record: bool) -> Self {
        let most = ports.iter().map(|port| port.port as usize + 1).max().unwrap_or(0);
        let mut by_number = vec![NO_PORT; most];
        for (i, port) in ports.iter().enumerate() {
            by_number[port.port as usize] = i as u32;
        }
        let queue = |config: &PortConfig, index: u8| {
            Queue::new(config.port, index, record && config.record)
        };
        let port = |config: &PortConfig| Port {
            number: config.port,
            elsewhere: (config.pipeline != pipeline).then_some(config.pipeline),
            line: config.rate_bps.map(|bps| Serializer::new(Rate::from_bps(bps))),
            limit: config.queue,
            discipline: config.discipline,
            counts: config.counts,
            queues: (0..config.queues).map(|index| queue(config, index)).collect(),
            armed: false,
            statistics: PortStatistics::default(),
            waited: (0, 0),
        };
        TrafficManager {
            ports: ports.iter().map(port).collect(),
            by_number,
            due: vec![],
            records: vec![],
            numbered: 0,
            thrown_out: vec![],
        }
    }

    #[inline]
    pub(crate) fn find(&self, number: u64) -> Option<usize> {
        match self.by_number.get(number as usize) {
            Some(&port) if port != NO_PORT => Some(port as usize),
            _ => None,
        }
    }

    /// When the next line with packets waiting becomes free.
    #[inline]
    pub(crate) fn next_due(&self) -> Option<Time> {
        self.due.last().map(|&(at, _)| at)
    }

    /// A packet that comes to this port now leaves it at once.
    pub(crate) fn is_idle(&self, at: Time, port: usize) -> bool {
        let port = &self.ports[port];
        let is_free = port.line.as_ref().is_none_or(|line| line.free_at() <= at);
        is_free && !port.armed && !port.waiting() && port.elsewhere.is_none()
    }

    /// Offers a packet to a port. Returns it when there is no room. A packet that can leave at
    /// once must be taken with [`TrafficManager::dequeue_idle`].
    #[inline]
    pub(crate) fn offer(
        &mut self,
        at: Time,
        port: usize,
        priority: u64,
        frame_bytes: u64,
        mut item: Box<Item>,
    ) -> Option<Box<Item>> {
        let TrafficManager { ports, records, numbered, thrown_out, .. } = self;
        let port = &mut ports[port];
        let place = port.queue_of(priority);
        let queue = &mut port.queues[place];
        let length = port.counts.bytes(frame_bytes);
        item.label = Label { number: *numbered, length, ..item.label };
        *numbered += 1;
        item.enqueued_at = at;
        let packets = queue.packets();
        item.depth_before = packets as u32;
        let label = item.label;
        if let Some(line) = &port.line {
            let idle = !port.armed && line.free_at() <= at;
            if !idle && !port.limit.admits(packets as u64, queue.bytes(), length, line.rate()) {
                port.statistics.dropped_queue_full += 1;
                queue.note(records, at, QueueEvent::Drop(DropReason::QueueFull), label);
                return Some(item);
            }
        }
        let ack = match port.discipline {
            Discipline::DropTail => None,
            Discipline::AckFilter => ack_filter::pure_ack(&item.packet),
        };
        queue.push(item);
        let statistics = &mut port.statistics;
        statistics.enqueued += 1;
        statistics.depth_max_packets = statistics.depth_max_packets.max(packets as u64 + 1);
        statistics.depth_max_bytes = statistics.depth_max_bytes.max(queue.bytes().get());
        queue.note(records, at, QueueEvent::Enqueue, label);
        if let Some(ack) = ack {
            let is_superseded = |packet: &Packet| ack_filter::is_superseded(packet, ack);
            while let Some(item) = port.queues[place].take_out(is_superseded) {
                let sojourn = port.queues[place].note_dequeue(records, at, &item);
                port.count_dequeued(sojourn, item.label.length);
                port.statistics.dropped_ack_filter += 1;
                let event = QueueEvent::Drop(DropReason::AckFilter);
                port.queues[place].note(records, at, event, item.label);
                thrown_out.push(item);
            }
        }
        None
    }

    /// The next packet of a port whose line is free; otherwise the port is due when it will be.
    #[inline]
    pub(crate) fn dequeue_idle(&mut self, at: Time, port: usize) -> Option<Dequeued> {
        let found = &mut self.ports[port];
        if found.armed {
            return None;
        }
        let mut queues = found.queues.iter_mut().enumerate();
        let (place, queue) = queues.find(|(_, queue)| queue.packets() > 0)?;
        if let Some(free_at) =
            found.line.as_ref().map(Serializer::free_at).filter(|&free| free > at)
        {
            found.armed = true;
            let due = (free_at, port as u32);
            let later = self.due.iter().take_while(|&&other| other > due).count();
            self.due.insert(later, due);
            return None;
        }
        let item = queue.pop()?;
        let depth_after = queue.packets() as u32;
        let sojourn = queue.note_dequeue(&mut self.records, at, &item);
        found.count_dequeued(sojourn, item.label.length);
        Some(Dequeued { port, queue: place, at, item, depth_after })
    }

    /// The port that is due first, and when, if that is not after `now`; its line is free then.
    #[inline]
    pub(crate) fn take_due(&mut self, now: Time) -> Option<(Time, usize)> {
        let (at, port) = *self.due.last().filter(|&&(at, _)| at <= now)?;
        self.due.pop();
        self.ports[port as usize].armed = false;
        Some((at, port as usize))
    }

    /// Puts a packet on the line.
    #[inline]
    pub(crate) fn transmit(&mut self, at: Time, port: usize, packet: Packet) -> Transmit {
        let port = &mut self.ports[port];
        let bytes = port.counts.bytes(packet.len() as u64);
        port.statistics.transmitted += 1;
        port.statistics.transmitted_bytes += bytes.get();
        let (start, end) = match &mut port.line {
            Some(line) => line.send(at, bytes.bits()),
            None => (at, at),
        };
        Transmit { port: port.number, start, end, packet }
    }

    pub(crate) fn drop_at_egress(&mut self, port: usize, queue: usize, at: Time, label: Label) {
        let port = &mut self.ports[port];
        port.statistics.dropped_egress += 1;
        let event = QueueEvent::Drop(DropReason::EgressProgram);
        port.queues[queue].note(&mut self.records, at, event, label);
    }

    pub(crate) fn set_rate(&mut self, port: usize, rate: Rate) {
        match &mut self.ports[port].line {
            Some(line) => line.set_rate(rate),
            none => *none = Some(Serializer::new(rate)),
        }
    }

    pub(crate) fn set_limit(&mut self, port: usize, limit: QueueLimit) {
        self.ports[port].limit = limit;
    }

    /// How long packets have waited, in packet-picoseconds and byte-picoseconds: each from its
    /// enqueue to its dequeue, or to `now`. It is the area under the queue's depth.
    pub(crate) fn waited(&self, port: usize, now: Time) -> (u128, u128) {
        let port = &self.ports[port];
        port.queues.iter().flat_map(Queue::iter).fold(port.waited, |(packets, bytes), item| {
            let since = u128::from(now.saturating_since(item.enqueued_at).as_ps());
            (packets + since, bytes + since * u128::from(item.label.length.get()))
        })
    }

    pub(crate) fn statistics(&self, port: usize) -> PortStatistics {
        let port = &self.ports[port];
        let packets: usize = port.queues.iter().map(Queue::packets).sum();
        let bytes = port.queues.iter().fold(Bytes::ZERO, |sum, queue| sum + queue.bytes());
        PortStatistics {
            waiting_packets: packets as u64,
            waiting_bytes: bytes.get(),
            ..port.statistics
        }
    }
}
