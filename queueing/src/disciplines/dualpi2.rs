//! DualPI2 (RFC 9332): two queues, one for scalable flows, whose marks are coupled.
//!
//! Source: RFC 9332 appendix A.1 and, for low rates and overload, A.2. ECT(1) and CE go to the
//! L queue, all others to the C queue (fig. 3). Every `update` the controller moves the base
//! probability p' by the greater of the two queues' delays: that of the packet at their head
//! (fig. 8). Classic packets are dropped, or marked where they can be, with p' squared; scalable
//! ones are marked with `coupling` times p', or by the ramp of their own delay (fig. 5), whichever
//! is greater (fig. 7). Marks and drops are evenly spaced (fig. 4, `recur`), so no random numbers
//! are needed. Once the coupled probability is at 1, scalable packets are dropped with the classic
//! probability too. Classic ECN is off from p_Cmax = min(1/k^2, 1) on.
//!
//! Where the pseudocode is open:
//! - Lines 5a and 5b of fig. 7 stand behind the dequeue. Here `lq.len()` includes the dequeued
//!   packet and `lq.time()` is its sojourn time: the note above fig. 7 exempts only the last packet
//!   of a burst, and note a of A.1 measures delay as a packet is dequeued.
//! - Line 8h adds p_CL, which can exceed 1, to the counter that line 8c uses for drops. Here it is
//!   at most 1, as a probability is: otherwise more packets than p_C are dropped.
//! - The scheduler is a weighted round robin by bytes, as A.2 recommends. Its credit changes only
//!   while both queues wait, and is reset in favour of the L queue when both are empty (A.1). So
//!   L packets delay the C packet at the head by (1 - share) / share of its length at most, and one
//!   L packet (section 4.2.2).
//!
//! Updates stand at multiples of `update` and pause while nothing waits and p' does not move.

use crate::discipline::{QueueDiscipline, Room, Setup};
use crate::ecn::{Ecn, ecn};
use crate::outcomes::{DropReason, MarkReason, Outcomes, Reason};
use crate::queued::{Backlog, Fifo, Queued, QueuedPacket};
use crate::record::{Parameter, Parameters, Record, Unit};
use narrows_common::{Duration, Time};

const CLASSIC: Reason = Reason {
    name: "dualpi2-classic",
    meaning: "the base probability squared was due to meet a packet of the classic queue",
};

/// The discipline's entry in the list.
pub const RECORD: Record = Record {
    name: "dualpi2",
    title: "two coupled queues: PI2 for classic flows, immediate marks for scalable ones",
    reference: "RFC 9332",
    parameters: PARAMETERS,
    drops: &[
        CLASSIC,
        Reason {
            name: "dualpi2-overload",
            meaning: "the coupled probability was at 1 and a packet of the scalable queue was met",
        },
    ],
    marks: &[
        CLASSIC,
        Reason {
            name: "dualpi2-scalable",
            meaning: "the packet's queue was above its ramp, or the coupled probability was due",
        },
    ],
    is_fifo: false,
    not_implemented: &[
        "the time-shifted FIFO scheduler (section 4.2.2)",
        "Curvy RED (appendix B)",
        "room for a whole MTU before each arrival (fig. 3, line 2): the limit counts the packet",
        "no coupled marks below two MTUs and drops on arrival, which Linux has (appendix A.1)",
    ],
};

const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "target",
        unit: Unit::Duration,
        default: 1.5e10,
        min: 1e3,
        max: 1e13,
        origin: "queueing delay that the controller aims at; 15 ms: RFC 9332 fig. 2",
    },
    Parameter {
        name: "update",
        unit: Unit::Duration,
        default: 1.6e10,
        min: 1e8,
        max: 1e13,
        origin: "time between updates; 16 ms: RFC 9332 A.1 (fig. 2: min(target, RTT_max/3) is 15 ms)",
    },
    Parameter {
        name: "alpha",
        unit: Unit::Number,
        default: 0.16,
        min: 0.0,
        max: 1000.0,
        origin: "weight of the distance from the target, in Hz; \
                 0.1 update / RTT_max^2 with 16 ms and 100 ms: RFC 9332 A.1",
    },
    Parameter {
        name: "beta",
        unit: Unit::Number,
        default: 3.2,
        min: 0.0,
        max: 1000.0,
        origin: "weight of the change since the last update, in Hz; \
                 3.2: RFC 9332 A.1 (fig. 2: 0.3 / RTT_max is 3)",
    },
    Parameter {
        name: "coupling",
        unit: Unit::Number,
        default: 2.0,
        min: 0.0,
        max: 100.0,
        origin: "scalable probability over the base probability; 2: RFC 9332 fig. 2",
    },
    Parameter {
        name: "min-th",
        unit: Unit::Duration,
        default: 8e8,
        min: 0.0,
        max: 1e13,
        origin: "delay of the scalable queue at which its ramp begins; 800 us: RFC 9332 fig. 2",
    },
    Parameter {
        name: "range",
        unit: Unit::Duration,
        default: 4e8,
        min: 0.0,
        max: 1e13,
        origin: "length of the ramp, 0 is a step; 400 us: RFC 9332 fig. 2",
    },
    Parameter {
        name: "min-packets",
        unit: Unit::Count,
        default: 1.0,
        min: 1.0,
        max: 1e9,
        origin: "scalable packets up to which the ramp is off; 1: Th_len of RFC 9332 fig. 2",
    },
    Parameter {
        name: "classic-share",
        unit: Unit::Number,
        default: 0.1,
        min: 0.0,
        max: 1.0,
        origin: "share of the rate for the classic queue while both wait; \
                 10 %: Linux (RFC 9332 section 4.2.2: small, such as 1/16)",
    },
    Parameter {
        name: "any-ect",
        unit: Unit::Flag,
        default: 0.0,
        min: 0.0,
        max: 1.0,
        origin: "ECT(0) goes to the scalable queue too, as DCTCP sends it; off: RFC 9332, \
                 any_ect of Linux's sch_dualpi2",
    },
];

