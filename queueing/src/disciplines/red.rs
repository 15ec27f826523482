//! RED: drops or marks arriving packets at random, the more the longer the queue is on average.
//!
//! Sources: Floyd and Jacobson 1993 (the average, the spread of drops by `count`, idle time);
//! Floyd 2000 (gentle); Floyd, Gummadi and Shenker 2001 (adaptive max_p; AIMD every `interval`).
//! Where they leave a choice it is ns-2.35's: the average is in packets; the packet whose arrival
//! takes it above `min-th` is the first of its count; an arrival that finds fewer than two packets
//! waiting is never dropped early; idle time ages the average by packets of `mean-packet`.
//! tests/red.rs compares decisions with a recording of ns-2. One thing differs: where max_p adapts,
//! the gentle slope begins at the max_p of the time; ns-2 keeps the slope of the first max_p.

use crate::discipline::{QueueDiscipline, Room, Setup};
use crate::outcomes::{DropReason, MarkReason, Outcomes, Reason};
use crate::queued::{Backlog, Fifo, Queued, QueuedPacket};
use crate::randomness::Randomness;
use crate::record::{Parameter, Parameters, Record, Unit};
use narrows_common::{Duration, Time};

/// The discipline's entry in the list.
pub const RECORD: Record = Record {
    name: "red",
    title: "random early detection: drops or marks arrivals by the average queue length",
    reference: "Floyd, Jacobson 1993; Floyd 2000 (gentle); Floyd, Gummadi, Shenker 2001 (adaptive)",
    parameters: PARAMETERS,
    drops: &[
        Reason { name: "red-early", meaning: "RED drew the packet while its average was between" },
        Reason { name: "red-forced", meaning: "RED's average was above its upper threshold" },
    ],
    marks: &[Reason {
        name: "red-early",
        meaning: "RED drew the packet while its average was between",
    }],
    is_fifo: true,
    not_implemented: &["thresholds in bytes", "ns-2's wait_, cautious_ and Feng's adaptation"],
};

const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "min-th",
        unit: Unit::Number,
        default: 5.0,
        min: 0.0,
        max: 1e6,
        origin: "average in packets above which drops begin; 5: Floyd and Jacobson 1993",
    },
    Parameter {
        name: "max-th",
        unit: Unit::Number,
        default: 15.0,
        min: 0.0,
        max: 1e6,
        origin: "average in packets at which the probability is max-p; 15: three times min-th, \
                 Floyd's recommendation of 1997",
    },
    Parameter {
        name: "max-p",
        unit: Unit::Number,
        default: 0.1,
        min: 1e-4,
        max: 1.0,
        origin: "probability at max-th, where an adaptive queue begins; 0.1: Floyd 1997",
    },
    Parameter {
        name: "weight",
        unit: Unit::Number,
        default: 0.002,
        min: 0.0,
        max: 1.0,
        origin: "share of an arrival in the average; 0.002: Floyd and Jacobson 1993; \
                 0: 1 - exp(-1/C) of the link's C packets a second (Floyd et al. 2001)",
    },
    Parameter {
        name: "mean-packet",
        unit: Unit::Size,
        default: 500.0,
        min: 40.0,
        max: 65536.0,
        origin: "packet by which idle time and C are counted; 500 bytes: ns-2.35",
    },
    Parameter {
        name: "gentle",
        unit: Unit::Flag,
        default: 1.0,
        min: 0.0,
        max: 1.0,
        origin: "the probability rises to 1 at twice max-th, not at once; on: Floyd 2000",
    },
    Parameter {
        name: "adaptive",
        unit: Unit::Flag,
        default: 0.0,
        min: 0.0,
        max: 1.0,
        origin: "max-p follows the average; off: Floyd and Jacobson 1993",
    },
    Parameter {
        name: "interval",
        unit: Unit::Duration,
        default: 5e11,
        min: 1e6,
        max: 1e14,
        origin: "time between changes of max-p; 0.5 s: Floyd et al. 2001",
    },
    Parameter {
        name: "ecn",
        unit: Unit::Flag,
        default: 0.0,
        min: 0.0,
        max: 1.0,
        origin: "marks packets that can be marked instead of dropping them early; off: ns-2.35",
    },
];

/// Floyd et al. 2001: the range of an adaptive max_p, its increase and its decrease.
const MAX_P: (f64, f64) = (0.01, 0.5);
const ALPHA: f64 = 0.01;
const BETA: f64 = 0.9;
/// The average is kept within this share of the thresholds' distance from both of them.
const TARGET_MARGIN: f64 = 0.4;

/// What becomes of an arrival, before the limit is looked at.
#[derive(PartialEq)]
enum Verdict {
    Stores,
    Early,
    Forced,
}

/// A RED queue.
#[derive(Debug)]
pub struct Red<P> {
    fifo: Fifo<P>,
    randomness: Randomness,
    early: DropReason,
    forced: DropReason,
    mark: MarkReason,
    min_th: f64,
    max_th: f64,
    weight: f64,
    mean_packet_bits: f64,
    is_gentle: bool,
    is_adaptive: bool,
    is_marking: bool,
    interval: Duration,
    /// What `max-p` was set to.
    initial_max_p: f64,
    max_p: f64,
    average: f64,
    /// Arrivals since the last drop or mark.
    count: f64,
    is_above: bool,
    changed_at: Time,
}

