//! CoDel (RFC 8289): drops packets at the head while the queueing delay is too long.
//!
//! Once the sojourn time has been at or above `target` for an `interval`, CoDel drops the packet at
//! the head. Further drops follow `interval`/sqrt(count) apart, until a sojourn time is below
//! `target` or at most `mtu` bytes are queued. A drop state that starts less than 16 intervals
//! after the previous one resumes that one's rate: the count continues from where it had grown.
//!
//! With `ecn`, a packet that can be marked is marked and sent where another would be dropped
//! (section 3.1). With `mark-above`, all that waited longer than that are marked besides, as in
//! Linux (`ce_threshold`).
//!
//! Constants: target 5 ms, interval 100 ms (RFC 8289 sections 4.2 and 4.3); mtu as in Linux, the
//! interface's 1,500 bytes plus 14 of Ethernet. The square root is computed as a double;
//! `next_drop` is rounded down to a picosecond.

use crate::discipline::{QueueDiscipline, Room, Setup};
use crate::outcomes::{DropReason, MarkReason, Outcomes, Reason};
use crate::queued::{Backlog, Fifo, Queued, QueuedPacket};
use crate::record::{Parameter, Parameters, Record, Unit};
use narrows_common::{Bytes, Duration, Time};

/// The discipline's entry in the list.
pub const RECORD: Record = Record {
    name: "codel",
    title: "controlled delay: drops at the head while the queueing delay exceeds a target",
    reference: "RFC 8289; Nichols, Jacobson, Controlling queue delay, ACM Queue 2012",
    parameters: &[
        Parameter {
            name: "target",
            unit: Unit::Duration,
            default: 5e9,
            min: 1e3,
            max: 1e13,
            origin: "acceptable sojourn time of a standing queue; 5 ms: RFC 8289 section 4.2",
        },
        Parameter {
            name: "interval",
            unit: Unit::Duration,
            default: 1e11,
            min: 1e3,
            max: 1e14,
            origin: "time above target before the first drop, a worst-case round trip; \
                     100 ms: RFC 8289 section 4.3",
        },
        Parameter {
            name: "mtu",
            unit: Unit::Size,
            default: 1514.0,
            min: 0.0,
            max: 1e6,
            origin: "no drop with so few bytes waiting; 1,514: the interface's MTU with its \
                     Ethernet header, as in Linux",
        },
        Parameter {
            name: "ecn",
            unit: Unit::Flag,
            default: 0.0,
            min: 0.0,
            max: 1.0,
            origin: "marks packets that can be marked instead of dropping them; \
                     RFC 8289 section 3.1",
        },
        Parameter {
            name: "mark-above",
            unit: Unit::Duration,
            default: 0.0,
            min: 0.0,
            max: 1e13,
            origin: "sojourn time above which every packet that can be marked is; 0: none; \
                     ce_threshold of Linux's sch_codel",
        },
    ],
    drops: &[Reason {
        name: "codel",
        meaning: "packets had waited longer than CoDel's target for an interval",
    }],
    marks: &[
        Reason {
            name: "codel",
            meaning: "packets had waited longer than CoDel's target for an interval",
        },
        Reason {
            name: "codel-above",
            meaning: "the packet had waited longer than CoDel's mark-above",
        },
    ],
    is_fifo: true,
    not_implemented: &[],
};

/// A drop state resumes the count of a state that ended at most this many intervals ago.
const MEMORY_INTERVALS: u64 = 16;

/// CoDel's parameters, and its reasons.
#[derive(Clone, Debug)]
pub(super) struct Law {
    target: Duration,
    interval: Duration,
    mtu: Bytes,
    is_marking: bool,
    mark_above: Duration,
    drop_reason: DropReason,
    mark_reason: MarkReason,
    above_reason: MarkReason,
}

impl Law {
    /// Of a discipline that begins its record's reasons with CoDel's, and has its parameters.
    pub(super) fn new(setup: &Setup) -> Self {
        let mut law = Law {
            target: Duration::ZERO,
            interval: Duration::ZERO,
            mtu: Bytes::ZERO,
            is_marking: false,
            mark_above: Duration::MAX,
            drop_reason: setup.drop_reason(0),
            mark_reason: setup.mark_reason(0),
            above_reason: setup.mark_reason(1),
        };
        law.set(&setup.parameters);
        law
    }

    /// Goes on with other values.
    pub(super) fn set(&mut self, parameters: &Parameters) {
        self.target = parameters.duration("target");
        self.interval = parameters.duration("interval");
        self.mtu = Bytes::new(parameters.get("mtu") as u64);
        self.is_marking = parameters.get("ecn") != 0.0;
        let above = parameters.duration("mark-above");
        self.mark_above = if above == Duration::ZERO { Duration::MAX } else { above };
    }

    /// When the next drop is due after one at `at`: RFC 8289 section 4.3.
    fn next_drop(&self, at: Time, count: u32) -> Time {
        at + Duration::from_ps((self.interval.as_ps() as f64 / f64::from(count).sqrt()) as u64)
    }

    /// Marks the head instead of dropping it, where that is wanted and it can be marked.
    fn marks_head<P: QueuedPacket>(&self, fifo: &mut Fifo<P>, out: &mut Outcomes<P>) -> bool {
        let Some(head) = fifo.front_mut().filter(|head| self.is_marking && head.takes_marks())
        else {
            return false;
        };
        out.mark(head, self.mark_reason);
        true
    }

