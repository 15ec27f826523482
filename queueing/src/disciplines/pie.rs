//! PIE (RFC 8033): drops or marks arriving packets with a probability that a controller sets.
//!
//! Every `update` the controller compares the queueing delay with `target` and with its last value
//! (section 4.2) and moves the probability by their weighted sum. The delay is the sojourn time of
//! the packet that left last, zero once the queue is empty (section 4.3 allows time stamps). The
//! steps are finer while the probability is low (section 4.2), capped above 10 % (section 5.5), and
//! the probability decays while there is no delay. A queue that was calm takes a burst of
//! `max-burst` without early drops (section 4.4). Drops are spread by the accumulated probability
//! (section 5.4).
//!
//! Updates stand at multiples of `update`. They pause while the queue is empty and its state would
//! not change.

use crate::discipline::{QueueDiscipline, Room, Setup};
use crate::outcomes::{DropReason, MarkReason, Outcomes, Reason};
use crate::queued::{Backlog, Fifo, Queued, QueuedPacket};
use crate::randomness::Randomness;
use crate::record::{Parameter, Parameters, Record, Unit};
use narrows_common::{Duration, Time};

const EARLY: Reason =
    Reason { name: "pie", meaning: "PIE drew the packet by its probability of the time" };

/// The discipline's entry in the list.
pub const RECORD: Record = Record {
    name: "pie",
    title: "proportional integral controller: drops or marks arrivals by the queueing delay",
    reference: "RFC 8033; Pan et al., HPSR 2013",
    parameters: PARAMETERS,
    drops: &[EARLY],
    marks: &[EARLY],
    is_fifo: true,
    not_implemented: &[
        "estimate of the departure rate (section 4.3; time stamps serve instead)",
        "a threshold that turns PIE on (section 5.3)",
    ],
};

const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "target",
        unit: Unit::Duration,
        default: 1.5e10,
        min: 1e3,
        max: 1e13,
        origin: "queueing delay that the controller aims at; 15 ms: RFC 8033 section 4.2",
    },
    Parameter {
        name: "update",
        unit: Unit::Duration,
        default: 1.5e10,
        min: 1e8,
        max: 1e13,
        origin: "time between updates of the probability; 15 ms: RFC 8033 section 4.2",
    },
    Parameter {
        name: "alpha",
        unit: Unit::Number,
        default: 0.125,
        min: 0.0,
        max: 1000.0,
        origin: "weight of the distance from the target, in Hz; 1/8: RFC 8033 section 4.2",
    },
    Parameter {
        name: "beta",
        unit: Unit::Number,
        default: 1.25,
        min: 0.0,
        max: 1000.0,
        origin: "weight of the change since the last update, in Hz; 1 1/4: RFC 8033 section 4.2",
    },
    Parameter {
        name: "max-burst",
        unit: Unit::Duration,
        default: 1.5e11,
        min: 0.0,
        max: 1e13,
        origin: "time without early drops after a calm; 150 ms: RFC 8033 section 4.4",
    },
    Parameter {
        name: "ecn",
        unit: Unit::Flag,
        default: 0.0,
        min: 0.0,
        max: 1.0,
        origin: "marks packets that can be marked instead of dropping them; RFC 8033 section 5.1",
    },
    Parameter {
        name: "mark-below",
        unit: Unit::Number,
        default: 0.1,
        min: 0.0,
        max: 1.0,
        origin: "probability from which on packets are dropped even so; 10 %: RFC 8033 section 5.1",
    },
    Parameter {
        name: "spread",
        unit: Unit::Flag,
        default: 1.0,
        min: 0.0,
        max: 1.0,
        origin: "spreads drops by the accumulated probability; on: RFC 8033 section 5.4",
    },
];

