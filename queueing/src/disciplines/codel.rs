//! CoDel (RFC 8289): drops at the head while packets wait too long.
//!
//! Once the sojourn time has been at or above `target` for an `interval`, CoDel drops the packet at
//! the head, and the next ones `interval`/sqrt(count) apart, until a sojourn time is below `target`
//! or no more than `mtu` bytes wait. A drop state soon after the last one resumes its rate: the
//! count goes on from how far it had grown, if fewer than 16 intervals have passed.
//!
//! Constants: target 5 ms, interval 100 ms (RFC 8289 sections 4.2 and 4.3); mtu as in Linux, the
//! interface's 1,500 bytes and 14 of Ethernet. The square root is a double's; `next_drop` is
//! rounded down to a picosecond.

use crate::discipline::{QueueDiscipline, Room, Setup};
use crate::outcomes::{DropReason, Outcomes, Reason};
use crate::queued::{Backlog, Fifo, Queued};
use crate::record::{Parameter, Parameters, Record, Unit};
use narrows_common::{Bytes, Duration, Time};

/// The discipline's entry in the list.
pub const RECORD: Record = Record {
    name: "codel",
    title: "controlled delay: drops at the head while packets wait longer than a target",
    reference: "RFC 8289; Nichols, Jacobson, Controlling queue delay, ACM Queue 2012",
    parameters: &[
        Parameter {
            name: "target",
            unit: Unit::Duration,
            default: 5e9,
            min: 1e3,
            max: 1e13,
            origin: "sojourn time that a standing queue may have; 5 ms: RFC 8289 section 4.2",
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
    ],
    drops: &[Reason {
        name: "codel",
        meaning: "packets had waited longer than CoDel's target for an interval",
    }],
    is_fifo: true,
    not_implemented: &["congestion marks instead of drops (RFC 8289 section 3.1)"],
};

/// A drop state that ended longer ago leaves no count to resume from, in intervals.
const MEMORY_INTERVALS: u64 = 16;

/// A CoDel queue.
#[derive(Debug)]
pub struct CoDel<P> {
    fifo: Fifo<P>,
    target: Duration,
    interval: Duration,
    mtu: Bytes,
    drop_reason: DropReason,
    /// When sojourn times will have been at or above the target for an interval.
    first_above: Option<Time>,
    is_dropping: bool,
    next_drop: Time,
    /// Drops since the drop state began.
    count: u32,
    /// What `count` began with.
    first_count: u32,
}

impl<P> CoDel<P> {
    /// An empty queue.
    pub(super) fn new(setup: &Setup) -> Self {
        let mut queue = CoDel {
            fifo: Fifo::default(),
            target: Duration::ZERO,
            interval: Duration::ZERO,
            mtu: Bytes::ZERO,
            drop_reason: setup.drop_reason(0),
            first_above: None,
            is_dropping: false,
            next_drop: Time::ZERO,
            count: 0,
            first_count: 0,
        };
        queue.set(&setup.parameters);
        queue
    }

    fn set(&mut self, parameters: &Parameters) {
        self.target = parameters.duration("target");
        self.interval = parameters.duration("interval");
        self.mtu = Bytes::new(parameters.get("mtu") as u64);
    }

    /// The packet at the head, and whether it may be dropped (RFC 8289 section 5.6, dodequeue).
    #[inline]
    fn take(&mut self, now: Time) -> Option<(Queued<P>, bool)> {
        let Some(packet) = self.fifo.pop() else {
            self.first_above = None;
            return None;
        };
        let sojourn = now.saturating_since(packet.enqueued_at);
        if sojourn < self.target || self.fifo.backlog().bytes <= self.mtu {
            self.first_above = None;
            return Some((packet, false));
        }
        let first_above = *self.first_above.get_or_insert(now + self.interval);
        Some((packet, now >= first_above))
    }

    /// When the next drop is due after one at `at`: RFC 8289 section 4.3.
    fn control_law(&self, at: Time) -> Time {
        at + Duration::from_ps((self.interval.as_ps() as f64 / f64::from(self.count).sqrt()) as u64)
    }

    /// Drops while the next drop is due, in the drop state. Returns the packet to send.
    fn go_on(
        &mut self,
        mut packet: Queued<P>,
        now: Time,
        out: &mut Outcomes<P>,
    ) -> Option<Queued<P>> {
        while self.is_dropping && now >= self.next_drop {
            out.discard(packet, self.drop_reason);
            self.count += 1;
            let Some((next, may_drop)) = self.take(now) else {
                self.is_dropping = false;
                return None;
            };
            (packet, self.is_dropping) = (next, may_drop);
            if may_drop {
                self.next_drop = self.control_law(self.next_drop);
            }
        }
        Some(packet)
    }

    /// Enters the drop state with a first drop. Returns the packet to send.
    fn begin(&mut self, packet: Queued<P>, now: Time, out: &mut Outcomes<P>) -> Option<Queued<P>> {
        out.discard(packet, self.drop_reason);
        let next = self.take(now);
        self.is_dropping = true;
        let grown = self.count - self.first_count;
        let since = now.saturating_since(self.next_drop);
        let is_recent = since < self.interval.saturating_mul(MEMORY_INTERVALS);
        self.count = if grown > 1 && is_recent { grown } else { 1 };
        self.first_count = self.count;
        self.next_drop = self.control_law(now);
        next.map(|(packet, _)| packet)
    }
}

impl<P> QueueDiscipline<P> for CoDel<P> {
    #[inline]
    fn enqueue(&mut self, packet: Queued<P>, _now: Time, room: &Room, out: &mut Outcomes<P>) {
        match room.admits(self.fifo.backlog(), packet.label.length) {
            true => self.fifo.push(packet),
            false => out.refuse(packet, DropReason::QUEUE_FULL),
        }
    }

    #[inline]
    fn dequeue(&mut self, now: Time, out: &mut Outcomes<P>) -> Option<Queued<P>> {
        let Some((packet, may_drop)) = self.take(now) else {
            self.is_dropping = false;
            return None;
        };
        if may_drop && !self.is_dropping {
            return self.begin(packet, now, out);
        }
        self.is_dropping &= may_drop;
        self.go_on(packet, now, out)
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.fifo.backlog()
    }

    fn visit(&self, each: &mut dyn FnMut(&Queued<P>)) {
        self.fifo.iter().for_each(each);
    }

    fn hand_over(&mut self) -> Option<Queued<P>> {
        self.fifo.pop()
    }

    fn set_parameters(&mut self, parameters: &Parameters) {
        self.set(parameters);
    }
}
