//! FQ-CoDel (RFC 8290): a queue for each hash of a flow, served by deficit round robin, with CoDel
//! at each of them.
//!
//! A flow that begins, or comes back, is served before the flows that have a queue (section 4.2).
//! A packet beyond the port's limit is stored, and up to `drop-batch` packets are dropped from the
//! head of the queue with the most bytes, no more than half of it (section 4.1.3, and Linux).

use super::codel::{Control, Law, RECORD as CODEL};
use crate::discipline::{QueueDiscipline, Room, Setup};
use crate::flow_queues::{Flow, FlowQueues};
use crate::outcomes::{DropReason, Outcomes, Reason};
use crate::queued::{Backlog, Fifo, Queued, QueuedPacket};
use crate::record::{Parameter, Parameters, Record, Unit};
use narrows_common::Time;

/// The discipline's entry in the list.
pub const RECORD: Record = Record {
    name: "fq-codel",
    title: "a queue per flow in deficit round robin, each with CoDel; new flows first",
    reference: "RFC 8290",
    parameters: &[
        CODEL.parameters[0],
        CODEL.parameters[1],
        CODEL.parameters[2],
        Parameter {
            default: 1.0,
            origin: "marks instead of drops; on: Linux",
            ..CODEL.parameters[3]
        },
        CODEL.parameters[4],
        Parameter {
            name: "flows",
            unit: Unit::Count,
            default: 1024.0,
            min: 1.0,
            max: 65536.0,
            origin: "queues that flows are hashed to; 1,024: RFC 8290 section 5.2.4",
        },
        Parameter {
            name: "quantum",
            unit: Unit::Size,
            default: 1514.0,
            min: 1.0,
            max: 1e6,
            origin: "bytes that a queue may send a turn; 1,514: RFC 8290 section 5.2.3",
        },
        Parameter {
            name: "drop-batch",
            unit: Unit::Count,
            default: 64.0,
            min: 1.0,
            max: 65536.0,
            origin: "packets dropped at once beyond the limit, at most; 64: RFC 8290 section 5.3",
        },
    ],
    drops: &[
        Reason {
            name: "fq-codel",
            meaning: "packets of the flow's queue had waited longer than the target",
        },
        Reason {
            name: "fq-codel-overlimit",
            meaning: "the port was at its limit and the flow's queue had the most bytes",
        },
    ],
    marks: &[
        Reason {
            name: "fq-codel",
            meaning: "packets of the flow's queue had waited longer than the target",
        },
        Reason {
            name: "fq-codel-above",
            meaning: "the packet had waited longer than FQ-CoDel's mark-above",
        },
    ],
    is_fifo: false,
    not_implemented: &["hashes that change while the queue is in use (section 4.1.1)"],
};

/// Which list a flow's queue is in.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum List {
    #[default]
    None,
    New,
    Old,
}

/// The state of a flow's queue.
#[derive(Debug, Default)]
struct Share {
    control: Control,
    /// Bytes that it may still send in its turn.
    credit: i64,
    list: List,
    /// The queue after it in its list.
    next: Option<u32>,
}

/// The first and the last queue of a list, in the order of their turns. They are linked by their
/// shares, which the scheduler reads anyhow.
#[derive(Debug, Default)]
struct Turns {
    first: Option<u32>,
    last: u32,
}

/// An FQ-CoDel queue.
#[derive(Debug)]
pub struct FqCoDel<P> {
    flows: FlowQueues<P, Share>,
    new: Turns,
    old: Turns,
    law: Law,
    overlimit: DropReason,
    quantum: i64,
    drop_batch: u64,
}

impl<P: QueuedPacket> FqCoDel<P> {
    /// An empty queue.
    pub(super) fn new(setup: &Setup) -> Self {
        let mut queue = FqCoDel {
            flows: FlowQueues::new(setup.randomness.clone()),
            new: Turns::default(),
            old: Turns::default(),
            law: Law::new(setup),
            overlimit: setup.drop_reason(1),
            quantum: 0,
            drop_batch: 0,
        };
        queue.set_parameters(&setup.parameters);
        queue
    }

    /// Stores a packet in its flow's queue.
    #[inline(always)]
    fn store(&mut self, packet: Queued<P>) {
        let index = self.flows.index_of(&packet.packet);
        let share = self.flows.push(index, packet);
        if share.list == List::None {
            share.credit = self.quantum;
            self.enter(List::New, index);
        }
    }

