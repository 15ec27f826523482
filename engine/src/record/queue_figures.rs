//! Figures of one port's queue, computed row by row from its ledger.

use narrows_common::histogram::{self, Histogram};
use narrows_common::{Duration, Rate, Time};
use narrows_queueing::{PortStatistics, QueueEvent, QueueRecord, RateTrace};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Quantiles in milliseconds. Mean, minimum and maximum are exact; percentiles come from a
/// [`Histogram`] and have its precision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Quantiles {
    /// The minimum.
    pub min: f64,
    /// The arithmetic mean.
    pub mean: f64,
    /// The median.
    pub p50: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// The maximum.
    pub max: f64,
}

impl Quantiles {
    /// A host's histogram in milliseconds; `None` when it is empty.
    pub(crate) fn of(summary: &histogram::Summary) -> Option<Quantiles> {
        let ms = |span: Duration| span.as_ps() as f64 / 1e9;
        (summary.count > 0).then(|| Quantiles {
            min: ms(summary.min),
            mean: ms(summary.mean),
            p50: ms(summary.p50),
            p95: ms(summary.p95),
            p99: ms(summary.p99),
            max: ms(summary.max),
        })
    }
}

/// Percentiles of the queueing delay are within 2^-11, 0.05 %.
const PRECISION_BITS: u32 = 10;

/// The packets in one queue, or in all queues of a port, and those that have left.
#[derive(Debug)]
struct Track {
    sojourn: Histogram,
    depth: (u32, u64),
    depth_since: Time,
    packet_ps: u128,
    byte_ps: u128,
    max_packets: u32,
    max_bytes: u64,
    dequeued_bytes: u64,
}

impl Track {
    fn new() -> Self {
        Track {
            sojourn: Histogram::new(PRECISION_BITS),
            depth: (0, 0),
            depth_since: Time::ZERO,
            packet_ps: 0,
            byte_ps: 0,
            max_packets: 0,
            max_bytes: 0,
            dequeued_bytes: 0,
        }
    }

    fn advance(&mut self, now: Time) {
        let span = u128::from(now.since(self.depth_since).as_ps());
        self.packet_ps += u128::from(self.depth.0) * span;
        self.byte_ps += u128::from(self.depth.1) * span;
        self.depth_since = now;
    }

    /// Takes in a packet's arrival or departure, after which so many packets and bytes wait.
    fn handle(&mut self, record: &QueueRecord, depth: (u32, u64)) {
        if record.event == QueueEvent::Dequeue {
            self.sojourn.add(record.sojourn);
            self.dequeued_bytes += u64::from(record.length_bytes);
        }
        self.depth = depth;
        self.max_packets = self.max_packets.max(depth.0);
        self.max_bytes = self.max_bytes.max(depth.1);
    }
}

/// What the ledger says of one of several queues.
#[derive(Debug)]
struct OneQueue {
    track: Track,
    done: PortStatistics,
}

/// What the ledger of one port adds up to.
#[derive(Debug)]
pub struct QueueFigures {
    port: Track,
    /// Each queue's own, where the port has several.
    queues: Vec<OneQueue>,
    last_dequeued: Option<u64>,
    rate: Option<Rate>,
    rate_since: Time,
    capacity_bit_ps: u128,
    /// The rates of a port that follows a trace.
    trace: Option<RateTrace>,
}

impl QueueFigures {
    /// Nothing recorded yet, at the beginning of a run, of a port with so many queues.
    pub fn new(rate: Option<Rate>, queues: u8) -> Self {
        let queues = if queues > 1 { queues } else { 0 };
        let one = |_| OneQueue { track: Track::new(), done: PortStatistics::default() };
        QueueFigures {
            port: Track::new(),
            queues: (0..queues).map(one).collect(),
            last_dequeued: None,
            rate,
            rate_since: Time::ZERO,
            capacity_bit_ps: 0,
            trace: None,
        }
    }

    /// Sets the trace that the port follows.
    #[must_use]
    pub fn along(mut self, trace: Option<RateTrace>) -> Self {
        self.trace = trace;
        self
    }

    /// Takes in the port's next row.
    pub fn handle_record(&mut self, record: &QueueRecord) {
        self.port.advance(record.at);
        let depth = match self.queues.is_empty() {
            true => (record.depth_packets, record.depth_bytes),
            false => self.handle_queue(record),
        };
        match record.event {
            QueueEvent::Drop(_) => {
                // The discipline, or the program's egress, took the packet out only to drop it: it
                // is not sent.
                if self.last_dequeued == Some(record.packet) {
                    self.port.dequeued_bytes -= u64::from(record.length_bytes);
                }
            }
            QueueEvent::Mark(_) => {}
            QueueEvent::Enqueue => self.port.handle(record, depth),
            QueueEvent::Dequeue => {
                self.port.handle(record, depth);
                self.last_dequeued = Some(record.packet);
            }
        }
    }