impl<P> Red<P> {
    /// An empty queue.
    pub(super) fn new(setup: &Setup) -> Self {
        let mut queue = Red {
            fifo: Fifo::default(),
            randomness: setup.randomness.clone(),
            early: setup.drop_reason(0),
            forced: setup.drop_reason(1),
            mark: setup.mark_reason(0),
            min_th: 0.0,
            max_th: 0.0,
            weight: 0.0,
            mean_packet_bits: 0.0,
            is_gentle: false,
            is_adaptive: false,
            is_marking: false,
            interval: Duration::ZERO,
            initial_max_p: 0.0,
            max_p: 0.0,
            average: 0.0,
            count: 0.0,
            is_above: false,
            changed_at: Time::ZERO,
        };
        queue.set(&setup.parameters);
        queue
    }

    fn set(&mut self, parameters: &Parameters) {
        self.min_th = parameters.get("min-th");
        self.max_th = parameters.get("max-th").max(self.min_th);
        self.weight = parameters.get("weight");
        self.mean_packet_bits = parameters.get("mean-packet") * 8.0;
        self.is_gentle = parameters.get("gentle") != 0.0;
        self.is_adaptive = parameters.get("adaptive") != 0.0;
        self.is_marking = parameters.get("ecn") != 0.0;
        self.interval = parameters.duration("interval");
        let max_p = parameters.get("max-p");
        // An adapted max_p goes on unless another is asked for, or it is not to adapt.
        if !self.is_adaptive || max_p != self.initial_max_p {
            self.max_p = max_p;
        }
        self.initial_max_p = max_p;
    }

    /// The average queue length, in packets.
    pub fn average(&self) -> f64 {
        self.average
    }

    /// The probability at the upper threshold.
    pub fn max_p(&self) -> f64 {
        self.max_p
    }

    /// Takes an arrival into the average (Floyd and Jacobson 1993, fig. 2).
    fn update_average(&mut self, now: Time, room: &Room) {
        let packets_per_s = room.rate.map(|rate| rate.as_bps() as f64 / self.mean_packet_bits);
        let weight = match (self.weight, packets_per_s) {
            (0.0, Some(packets_per_s)) => 1.0 - libm::exp(-1.0 / packets_per_s),
            (weight, _) => weight,
        };
        if room.is_idle {
            let idle_s = now.saturating_since(room.free_at).as_secs_f64();
            let missed =
                packets_per_s.map_or(0.0, |packets_per_s| (packets_per_s * idle_s).floor());
            self.average *= libm::pow(1.0 - weight, missed);
        }
        let waiting = self.fifo.backlog().packets as f64;
        self.average = (1.0 - weight) * self.average + weight * waiting;
        if self.is_adaptive && now.saturating_since(self.changed_at) > self.interval {
            self.adapt(now);
        }
    }

    /// Moves max_p so that the average stays half-way between the thresholds.
    fn adapt(&mut self, now: Time) {
        let margin = TARGET_MARGIN * (self.max_th - self.min_th);
        if self.average < self.min_th + margin && self.max_p > MAX_P.0 {
            self.max_p *= BETA;
            self.changed_at = now;
        } else if self.average > self.max_th - margin && self.max_p < MAX_P.1 {
            self.max_p += ALPHA.min(0.25 * self.max_p);
            self.changed_at = now;
        }
    }

    /// The probability of a drop by the average alone.
    fn probability(&self) -> f64 {
        if self.average < self.max_th {
            let share = (self.average - self.min_th) / (self.max_th - self.min_th);
            return self.max_p * share;
        }
        // Gentle: from max_p at max_th to 1 at twice max_th.
        let share = (self.average - self.max_th) / self.max_th;
        (self.max_p + (1.0 - self.max_p) * share).min(1.0)
    }

    /// What becomes of an arrival that finds so many packets.
    fn judge(&mut self, waiting: u64) -> Verdict {
        self.count += 1.0;
        if self.average < self.min_th || waiting <= 1 {
            self.is_above = false;
            return Verdict::Stores;
        }
        if self.is_gentle && self.average >= 2.0 * self.max_th {
            return Verdict::Forced;
        }
        if !self.is_above {
            (self.is_above, self.count) = (true, 1.0);
            return Verdict::Stores;
        }
        if !self.is_gentle && self.average >= self.max_th {
            // ns-2 draws a number for a probability of 1.
            self.randomness.f64();
            return Verdict::Forced;
        }
        let probability = self.probability();
        let spread = self.count * probability;
        let spread = if spread < 1.0 { probability / (1.0 - spread) } else { 1.0 };
        if self.randomness.f64() <= spread {
            self.count = 0.0;
            return Verdict::Early;
        }
        Verdict::Stores
    }
}

impl<P: QueuedPacket> QueueDiscipline<P> for Red<P> {
    fn enqueue(&mut self, mut packet: Queued<P>, now: Time, room: &Room, out: &mut Outcomes<P>) {
        self.update_average(now, room);
        let backlog = self.fifo.backlog();
        let mut verdict = self.judge(backlog.packets);
        let is_full = !room.admits(backlog, packet.label.length);
        if verdict == Verdict::Early && self.is_marking && !is_full && packet.takes_marks() {
            out.mark(&mut packet, self.mark);
            verdict = Verdict::Stores;
        }
        if is_full || verdict == Verdict::Forced {
            self.count = 0.0;
        }
        match verdict {
            Verdict::Forced => out.refuse(packet, self.forced),
            _ if is_full => out.refuse(packet, DropReason::QUEUE_FULL),
            Verdict::Early => out.refuse(packet, self.early),
            Verdict::Stores => self.fifo.push(packet),
        }
    }

    #[inline]
    fn dequeue(&mut self, _now: Time, _out: &mut Outcomes<P>) -> Option<Queued<P>> {
        self.fifo.pop()
    }

    one_fifo!();

    fn set_parameters(&mut self, parameters: &Parameters) {
        self.set(parameters);
    }
}
