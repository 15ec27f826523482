//! COBALT: CoDel, and BLUE for flows that do not react to it.
//!
//! Source: Høiland-Jørgensen, Täht, Morton, Piece of CAKE, LANMAN 2018, section III-C; Palmei et
//! al., Design and evaluation of COBALT queue discipline, LANMAN 2019. CoDel differs from RFC 8289:
//! the count of drops decreases step by step while sojourn times are below the target, and
//! a due drop counts as due whatever waits behind the packet. BLUE's probability grows while the
//! queue is full or packets wait longer than `blue-above`, and shrinks while the queue is empty, at
//! most once a target. BLUE drops what CoDel would mark.
//!
//! Where the papers leave it open: constants and the order of steps as in CAKE.

use crate::discipline::{QueueDiscipline, Room, Setup};
use crate::outcomes::{DropReason, MarkReason, Outcomes, Reason};
use crate::queued::{Backlog, Fifo, Queued, QueuedPacket};
use crate::randomness::Randomness;
use crate::record::{Parameter, Parameters, Record, Unit};
use narrows_common::{Duration, Time};

/// The discipline's entry in the list.
pub const RECORD: Record = Record {
    name: "cobalt",
    title: "CoDel and BLUE: drops at the head, at random where that does not help",
    reference: "Høiland-Jørgensen, Täht, Morton, LANMAN 2018; Palmei et al., LANMAN 2019",
    parameters: PARAMETERS,
    drops: &[
        Reason { name: "cobalt-codel", meaning: "COBALT's CoDel was due to drop a packet" },
        Reason { name: "cobalt-blue", meaning: "COBALT's BLUE drew the packet" },
    ],
    marks: &[Reason { name: "cobalt-codel", meaning: "COBALT's CoDel was due to mark a packet" }],
    is_fifo: true,
    not_implemented: &["CAKE's scheduler, shaper and ACK filter"],
};

const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "target",
        unit: Unit::Duration,
        default: 5e9,
        min: 1e3,
        max: 1e13,
        origin: "sojourn time that a standing queue may have; 5 ms: CAKE",
    },
    Parameter {
        name: "interval",
        unit: Unit::Duration,
        default: 1e11,
        min: 1e6,
        max: 1e14,
        origin: "time above target before the first drop; 100 ms: CAKE",
    },
    Parameter {
        name: "ecn",
        unit: Unit::Flag,
        default: 0.0,
        min: 0.0,
        max: 1.0,
        origin: "marks packets that can be marked where CoDel would drop; off: as CoDel here",
    },
    Parameter {
        name: "blue-above",
        unit: Unit::Duration,
        default: 4e11,
        min: 1e3,
        max: 1e14,
        origin: "sojourn time above which BLUE's probability grows; 400 ms: CAKE",
    },
    Parameter {
        name: "increment",
        unit: Unit::Number,
        default: 1.0 / 256.0,
        min: 0.0,
        max: 1.0,
        origin: "growth of BLUE's probability; 1/256: CAKE",
    },
    Parameter {
        name: "decrement",
        unit: Unit::Number,
        default: 1.0 / 4096.0,
        min: 0.0,
        max: 1.0,
        origin: "decrease of BLUE's probability; 1/4096: CAKE",
    },
];

/// A COBALT queue.
#[derive(Debug)]
pub struct Cobalt<P> {
    fifo: Fifo<P>,
    randomness: Randomness,
    codel_reason: DropReason,
    blue_reason: DropReason,
    mark_reason: MarkReason,
    target: Duration,
    interval: Duration,
    is_marking: bool,
    blue_above: Duration,
    increment: f64,
    decrement: f64,
    is_dropping: bool,
    /// Drops of the drop state, counted down while there is none.
    count: u32,
    next_drop: Time,
    /// BLUE's probability.
    probability: f64,
    blue_changed_at: Time,
    /// When the queue was last found empty.
    emptied_at: Time,
}

/// What becomes of a packet at the head.
enum Verdict {
    Sends,
    Drops(DropReason),
}

impl<P> Cobalt<P> {
    /// An empty queue.
    pub(super) fn new(setup: &Setup) -> Self {
        let mut queue = Cobalt {
            fifo: Fifo::default(),
            randomness: setup.randomness.clone(),
            codel_reason: setup.drop_reason(0),
            blue_reason: setup.drop_reason(1),
            mark_reason: setup.mark_reason(0),
            target: Duration::ZERO,
            interval: Duration::ZERO,
            is_marking: false,
            blue_above: Duration::ZERO,
            increment: 0.0,
            decrement: 0.0,
            is_dropping: false,
            count: 0,
            next_drop: Time::ZERO,
            probability: 0.0,
            blue_changed_at: Time::ZERO,
            emptied_at: Time::ZERO,
        };
        queue.set(&setup.parameters);
        queue
    }