    /// Takes a row into its queue's figures. Returns what waits in all queues.
    fn handle_queue(&mut self, record: &QueueRecord) -> (u32, u64) {
        let queue = &mut self.queues[usize::from(record.queue)];
        queue.track.advance(record.at);
        match record.event {
            QueueEvent::Enqueue => queue.done.enqueued += 1,
            QueueEvent::Dequeue => queue.done.dequeued += 1,
            QueueEvent::Drop(reason) => queue.done.drops[reason] += 1,
            QueueEvent::Mark(reason) => queue.done.marks[reason] += 1,
        }
        if matches!(record.event, QueueEvent::Enqueue | QueueEvent::Dequeue) {
            queue.track.handle(record, (record.depth_packets, record.depth_bytes));
        }
        let depths = self.queues.iter().map(|queue| queue.track.depth);
        depths.fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1))
    }

    /// The rate changed.
    pub fn handle_rate(&mut self, now: Time, rate: Rate) {
        self.add_capacity(now);
        self.rate = Some(rate);
    }

    fn add_capacity(&mut self, now: Time) {
        let span = u128::from(now.since(self.rate_since).as_ps());
        self.capacity_bit_ps += self.rate.map_or(0, |rate| u128::from(rate.as_bps()) * span);
        self.rate_since = now;
    }

    /// The figures at the end of a run, or of its rows where they go on after it: an end may be
    /// told when it is past. Then each queue's, where there are several.
    pub fn finish(mut self, end: Time) -> (QueueSummary, Vec<OneQueueSummary>) {
        let end = end.max(self.port.depth_since).max(self.rate_since);
        self.port.advance(end);
        self.add_capacity(end);
        let span_ps = end.as_ps().max(1) as f64;
        let Track { dequeued_bytes, packet_ps, byte_ps, max_packets, max_bytes, sojourn, .. } =
            self.port;
        let sent_bit_ps = dequeued_bytes as f64 * 8.0 * 1e12;
        let capacity_bit_ps = match &self.trace {
            Some(trace) => trace.bits(end) * 1e12,
            None => self.capacity_bit_ps as f64,
        };
        let port = QueueSummary {
            rate_bps: self.rate.map(Rate::as_bps),
            utilization: (capacity_bit_ps > 0.0).then(|| sent_bit_ps / capacity_bit_ps),
            queue_packets_mean: packet_ps as f64 / span_ps,
            queue_packets_max: max_packets,
            queue_bytes_mean: byte_ps as f64 / span_ps,
            queue_bytes_max: max_bytes,
            queue_delay_ms: Quantiles::of(&sojourn.summary()),
        };
        let queues = self.queues.into_iter().enumerate();
        (port, queues.map(|(queue, one)| OneQueueSummary::new(queue, one, end)).collect())
    }
}

/// `summary.json`'s "bottleneck", without its name and counts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct QueueSummary {
    /// The rate at the end of the run; `None` for a port without a shaper.
    pub rate_bps: Option<u64>,
    /// Bits sent, divided by the bits that the rate allowed.
    pub utilization: Option<f64>,
    /// Time average of the packets queued; null if the target does not report it.
    #[schemars(with = "Option<f64>")]
    pub queue_packets_mean: f64,
    /// Most packets queued; null if the target does not report it.
    #[schemars(with = "Option<u32>")]
    pub queue_packets_max: u32,
    /// Time average of the bytes queued; null if the target does not report it.
    #[schemars(with = "Option<f64>")]
    pub queue_bytes_mean: f64,
    /// Most bytes queued; null if the target does not report it.
    #[schemars(with = "Option<u64>")]
    pub queue_bytes_max: u64,
    /// Queueing delay of the packets that left; `None` if none did.
    pub queue_delay_ms: Option<Quantiles>,
}

/// One of a port's queues.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct OneQueueSummary {
    /// Its number, 0 the first served.
    pub queue: usize,
    /// Packets that it took.
    pub enqueued: u64,
    /// Packets that left it.
    pub dequeued: u64,
    /// Bytes of these packets that count against the rate.
    pub dequeued_bytes: u64,
    /// Packets that it dropped, by reason.
    pub drops: BTreeMap<&'static str, u64>,
    /// Packets that it marked, by reason.
    pub marks: BTreeMap<&'static str, u64>,
    /// Packets waiting, averaged over time.
    pub queue_packets_mean: f64,
    /// Most packets that waited.
    pub queue_packets_max: u32,
    /// Bytes waiting, averaged over time.
    pub queue_bytes_mean: f64,
    /// Most bytes that waited.
    pub queue_bytes_max: u64,
    /// Queueing delay over the packets that left; `None` when none did.
    pub queue_delay_ms: Option<Quantiles>,
}