/// RFC 8033 section 4.2: below a probability, the step is divided.
const TUNING: [(f64, f64); 6] =
    [(1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (1e-2, 8.0), (1e-1, 2.0)];
/// Section 5.5: from this probability on no step is greater.
const CAP: (f64, f64) = (0.1, 0.02);
/// Section 4.2: share of the probability that is left after an update without delay.
const DECAY: f64 = 0.98;
/// Section 5.4: no drop below the one accumulated probability, always one from the other on.
const SPREAD: (f64, f64) = (0.85, 8.5);
/// Section 4.1: with a delay below half the target, no early drop below this probability.
const SAFEGUARD: f64 = 0.2;
/// Section 4.1: no early drop with so few packets waiting.
const FEW_PACKETS: u64 = 2;

/// A PIE queue.
#[derive(Debug)]
pub struct Pie<P> {
    fifo: Fifo<P>,
    randomness: Randomness,
    drop_reason: DropReason,
    mark_reason: MarkReason,
    target_s: f64,
    update: Duration,
    alpha: f64,
    beta: f64,
    max_burst: Duration,
    is_marking: bool,
    is_spreading: bool,
    mark_below: f64,
    /// Sojourn time of the packet that left last, 0 with an empty queue.
    delay: Duration,
    /// The same at the last update.
    delay_before_s: f64,
    probability: f64,
    accumulated: f64,
    burst_left: Duration,
    next_update: Option<Time>,
}

impl<P> Pie<P> {
    /// An empty queue.
    pub(super) fn new(setup: &Setup) -> Self {
        let mut queue = Pie {
            fifo: Fifo::default(),
            randomness: setup.randomness.clone(),
            drop_reason: setup.drop_reason(0),
            mark_reason: setup.mark_reason(0),
            target_s: 0.0,
            update: Duration::ZERO,
            alpha: 0.0,
            beta: 0.0,
            max_burst: Duration::ZERO,
            is_marking: false,
            is_spreading: false,
            mark_below: 0.0,
            delay: Duration::ZERO,
            delay_before_s: 0.0,
            probability: 0.0,
            accumulated: 0.0,
            burst_left: Duration::ZERO,
            next_update: None,
        };
        queue.set(&setup.parameters);
        queue.burst_left = queue.max_burst;
        queue
    }

    fn set(&mut self, parameters: &Parameters) {
        self.target_s = parameters.duration("target").as_secs_f64();
        self.update = parameters.duration("update");
        self.alpha = parameters.get("alpha");
        self.beta = parameters.get("beta");
        self.max_burst = parameters.duration("max-burst");
        self.is_marking = parameters.get("ecn") != 0.0;
        self.mark_below = parameters.get("mark-below");
        self.is_spreading = parameters.get("spread") != 0.0;
    }

    /// The probability of the time.
    pub fn probability(&self) -> f64 {
        self.probability
    }

    /// Both delays are below half the target.
    fn is_calm(&self) -> bool {
        let half = self.target_s / 2.0;
        self.delay.as_secs_f64() < half && self.delay_before_s < half
    }

    /// Moves the probability (section 4.2).
    fn control(&mut self) {
        let delay_s = self.delay.as_secs_f64();
        let step =
            self.alpha * (delay_s - self.target_s) + self.beta * (delay_s - self.delay_before_s);
        let tuned = TUNING.iter().find(|&&(below, _)| self.probability < below);
        let mut step = tuned.map_or(step, |&(_, divisor)| step / divisor);
        if self.probability >= CAP.0 {
            step = step.min(CAP.1);
        }
        self.probability += step;
        if delay_s == 0.0 && self.delay_before_s == 0.0 {
            self.probability *= DECAY;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        self.burst_left = match self.probability == 0.0 && self.is_calm() {
            true => self.max_burst,
            false => self.burst_left.saturating_sub(self.update),
        };
        self.delay_before_s = delay_s;
    }

    /// True when an arrival behind `waiting` packets is to be dropped or marked (section 4.1).
    #[inline]
    fn draws(&mut self, waiting: u64) -> bool {
        if self.burst_left > Duration::ZERO
            || self.delay_before_s < self.target_s / 2.0 && self.probability < SAFEGUARD
            || waiting <= FEW_PACKETS
        {
            return false;
        }
        if self.is_spreading {
            if self.probability == 0.0 {
                self.accumulated = 0.0;
            }
            self.accumulated += self.probability;
            if self.accumulated < SPREAD.0 {
                return false;
            }
            if self.accumulated >= SPREAD.1 {
                return true;
            }
        }
        self.randomness.f64() < self.probability
    }
}

impl<P: QueuedPacket> QueueDiscipline<P> for Pie<P> {
    #[inline]
    fn enqueue(&mut self, mut packet: Queued<P>, now: Time, room: &Room, out: &mut Outcomes<P>) {
        if self.next_update.is_none() {
            let updates = now.as_ps() / self.update.as_ps() + 1;
            self.next_update = Some(Time::from_ps(updates * self.update.as_ps()));
        }
        let backlog = self.fifo.backlog();
        if !room.admits(backlog, packet.label.length) {
            self.accumulated = 0.0;
            return out.refuse(packet, DropReason::QUEUE_FULL);
        }
        if self.draws(backlog.packets) {
            let is_marked =
                self.is_marking && self.probability < self.mark_below && packet.takes_marks();
            self.accumulated = 0.0;
            if !is_marked {
                return out.refuse(packet, self.drop_reason);
            }
            out.mark(&mut packet, self.mark_reason);
        }
        self.fifo.push(packet);
    }

    #[inline]
    fn dequeue(&mut self, now: Time, _out: &mut Outcomes<P>) -> Option<Queued<P>> {
        let packet = self.fifo.pop()?;
        self.delay = match self.fifo.backlog().packets {
            0 => Duration::ZERO,
            _ => now.saturating_since(packet.enqueued_at),
        };
        Some(packet)
    }

    #[inline]
    fn next_timer(&self) -> Option<Time> {
        self.next_update
    }

    fn on_timer(&mut self, now: Time) {
        if self.next_update.is_none_or(|update| update > now) {
            return;
        }
        let before = (self.probability, self.delay_before_s, self.burst_left);
        self.control();
        let is_over = self.fifo.backlog().packets == 0
            && before == (self.probability, self.delay_before_s, self.burst_left);
        self.next_update = (!is_over).then(|| now + self.update);
    }

    one_fifo!();

    fn set_parameters(&mut self, parameters: &Parameters) {
        self.set(parameters);
    }
}