/// Marks or drops at even distances (RFC 9332 fig. 4, `recur`).
#[derive(Debug, Default)]
struct Recurrence(f64);

impl Recurrence {
    fn is_due(&mut self, likelihood: f64) -> bool {
        self.0 += likelihood;
        let is_due = self.0 > 1.0;
        if is_due {
            self.0 -= 1.0;
        }
        is_due
    }
}

/// A DualPI2 queue.
#[derive(Debug)]
pub struct DualPi2<P> {
    scalable: Fifo<P>,
    classic: Fifo<P>,
    scalable_turns: Recurrence,
    classic_turns: Recurrence,
    classic_drop: DropReason,
    overload_drop: DropReason,
    classic_mark: MarkReason,
    scalable_mark: MarkReason,
    target_s: f64,
    update: Duration,
    alpha: f64,
    beta: f64,
    coupling: f64,
    min_th_s: f64,
    range_s: f64,
    min_packets: u64,
    classic_share: f64,
    is_any_ect: bool,
    /// Bytes by which the C queue is ahead of its share; below 0 it is behind.
    classic_lead: f64,
    /// p'.
    base: f64,
    delay_before_s: f64,
    next_update: Option<Time>,
}

impl<P: QueuedPacket> DualPi2<P> {
    /// An empty queue.
    pub(super) fn new(setup: &Setup) -> Self {
        let mut queue = DualPi2 {
            scalable: Fifo::default(),
            classic: Fifo::default(),
            scalable_turns: Recurrence::default(),
            classic_turns: Recurrence::default(),
            classic_drop: setup.drop_reason(0),
            overload_drop: setup.drop_reason(1),
            classic_mark: setup.mark_reason(0),
            scalable_mark: setup.mark_reason(1),
            target_s: 0.0,
            update: Duration::ZERO,
            alpha: 0.0,
            beta: 0.0,
            coupling: 0.0,
            min_th_s: 0.0,
            range_s: 0.0,
            min_packets: 0,
            classic_share: 0.0,
            is_any_ect: false,
            classic_lead: 0.0,
            base: 0.0,
            delay_before_s: 0.0,
            next_update: None,
        };
        queue.set_parameters(&setup.parameters);
        queue
    }

    /// The base probability p'.
    pub fn base_probability(&self) -> f64 {
        self.base
    }

    /// How long the packet at a queue's head has waited, in seconds; 0 with an empty queue.
    fn delay_s(fifo: &Fifo<P>, now: Time) -> f64 {
        fifo.front().map_or(0.0, |packet| now.saturating_since(packet.enqueued_at).as_secs_f64())
    }

    /// `dualpi2_update` (figs. 6 and 8).
    fn control(&mut self, now: Time) {
        let delay_s = Self::delay_s(&self.classic, now).max(Self::delay_s(&self.scalable, now));
        let step =
            self.alpha * (delay_s - self.target_s) + self.beta * (delay_s - self.delay_before_s);
        self.base = (self.base + step).clamp(0.0, 1.0);
        self.delay_before_s = delay_s;
    }

    /// True when the scheduler chooses the L queue; one of them waits. The C queue's turn comes
    /// when it is behind by what its head would put it ahead.
    fn chooses_scalable(&self) -> bool {
        match (self.scalable.front(), self.classic.front()) {
            (Some(_), Some(classic)) => {
                let ahead = classic.label.length.get() as f64 * (1.0 - self.classic_share);
                self.classic_lead + ahead > 0.0
            }
            (scalable, _) => scalable.is_some(),
        }
    }

    /// Takes a packet that left its queue into the shares; they count while both queues wait.
    fn count_turn(&mut self, is_scalable: bool, bytes: u64) {
        let (own, other) = match is_scalable {
            true => (&self.scalable, &self.classic),
            false => (&self.classic, &self.scalable),
        };
        if other.backlog().packets == 0 {
            if own.backlog().packets == 0 {
                self.classic_lead = 0.0;
            }
        } else if is_scalable {
            self.classic_lead -= bytes as f64 * self.classic_share;
        } else {
            self.classic_lead += bytes as f64 * (1.0 - self.classic_share);
        }
    }