impl OneQueueSummary {
    fn new(queue: usize, one: OneQueue, end: Time) -> Self {
        let OneQueue { mut track, done } = one;
        track.advance(end);
        let span_ps = end.as_ps().max(1) as f64;
        let drops = done.drops.iter().filter(|&(_, count)| count > 0);
        let marks = done.marks.iter().filter(|&(_, count)| count > 0);
        OneQueueSummary {
            queue,
            enqueued: done.enqueued,
            dequeued: done.dequeued,
            dequeued_bytes: track.dequeued_bytes,
            drops: drops.map(|(reason, count)| (reason.name(), count)).collect(),
            marks: marks.map(|(reason, count)| (reason.name(), count)).collect(),
            queue_packets_mean: track.packet_ps as f64 / span_ps,
            queue_packets_max: track.max_packets,
            queue_bytes_mean: track.byte_ps as f64 / span_ps,
            queue_bytes_max: track.max_bytes,
            queue_delay_ms: Quantiles::of(&track.sojourn.summary()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use narrows_common::Duration;
    use narrows_queueing::DropReason;

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    /// A row for a packet of 125 bytes, 1,000 bits.
    fn row(ms: u64, event: QueueEvent, packet: u64, waiting: u32, waited_ms: u64) -> QueueRecord {
        QueueRecord {
            at: at(ms),
            event,
            port: 2,
            queue: 0,
            packet,
            flow: 1,
            length_bytes: 125,
            depth_packets: waiting,
            depth_bytes: u64::from(waiting) * 125,
            sojourn: Duration::from_ms(waited_ms),
            is_duplicate: false,
        }
    }

    /// At 1 Mb/s the first packet takes 1 ms of 10. The discipline dequeues the second one to drop
    /// it; the third is refused; the fourth is sent.
    #[test]
    fn a_packet_that_is_dropped_is_not_sent() {
        let mut port = QueueFigures::new(Some(Rate::from_bps(1_000_000)), 1);
        let own = DropReason::all().last().expect("a discipline's reason");
        for record in [
            row(0, QueueEvent::Enqueue, 0, 1, 0),
            row(0, QueueEvent::Dequeue, 0, 0, 0),
            row(0, QueueEvent::Enqueue, 1, 1, 0),
            row(0, QueueEvent::Drop(DropReason::QUEUE_FULL), 2, 1, 0),
            row(0, QueueEvent::Enqueue, 3, 2, 0),
            row(1, QueueEvent::Dequeue, 1, 1, 1),
            row(1, QueueEvent::Drop(own), 1, 1, 0),
            row(1, QueueEvent::Dequeue, 3, 0, 1),
        ] {
            port.handle_record(&record);
        }
        assert_eq!(port.finish(at(10)).0.utilization, Some(0.2));
    }

    /// Three packets of 125 bytes (1,000 bits) arrive together at 1 Mb/s. The first leaves
    /// immediately, the others after 1 and 2 ms. Queued: 2 for 1 ms, 1 for 1 ms, none for the last
    /// 8 ms.
    #[test]
    fn three_packets_by_hand() {
        let mut port = QueueFigures::new(Some(Rate::from_bps(1_000_000)), 1);
        for record in [
            row(0, QueueEvent::Enqueue, 0, 1, 0),
            row(0, QueueEvent::Dequeue, 0, 0, 0),
            row(0, QueueEvent::Enqueue, 1, 1, 0),
            row(0, QueueEvent::Enqueue, 2, 2, 0),
            row(1, QueueEvent::Dequeue, 1, 1, 1),
            row(2, QueueEvent::Dequeue, 2, 0, 2),
        ] {
            port.handle_record(&record);
        }
        let (figures, queues) = port.finish(at(10));
        assert_eq!(queues, [], "one queue is the port");
        assert_eq!(figures.queue_packets_mean, 0.3);
        assert_eq!(figures.queue_bytes_mean, 37.5);
        assert_eq!((figures.queue_packets_max, figures.queue_bytes_max), (2, 250));
        assert_eq!(figures.utilization, Some(0.3));
        let delay = figures.queue_delay_ms.unwrap();
        assert_eq!((delay.min, delay.mean, delay.max), (0.0, 1.0, 2.0));
        assert!((delay.p50 - 1.0).abs() < 0.001, "{delay:?}");
    }

    /// One packet waits in each of two queues for 1 ms; one goes on waiting for 1 ms more.
    #[test]
    fn two_queues_add_up_to_their_port() {
        let mut port = QueueFigures::new(Some(Rate::from_bps(1_000_000)), 2);
        let of = |queue, record| QueueRecord { queue, ..record };
        for record in [
            of(0, row(0, QueueEvent::Enqueue, 0, 1, 0)),
            of(1, row(0, QueueEvent::Enqueue, 1, 1, 0)),
            of(0, row(1, QueueEvent::Dequeue, 0, 0, 1)),
            of(0, row(1, QueueEvent::Drop(DropReason::QUEUE_FULL), 2, 0, 0)),
            of(1, row(2, QueueEvent::Dequeue, 1, 0, 2)),
        ] {
            port.handle_record(&record);
        }
        let (figures, queues) = port.finish(at(10));
        assert_eq!((figures.queue_packets_mean, figures.queue_packets_max), (0.3, 2));
        let means: Vec<f64> = queues.iter().map(|queue| queue.queue_packets_mean).collect();
        assert_eq!(means, [0.1, 0.2]);
        assert_eq!((queues[0].drops.get("queue-full"), queues[1].drops.len()), (Some(&1), 0));
        assert_eq!(queues[1].queue_delay_ms.map(|delay| delay.max), Some(2.0));
    }
}