    /// The port had nothing to send: no flow has a queue, and each that comes is new.
    fn retire_all(&mut self) {
        for mut first in [self.new.first.take(), self.old.first.take()] {
            while let Some(index) = first {
                let share = self.flows.state(index);
                (share.list, first) = (List::None, share.next);
            }
        }
    }

    /// Drops from the head of the queue with the most bytes.
    #[cold]
    fn drop_from_the_fattest(&mut self, out: &mut Outcomes<P>) {
        let after = |&index: &u32| self.flows.state_of(index).next;
        let of = |turns: &Turns| std::iter::successors(turns.first, after);
        let waiting = of(&self.new).chain(of(&self.old));
        let Some(fattest) = self.flows.longest(waiting) else { return };
        let (half, mut dropped) = (self.flows.backlog_of(fattest).bytes.get() / 2, 0);
        for _ in 0..self.drop_batch {
            let Some(packet) = self.flows.take(fattest, Fifo::pop) else { return };
            dropped += packet.label.length.get();
            out.discard(packet, self.overlimit);
            if dropped >= half {
                return;
            }
        }
    }

    /// The queue whose turn it is, of the new ones first.
    #[inline]
    fn turn(&mut self) -> Option<u32> {
        loop {
            let index = self.new.first.or(self.old.first)?;
            let share = self.flows.state(index);
            if share.credit > 0 {
                return Some(index);
            }
            share.credit += self.quantum;
            self.leave_turn(index, true);
        }
    }

    /// Takes the queue at its turn out of its list, to the end of the old ones or to none.
    #[inline]
    fn leave_turn(&mut self, index: u32, goes_on: bool) {
        let share = self.flows.state(index);
        let turns = if share.list == List::New { &mut self.new } else { &mut self.old };
        turns.first = share.next;
        share.list = List::None;
        if goes_on {
            self.enter(List::Old, index);
        }
    }

    /// Puts a queue at the end of a list.
    #[inline]
    fn enter(&mut self, list: List, index: u32) {
        let share = self.flows.state(index);
        (share.list, share.next) = (list, None);
        let turns = if list == List::New { &mut self.new } else { &mut self.old };
        let last = std::mem::replace(&mut turns.last, index);
        match turns.first {
            Some(_) => self.flows.state(last).next = Some(index),
            None => turns.first = Some(index),
        }
    }
}

impl<P: QueuedPacket> QueueDiscipline<P> for FqCoDel<P> {
    #[inline(never)]
    fn enqueue(&mut self, packet: Queued<P>, _now: Time, room: &Room, out: &mut Outcomes<P>) {
        let backlog = self.flows.backlog();
        if room.is_idle && backlog.packets == 0 {
            self.retire_all();
        }
        let is_over = !room.admits(backlog, packet.label.length);
        self.store(packet);
        if is_over {
            self.drop_from_the_fattest(out);
        }
    }

    #[inline(never)]
    fn dequeue(&mut self, now: Time, out: &mut Outcomes<P>) -> Option<Queued<P>> {
        loop {
            let index = self.turn()?;
            let law = &self.law;
            let Flow { fifo, state: Share { control, credit, list, .. } } = self.flows.get(index);
            let before = fifo.backlog();
            control.drop_due(law, fifo, now, out);
            if let Some(head) = fifo.front() {
                let length = head.label.length;
                *credit -= length.get() as i64;
                let left = fifo.backlog().without(length);
                let packet = fifo.pop();
                self.flows.has_left(before, left);
                return packet;
            }
            // A new queue that is empty passes once behind the old ones: section 4.2.
            let goes_on = *list == List::New;
            self.flows.has_left(before, Backlog::default());
            self.leave_turn(index, goes_on);
        }
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.flows.backlog()
    }

    fn visit(&self, each: &mut dyn FnMut(&Queued<P>)) {
        self.flows.visit(each);
    }

    fn hand_over(&mut self) -> Option<Queued<P>> {
        self.flows.take_oldest()
    }

    fn set_parameters(&mut self, parameters: &Parameters) {
        self.law.set(parameters);
        self.quantum = parameters.get("quantum") as i64;
        self.drop_batch = parameters.get("drop-batch") as u64;
        if let Some(waiting) = self.flows.resize(parameters.get("flows") as usize) {
            (self.new, self.old) = (Turns::default(), Turns::default());
            waiting.into_iter().for_each(|packet| self.store(packet));
        }
    }
}
