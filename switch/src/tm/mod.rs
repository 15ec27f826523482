//! The traffic manager: per output port a line of exact rate and strict-priority DropTail queues.
//!
//! A packet leaves its queue when its transmission starts; the wait until then is its sojourn.
//! The packet in transmission counts against no limit and no depth. An idle port's packet is
//! enqueued and dequeued at one instant. Where a departure and an arrival fall on the same
//! instant, the departure comes first.

mod ack_filter;
mod limit;
mod queue;

pub use limit::{Counts, Discipline, QueueLimit};
pub(crate) use queue::{Carried, Item, Label};

use narrows_common::record::{DropReason, QueueEvent, QueueRecord};
use narrows_common::{Bytes, Duration, Line, Packet, Rate, Time};
use queue::Queue;
use serde::Deserialize;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

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
    pub counts: Counts,
    /// Strict priorities; `standard_metadata.priority` chooses, a higher value is served first.
    #[serde(default = "one")]
    pub queues: u8,
    /// Whether its events are recorded, where the switch records at all.
    #[serde(default = "yes")]
    pub record: bool,
    /// The pipe that has its queues and its egress ([`crate::SwitchConfig::pipe`]).
    #[serde(default)]
    pub pipe: u16,
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
    /// The pipe that has its queues, where that is another one.
    pub elsewhere: Option<u16>,
    line: Option<Line>,
    limit: QueueLimit,
    discipline: Discipline,
    pub counts: Counts,
    /// The first is served first.
    queues: Vec<Queue>,
    record: bool,
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
    /// Ports with packets waiting, by when their line becomes free.
    due: BinaryHeap<Reverse<(Time, u32)>>,
    pub records: Vec<QueueRecord>,
    record: bool,
    numbered: u64,
    /// Packets that a queue has thrown out, to be taken.
    #[expect(clippy::vec_box, reason = "an item keeps its place")]
    pub thrown_out: Vec<Box<Item>>,
}

const NO_PORT: u32 = u32::MAX;