    fn set(&mut self, parameters: &Parameters) {
        self.target = parameters.duration("target");
        self.interval = parameters.duration("interval");
        self.is_marking = parameters.get("ecn") != 0.0;
        self.blue_above = parameters.duration("blue-above");
        self.increment = parameters.get("increment");
        self.decrement = parameters.get("decrement");
    }

    /// When the next drop is due after one at `at`.
    fn control_law(&self, at: Time) -> Time {
        let count = f64::from(self.count.max(1));
        at + Duration::from_ps((self.interval.as_ps() as f64 / count.sqrt()) as u64)
    }

    /// BLUE's probability may change again.
    fn may_change(&self, now: Time) -> bool {
        now.saturating_since(self.blue_changed_at) > self.target
    }

    /// The port became idle: nothing waited. It is told once.
    fn handle_empty(&mut self, now: Time) {
        if now <= self.emptied_at {
            return;
        }
        self.emptied_at = now;
        if self.probability > 0.0 && self.may_change(now) {
            self.probability = (self.probability - self.decrement).max(0.0);
            self.blue_changed_at = now;
        }
        self.is_dropping = false;
        if self.count > 0 && now >= self.next_drop {
            self.count -= 1;
            self.next_drop = self.control_law(self.next_drop);
        }
    }

    /// A packet found the queue at its limit.
    fn handle_full(&mut self, now: Time) {
        if self.may_change(now) {
            self.probability = (self.probability + self.increment).min(1.0);
            self.blue_changed_at = now;
        }
        self.is_dropping = true;
        self.next_drop = now;
        self.count = self.count.max(1);
    }

    /// CoDel's part: true when it is due to drop or mark.
    fn codel_is_due(&mut self, sojourn: Duration, now: Time) -> bool {
        let mut is_due = self.count > 0 && now >= self.next_drop;
        if sojourn > self.target {
            if !self.is_dropping {
                self.is_dropping = true;
                self.next_drop = self.control_law(now);
            }
            self.count = self.count.max(1);
        } else {
            self.is_dropping = false;
        }
        if is_due && self.is_dropping {
            self.count = self.count.saturating_add(1);
            self.next_drop = self.control_law(self.next_drop);
            return true;
        }
        while is_due {
            self.count -= 1;
            self.next_drop = self.control_law(self.next_drop);
            is_due = self.count > 0 && now >= self.next_drop;
        }
        false
    }
}

impl<P: QueuedPacket> Cobalt<P> {
    /// What becomes of the packet at the head.
    fn judge(&mut self, packet: &mut Queued<P>, now: Time, out: &mut Outcomes<P>) -> Verdict {
        let sojourn = now.saturating_since(packet.enqueued_at);
        let (mut verdict, mut is_marked) = (Verdict::Sends, false);
        if self.codel_is_due(sojourn, now) {
            is_marked = self.is_marking && packet.takes_marks();
            if !is_marked {
                verdict = Verdict::Drops(self.codel_reason);
            }
        }
        if sojourn > self.blue_above && self.may_change(now) {
            self.probability = (self.probability + self.increment).min(1.0);
            self.blue_changed_at = now;
        }
        if self.probability > 0.0
            && self.randomness.f64() < self.probability
            && matches!(verdict, Verdict::Sends)
        {
            (verdict, is_marked) = (Verdict::Drops(self.blue_reason), false);
        }
        if self.count == 0 {
            // The time of the next drop is the time until which nothing happens.
            self.next_drop = now + self.interval;
        } else if now > self.next_drop && matches!(verdict, Verdict::Sends) {
            self.next_drop = now;
        }
        if is_marked {
            out.mark(packet, self.mark_reason);
        }
        verdict
    }
}

impl<P: QueuedPacket> QueueDiscipline<P> for Cobalt<P> {
    fn enqueue(&mut self, packet: Queued<P>, now: Time, room: &Room, out: &mut Outcomes<P>) {
        let backlog = self.fifo.backlog();
        if room.is_idle && backlog.packets == 0 {
            self.handle_empty(room.free_at);
        }
        if room.admits(backlog, packet.label.length) {
            return self.fifo.push(packet);
        }
        self.handle_full(now);
        out.refuse(packet, DropReason::QUEUE_FULL);
    }

    fn dequeue(&mut self, now: Time, out: &mut Outcomes<P>) -> Option<Queued<P>> {
        loop {
            let Some(mut packet) = self.fifo.pop() else {
                self.handle_empty(now);
                return None;
            };
            match self.judge(&mut packet, now, out) {
                Verdict::Sends => return Some(packet),
                Verdict::Drops(reason) => out.discard(packet, reason),
            }
        }
    }

    one_fifo!();

    fn set_parameters(&mut self, parameters: &Parameters) {
        self.set(parameters);
    }
}
