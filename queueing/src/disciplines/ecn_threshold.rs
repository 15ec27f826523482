//! DropTail that marks packets above a threshold, at once or on a ramp.
//!
//! Source: RFC 8257 section 3.1 (DCTCP): a switch marks by the instantaneous queue. Packets and
//! bytes count on arrival, the packet itself included; the waiting time counts at the departure.
//! A threshold of 0 is not in force. From the threshold to `ramp` times it the probability of a
//! mark rises from 0 to `max-p`; a ramp of 1 is a step. `p4/stages/ecn.p4` marks by packets at
//! departure.

use crate::discipline::{QueueDiscipline, Room, Setup};
use crate::outcomes::{DropReason, MarkReason, Outcomes, Reason};
use crate::queued::{Backlog, Fifo, Queued, QueuedPacket};
use crate::randomness::Randomness;
use crate::record::{Parameter, Parameters, Record, Unit};
use narrows_common::Time;

/// The discipline's entry in the list.
pub const RECORD: Record = Record {
    name: "ecn-threshold",
    title: "DropTail; marks packets above a threshold of packets, bytes or time",
    reference: "RFC 8257 section 3.1; Alizadeh et al., SIGCOMM 2010",
    parameters: &[
        Parameter {
            name: "packets",
            unit: Unit::Number,
            default: 20.0,
            min: 0.0,
            max: 1e9,
            origin: "packets above which an arrival is marked, itself included; 0: none; \
                     20: K of Alizadeh et al. 2010 at 1 Gb/s",
        },
        Parameter {
            name: "bytes",
            unit: Unit::Size,
            default: 0.0,
            min: 0.0,
            max: 1e12,
            origin: "bytes above which an arrival is marked, its own included; 0: none",
        },
        Parameter {
            name: "time",
            unit: Unit::Duration,
            default: 0.0,
            min: 0.0,
            max: 1e14,
            origin: "waiting time above which a departing packet is marked; 0: none",
        },
        Parameter {
            name: "ramp",
            unit: Unit::Number,
            default: 1.0,
            min: 1.0,
            max: 1000.0,
            origin: "multiple of a threshold at which the ramp ends; 1, a step: RFC 8257",
        },
        Parameter {
            name: "max-p",
            unit: Unit::Number,
            default: 1.0,
            min: 0.0,
            max: 1.0,
            origin: "probability of a mark from the end of the ramp on; 1: RFC 8257",
        },
    ],
    drops: &[],
    marks: &[
        Reason { name: "threshold-packets", meaning: "more packets waited than the threshold" },
        Reason { name: "threshold-bytes", meaning: "more bytes waited than the threshold" },
        Reason { name: "threshold-time", meaning: "the packet waited longer than the threshold" },
    ],
    is_fifo: true,
    not_implemented: &[],
};

/// A DropTail queue that marks.
#[derive(Debug)]
pub struct EcnThreshold<P> {
    fifo: Fifo<P>,
    randomness: Randomness,
    reasons: [MarkReason; 3],
    packets: f64,
    bytes: f64,
    time_ps: f64,
    ramp: f64,
    max_p: f64,
}

impl<P: QueuedPacket> EcnThreshold<P> {
    /// An empty queue.
    pub(super) fn new(setup: &Setup) -> Self {
        let mut queue = EcnThreshold {
            fifo: Fifo::default(),
            randomness: setup.randomness.clone(),
            reasons: [0, 1, 2].map(|n| setup.mark_reason(n)),
            packets: 0.0,
            bytes: 0.0,
            time_ps: 0.0,
            ramp: 1.0,
            max_p: 1.0,
        };
        queue.set_parameters(&setup.parameters);
        queue
    }

    /// The thresholds of packets, bytes and picoseconds in force, if they are steps. Depths are
    /// whole numbers, so a threshold's fraction decides nothing.
    pub(crate) fn steps(&self) -> Option<[Option<u64>; 3]> {
        let whole = |threshold: f64| (threshold != 0.0).then_some(threshold as u64);
        let is_step = self.ramp == 1.0 && self.max_p == 1.0;
        is_step.then(|| [self.packets, self.bytes, self.time_ps].map(whole))
    }

    /// True when a value above a threshold marks a packet.
    fn marks(&mut self, value: f64, threshold: f64) -> bool {
        if threshold == 0.0 || value <= threshold {
            return false;
        }
        let end = threshold * self.ramp;
        let share = if value >= end { 1.0 } else { (value - threshold) / (end - threshold) };
        let probability = self.max_p * share;
        probability >= 1.0 || self.randomness.f64() < probability
    }
}

impl<P: QueuedPacket> QueueDiscipline<P> for EcnThreshold<P> {
    fn enqueue(&mut self, mut packet: Queued<P>, _now: Time, room: &Room, out: &mut Outcomes<P>) {
        let backlog = self.fifo.backlog();
        if !room.admits(backlog, packet.label.length) {
            return out.refuse(packet, DropReason::QUEUE_FULL);
        }
        if packet.takes_marks() {
            let after = backlog.with(packet.label.length);
            if self.marks(after.packets as f64, self.packets) {
                out.mark(&mut packet, self.reasons[0]);
            }
            if self.marks(after.bytes.get() as f64, self.bytes) {
                out.mark(&mut packet, self.reasons[1]);
            }
        }
        self.fifo.push(packet);
    }

    fn dequeue(&mut self, now: Time, out: &mut Outcomes<P>) -> Option<Queued<P>> {
        let mut packet = self.fifo.pop()?;
        let waited_ps = now.saturating_since(packet.enqueued_at).as_ps() as f64;
        if self.marks(waited_ps, self.time_ps) && packet.takes_marks() {
            out.mark(&mut packet, self.reasons[2]);
        }
        Some(packet)
    }

    one_fifo!();

    fn set_parameters(&mut self, parameters: &Parameters) {
        self.packets = parameters.get("packets");
        self.bytes = parameters.get("bytes");
        self.time_ps = parameters.get("time");
        self.ramp = parameters.get("ramp");
        self.max_p = parameters.get("max-p");
    }
}