    fn drop_head<P: QueuedPacket>(&self, fifo: &mut Fifo<P>, out: &mut Outcomes<P>) {
        if let Some(head) = fifo.pop() {
            out.discard(head, self.drop_reason);
        }
    }

    /// Marks a head that has waited longer than `mark-above`.
    fn mark_late<P: QueuedPacket>(&self, fifo: &mut Fifo<P>, now: Time, out: &mut Outcomes<P>) {
        let Some(head) = fifo.front_mut() else { return };
        if now.saturating_since(head.enqueued_at) > self.mark_above && head.takes_marks() {
            out.mark(head, self.above_reason);
        }
    }
}

/// The state of CoDel at one queue.
#[derive(Clone, Debug, Default)]
pub(super) struct Control {
    /// When sojourn times will have been at or above the target for an interval.
    first_above: Option<Time>,
    is_dropping: bool,
    next_drop: Time,
    /// Drops since the drop state began.
    count: u32,
    /// The value of `count` at the start of the drop state.
    first_count: u32,
}

impl Control {
    /// Drops from the head what is due; the head that is left is the packet to send now.
    #[inline]
    pub(super) fn drop_due<P: QueuedPacket>(
        &mut self,
        law: &Law,
        fifo: &mut Fifo<P>,
        now: Time,
        out: &mut Outcomes<P>,
    ) {
        let may_drop = self.may_drop(law, fifo, now);
        if may_drop && !self.is_dropping {
            self.begin(law, fifo, now, out);
        } else {
            self.is_dropping &= may_drop;
            if self.is_dropping && now >= self.next_drop {
                self.go_on(law, fifo, now, out);
            }
        }
        if law.mark_above != Duration::MAX {
            law.mark_late(fifo, now, out);
        }
    }

    /// Whether the head may be dropped (RFC 8289 section 5.6, dodequeue); false without one. The
    /// head stays in place, since moving a packet costs more than the rest.
    #[inline]
    fn may_drop<P>(&mut self, law: &Law, fifo: &Fifo<P>, now: Time) -> bool {
        let Some(head) = fifo.front() else {
            self.first_above = None;
            return false;
        };
        let behind = fifo.backlog().bytes - head.label.length;
        if now.saturating_since(head.enqueued_at) < law.target || behind <= law.mtu {
            self.first_above = None;
            return false;
        }
        now >= *self.first_above.get_or_insert(now + law.interval)
    }

    /// Drops while the next drop is due, in the drop state.
    #[inline(never)]
    fn go_on<P: QueuedPacket>(
        &mut self,
        law: &Law,
        fifo: &mut Fifo<P>,
        now: Time,
        out: &mut Outcomes<P>,
    ) {
        while self.is_dropping && now >= self.next_drop {
            self.count += 1;
            if law.marks_head(fifo, out) {
                self.next_drop = law.next_drop(self.next_drop, self.count);
                return;
            }
            law.drop_head(fifo, out);
            self.is_dropping = self.may_drop(law, fifo, now);
            if self.is_dropping {
                self.next_drop = law.next_drop(self.next_drop, self.count);
            }
        }
    }

    /// Enters the drop state with a first drop.
    #[inline(never)]
    fn begin<P: QueuedPacket>(
        &mut self,
        law: &Law,
        fifo: &mut Fifo<P>,
        now: Time,
        out: &mut Outcomes<P>,
    ) {
        if !law.marks_head(fifo, out) {
            law.drop_head(fifo, out);
            self.may_drop(law, fifo, now);
        }
        self.is_dropping = true;
        let grown = self.count - self.first_count;
        let since = now.saturating_since(self.next_drop);
        let is_recent = since < law.interval.saturating_mul(MEMORY_INTERVALS);
        self.count = if grown > 1 && is_recent { grown } else { 1 };
        self.first_count = self.count;
        self.next_drop = law.next_drop(now, self.count);
    }
}

/// CoDel's parameters at a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoreCoDel {
    /// The acceptable waiting time.
    pub target: Duration,
    /// The time above it before the first drop.
    pub interval: Duration,
    /// No drop with so few bytes behind the head.
    pub mtu: Bytes,
    /// Packets that can be marked are, in place of their drop.
    pub is_marking: bool,
}

/// A CoDel queue.
#[derive(Debug)]
pub struct CoDel<P> {
    fifo: Fifo<P>,
    law: Law,
    control: Control,
}

impl<P> CoDel<P> {
    /// An empty queue.
    pub(super) fn new(setup: &Setup) -> Self {
        CoDel { fifo: Fifo::default(), law: Law::new(setup), control: Control::default() }
    }

    /// Its parameters for a core, and its `mark-above` if that is in force.
    pub(crate) fn for_core(&self) -> (CoreCoDel, Option<Duration>) {
        let Law { target, interval, mtu, is_marking, mark_above, .. } = self.law;
        let above = (mark_above != Duration::MAX).then_some(mark_above);
        (CoreCoDel { target, interval, mtu, is_marking }, above)
    }
}

impl<P: QueuedPacket> QueueDiscipline<P> for CoDel<P> {
    #[inline]
    fn enqueue(&mut self, packet: Queued<P>, _now: Time, room: &Room, out: &mut Outcomes<P>) {
        room.store(packet, &mut self.fifo, out);
    }

    #[inline]
    fn dequeue(&mut self, now: Time, out: &mut Outcomes<P>) -> Option<Queued<P>> {
        self.control.drop_due(&self.law, &mut self.fifo, now, out);
        self.fifo.pop()
    }

    one_fifo!();

    fn set_parameters(&mut self, parameters: &Parameters) {
        self.law.set(parameters);
    }
}