impl TrafficManager {
    pub(crate) fn new(ports: &[PortConfig], pipe: u16, record: bool) -> Self {
        let most = ports.iter().map(|port| port.port as usize + 1).max().unwrap_or(0);
        let mut by_number = vec![NO_PORT; most];
        for (i, port) in ports.iter().enumerate() {
            by_number[port.port as usize] = i as u32;
        }
        let port = |config: &PortConfig| Port {
            number: config.port,
            elsewhere: (config.pipe != pipe).then_some(config.pipe),
            line: config.rate_bps.map(|bps| Line::new(Rate::from_bps(bps))),
            limit: config.queue,
            discipline: config.discipline,
            counts: config.counts,
            queues: (0..config.queues).map(|_| Queue::default()).collect(),
            record: config.record,
            armed: false,
            statistics: PortStatistics::default(),
            waited: (0, 0),
        };
        TrafficManager {
            ports: ports.iter().map(port).collect(),
            by_number,
            due: BinaryHeap::new(),
            records: vec![],
            record,
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
        self.due.peek().map(|Reverse((at, _))| *at)
    }

    /// A packet that comes to this port now leaves it at once.
    pub(crate) fn is_idle(&self, at: Time, port: usize) -> bool {
        let port = &self.ports[port];
        let is_free = port.line.as_ref().is_none_or(|line| line.free_at() <= at);
        is_free && !port.armed && !port.waiting() && port.elsewhere.is_none()
    }

    #[inline]
    fn note(
        &mut self,
        port: usize,
        queue: usize,
        at: Time,
        event: QueueEvent,
        label: Label,
        sojourn: Duration,
    ) {
        let found = &self.ports[port];
        if self.record && found.record {
            self.records.push(QueueRecord {
                at,
                event,
                port: found.number,
                queue: queue as u8,
                packet: label.number,
                flow: label.flow,
                length_bytes: label.length.get() as u32,
                depth_packets: found.queues[queue].packets() as u32,
                depth_bytes: found.queues[queue].bytes().get(),
                sojourn,
            });
        }
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
        let found = &mut self.ports[port];
        let queue = found.queue_of(priority);
        let length = found.counts.bytes(frame_bytes);
        item.label = Label { number: self.numbered, length, ..item.label };
        self.numbered += 1;
        item.enqueued_at = at;
        let (packets, waiting) = (found.queues[queue].packets(), found.queues[queue].bytes());
        item.depth_before = packets as u32;
        let label = item.label;
        if let Some(line) = &found.line {
            let idle = !found.armed && line.free_at() <= at;
            if !idle && !found.limit.admits(packets as u64, waiting, length, line.rate()) {
                found.statistics.dropped_queue_full += 1;
                let event = QueueEvent::Drop(DropReason::QueueFull);
                self.note(port, queue, at, event, label, Duration::ZERO);
                return Some(item);
            }
        }
        let ack = match found.discipline {
            Discipline::DropTail => None,
            Discipline::AckFilter => ack_filter::pure_ack(&item.packet),
        };
        found.queues[queue].push(item);
        let statistics = &mut found.statistics;
        statistics.enqueued += 1;
        let (packets, bytes) = (packets as u64 + 1, (waiting + length).get());
        statistics.depth_max_packets = statistics.depth_max_packets.max(packets);
        statistics.depth_max_bytes = statistics.depth_max_bytes.max(bytes);
        self.note(port, queue, at, QueueEvent::Enqueue, label, Duration::ZERO);
        if let Some(ack) = ack {
            let is_superseded = |packet: &Packet| ack_filter::is_superseded(packet, ack);
            while let Some(item) = self.ports[port].queues[queue].take_out(is_superseded) {
                self.note_dequeue(at, port, queue, &item);
                self.ports[port].statistics.dropped_ack_filter += 1;
                let event = QueueEvent::Drop(DropReason::AckFilter);
                self.note(port, queue, at, event, item.label, Duration::ZERO);
                self.thrown_out.push(item);
            }
        }
        None
    }

    /// A packet has left its queue.
    #[inline]
    fn note_dequeue(&mut self, at: Time, port: usize, queue: usize, item: &Item) {
        self.ports[port].statistics.dequeued += 1;
        let sojourn = at.saturating_since(item.enqueued_at);
        let waited = &mut self.ports[port].waited;
        waited.0 += u128::from(sojourn.as_ps());
        waited.1 += u128::from(sojourn.as_ps()) * u128::from(item.label.length.get());
        self.note(port, queue, at, QueueEvent::Dequeue, item.label, sojourn);
    }

    /// The next packet of a port whose line is free; otherwise the port is due when it will be.
    #[inline]
    pub(crate) fn dequeue_idle(&mut self, at: Time, port: usize) -> Option<Dequeued> {
        let found = &mut self.ports[port];
        if found.armed {
            return None;
        }
        match &found.line {
            Some(line) if line.free_at() > at => {
                if found.waiting() {
                    found.armed = true;
                    let free_at = line.free_at();
                    self.due.push(Reverse((free_at, port as u32)));
                }
                None
            }
            _ => self.dequeue(at, port),
        }
    }

    /// The packet that is due first, if that is not after `now`.
    #[inline]
    pub(crate) fn dequeue_due(&mut self, now: Time) -> Option<Dequeued> {
        let &Reverse((at, port)) = self.due.peek()?;
        if at > now {
            return None;
        }
        self.due.pop();
        self.ports[port as usize].armed = false;
        self.dequeue(at, port as usize)
    }

    fn dequeue(&mut self, at: Time, port: usize) -> Option<Dequeued> {
        let queues = &mut self.ports[port].queues;
        let queue = queues.iter().position(|queue| queue.packets() > 0)?;
        let item = queues[queue].pop()?;
        let depth_after = queues[queue].packets() as u32;
        self.note_dequeue(at, port, queue, &item);
        Some(Dequeued { port, queue, at, item, depth_after })
    }

    /// Puts a frame of `frame_bytes` on the line. Returns when it begins and ends.
    #[inline]
    pub(crate) fn transmit(&mut self, at: Time, port: usize, frame_bytes: u64) -> (Time, Time) {
        let found = &mut self.ports[port];
        let bytes = found.counts.bytes(frame_bytes);
        found.statistics.transmitted += 1;
        found.statistics.transmitted_bytes += bytes.get();
        match &mut found.line {
            Some(line) => line.send(at, bytes.bits()),
            None => (at, at),
        }
    }

    pub(crate) fn drop_at_egress(&mut self, port: usize, queue: usize, at: Time, label: Label) {
        self.ports[port].statistics.dropped_egress += 1;
        let event = QueueEvent::Drop(DropReason::EgressProgram);
        self.note(port, queue, at, event, label, Duration::ZERO);
    }

    pub(crate) fn set_rate(&mut self, port: usize, rate: Rate) {
        match &mut self.ports[port].line {
            Some(line) => line.set_rate(rate),
            none => *none = Some(Line::new(rate)),
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