    /// `laqm` (fig. 5), and lines 5a to 5d of fig. 7: the L queue's own probability of a packet
    /// behind which so many wait.
    fn ramp(&self, delay_s: f64, behind: u64) -> f64 {
        let above = delay_s - self.min_th_s;
        if behind < self.min_packets || above < 0.0 {
            return 0.0;
        }
        if above >= self.range_s { 1.0 } else { above / self.range_s }
    }

    /// A packet of the L queue, unless it is dropped for overload (fig. 7).
    fn take_scalable(&mut self, now: Time, out: &mut Outcomes<P>) -> Option<Queued<P>> {
        let mut packet = self.scalable.pop()?;
        self.count_turn(true, packet.label.length.get());
        let coupled = self.coupling * self.base;
        let likelihood = if coupled < 1.0 {
            let delay_s = now.saturating_since(packet.enqueued_at).as_secs_f64();
            self.ramp(delay_s, self.scalable.backlog().packets).max(coupled)
        } else {
            if self.scalable_turns.is_due(self.base * self.base) {
                out.discard(packet, self.overload_drop);
                return None;
            }
            1.0
        };
        if self.scalable_turns.is_due(likelihood) {
            out.mark(&mut packet, self.scalable_mark);
        }
        Some(packet)
    }

    /// A packet of the C queue, unless it is dropped (fig. 7, lines 10 to 16).
    fn take_classic(&mut self, out: &mut Outcomes<P>) -> Option<Queued<P>> {
        let mut packet = self.classic.pop()?;
        self.count_turn(false, packet.label.length.get());
        let likelihood = self.base * self.base;
        if self.classic_turns.is_due(likelihood) {
            let most = (1.0 / (self.coupling * self.coupling)).min(1.0);
            if likelihood >= most || ecn(packet.packet.packet()) == Ecn::NotCapable {
                out.discard(packet, self.classic_drop);
                return None;
            }
            out.mark(&mut packet, self.classic_mark);
        }
        Some(packet)
    }
}

impl<P: QueuedPacket> QueueDiscipline<P> for DualPi2<P> {
    fn enqueue(&mut self, packet: Queued<P>, now: Time, room: &Room, out: &mut Outcomes<P>) {
        if self.next_update.is_none() {
            let updates = now.as_ps() / self.update.as_ps() + 1;
            self.next_update = Some(Time::from_ps(updates * self.update.as_ps()));
        }
        if !room.admits(self.backlog(), packet.label.length) {
            return out.refuse(packet, DropReason::QUEUE_FULL);
        }
        match ecn(packet.packet.packet()) {
            Ecn::Ect1 | Ecn::Ce => self.scalable.push(packet),
            Ecn::Ect0 if self.is_any_ect => self.scalable.push(packet),
            Ecn::Ect0 | Ecn::NotCapable => self.classic.push(packet),
        }
    }

    fn dequeue(&mut self, now: Time, out: &mut Outcomes<P>) -> Option<Queued<P>> {
        while self.backlog().packets > 0 {
            let packet = match self.chooses_scalable() {
                true => self.take_scalable(now, out),
                false => self.take_classic(out),
            };
            if packet.is_some() {
                return packet;
            }
        }
        None
    }

    #[inline]
    fn next_timer(&self) -> Option<Time> {
        self.next_update
    }

    fn on_timer(&mut self, now: Time) {
        if self.next_update.is_none_or(|update| update > now) {
            return;
        }
        let before = (self.base, self.delay_before_s);
        self.control(now);
        let is_over = self.backlog().packets == 0 && before == (self.base, self.delay_before_s);
        self.next_update = (!is_over).then(|| now + self.update);
    }

    fn backlog(&self) -> Backlog {
        let (scalable, classic) = (self.scalable.backlog(), self.classic.backlog());
        Backlog {
            packets: scalable.packets + classic.packets,
            bytes: scalable.bytes + classic.bytes,
        }
    }

    fn visit(&self, each: &mut dyn FnMut(&Queued<P>)) {
        self.scalable.iter().chain(self.classic.iter()).for_each(each);
    }

    fn hand_over(&mut self) -> Option<Queued<P>> {
        let number = |fifo: &Fifo<P>| fifo.front().map_or(u64::MAX, |one| one.label.number);
        match number(&self.scalable) < number(&self.classic) {
            true => self.scalable.pop(),
            false => self.classic.pop(),
        }
    }

    fn set_parameters(&mut self, parameters: &Parameters) {
        self.target_s = parameters.duration("target").as_secs_f64();
        self.update = parameters.duration("update");
        self.alpha = parameters.get("alpha");
        self.beta = parameters.get("beta");
        self.coupling = parameters.get("coupling");
        self.min_th_s = parameters.duration("min-th").as_secs_f64();
        self.range_s = parameters.duration("range").as_secs_f64();
        self.min_packets = parameters.get("min-packets") as u64;
        self.classic_share = parameters.get("classic-share");
        self.is_any_ect = parameters.get("any-ect") != 0.0;
    }
}
