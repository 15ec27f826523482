//! FQ-CoDel (RFC 8290): a queue for each hash of a flow, served by deficit round robin, with CoDel
//! at each of them.
//!
//! A flow that begins, or comes back, is served before the flows that have a queue (section 4.2).
//! A packet beyond the port's limit is stored, and up to `drop-batch` packets are dropped from the
//! head of the queue with the most bytes, no more than half of it (section 4.1.3, and Linux).

use super::codel::{Control, Law, RECORD as CODEL};
use crate::discipline::{QueueDiscipline, Room, Setup};
use crate::flow_hash::flow_hash;
use crate::outcomes::{DropReason, Outcomes, Reason};
use crate::queued::{Backlog, Fifo, Queued, QueuedPacket};
use crate::record::{Parameter, Parameters, Record, Unit};
use narrows_common::Time;
use std::cmp::Reverse;
use std::collections::VecDeque;

/// The discipline's entry in the list.
pub const RECORD: Record = Record {
    name: "fq-codel",
    title: "a queue per flow in deficit round robin, each with CoDel; new flows first",
    reference: "RFC 8290",
    parameters: &[
        CODEL.parameters[0],
        CODEL.parameters[1],
        CODEL.parameters[2],
        Parameter { default: 1.0, origin: "marks instead of drops; on: Linux", ..CODEL.parameters[3] },
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

/// A flow's queue.
#[derive(Debug)]
struct Flow<P> {
    fifo: Fifo<P>,
    control: Control,
    credit: i64,
    list: List,
}

impl<P> Default for Flow<P> {
    fn default() -> Self {
        Flow { fifo: Fifo::default(), control: Control::default(), credit: 0, list: List::None }
    }
}

/// An FQ-CoDel queue.
#[derive(Debug)]
pub struct FqCoDel<P> {
    flows: Vec<Flow<P>>,
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    backlog: Backlog,
    law: Law,
    overlimit: DropReason,
    quantum: i64,
    drop_batch: u64,
    seed: u64,
}

impl<P: QueuedPacket> FqCoDel<P> {
    /// An empty queue.
    pub(super) fn new(setup: &Setup) -> Self {
        let mut queue = FqCoDel {
            flows: vec![],
            new: VecDeque::new(),
            old: VecDeque::new(),
            backlog: Backlog::default(),
            law: Law::new(setup),
            overlimit: setup.drop_reason(1),
            quantum: 0,
            drop_batch: 0,
            seed: setup.randomness.clone().u64(),
        };
        queue.set_parameters(&setup.parameters);
        queue
    }

    /// Stores a packet in its flow's queue.
    #[inline]
    fn store(&mut self, packet: Queued<P>) {
        let hash = flow_hash(packet.packet.packet(), self.seed);
        // Multiplication maps the hash's upper half to the queues evenly.
        let index = (((hash >> 32) * self.flows.len() as u64) >> 32) as u32;
        let flow = &mut self.flows[index as usize];
        if flow.list == List::None {
            (flow.list, flow.credit) = (List::New, self.quantum);
            self.new.push_back(index);
        }
        self.backlog = self.backlog.with(packet.label.length);
        flow.fifo.push(packet);
    }

    /// The port had nothing to send: no flow has a queue, and each that comes is new.
    fn retire_all(&mut self) {
        for index in self.new.drain(..).chain(self.old.drain(..)) {
            self.flows[index as usize].list = List::None;
        }
    }

    /// Drops from the head of the queue with the most bytes.
    #[cold]
    fn drop_from_the_fattest(&mut self, out: &mut Outcomes<P>) {
        let waiting = self.new.iter().chain(&self.old).copied();
        let bytes = |&index: &u32| self.flows[index as usize].fifo.backlog().bytes;
        let Some(fattest) = waiting.max_by_key(|index| (bytes(index), Reverse(*index))) else {
            return;
        };
        let fifo = &mut self.flows[fattest as usize].fifo;
        let (half, mut dropped) = (fifo.backlog().bytes.get() / 2, 0);
        for _ in 0..self.drop_batch {
            let Some(packet) = fifo.pop() else { return };
            self.backlog = self.backlog.without(packet.label.length);
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
            let index = *self.new.front().or(self.old.front())?;
            let flow = &mut self.flows[index as usize];
            if flow.credit > 0 {
                return Some(index);
            }
            flow.credit += self.quantum;
            self.leave_turn(index, true);
        }
    }

    /// Takes the queue at its turn out of its list, to the end of the old ones or to none.
    #[inline]
    fn leave_turn(&mut self, index: u32, goes_on: bool) {
        let flow = &mut self.flows[index as usize];
        match flow.list {
            List::New => self.new.pop_front(),
            _ => self.old.pop_front(),
        };
        flow.list = if goes_on { List::Old } else { List::None };
        if goes_on {
            self.old.push_back(index);
        }
    }
}

impl<P: QueuedPacket> QueueDiscipline<P> for FqCoDel<P> {
    #[inline]
    fn enqueue(&mut self, packet: Queued<P>, _now: Time, room: &Room, out: &mut Outcomes<P>) {
        if room.is_idle && self.backlog.packets == 0 {
            self.retire_all();
        }
        let is_over = !room.admits(self.backlog, packet.label.length);
        self.store(packet);
        if is_over {
            self.drop_from_the_fattest(out);
        }
    }

    #[inline]
    fn dequeue(&mut self, now: Time, out: &mut Outcomes<P>) -> Option<Queued<P>> {
        loop {
            let index = self.turn()?;
            let flow = &mut self.flows[index as usize];
            let before = flow.fifo.backlog();
            let packet = flow.control.dequeue(&self.law, &mut flow.fifo, now, out);
            let after = flow.fifo.backlog();
            self.backlog.packets -= before.packets - after.packets;
            self.backlog.bytes -= before.bytes - after.bytes;
            if let Some(packet) = packet {
                flow.credit -= packet.label.length.get() as i64;
                return Some(packet);
            }
            // A new queue that is empty passes once behind the old ones: section 4.2.
            let goes_on = flow.list == List::New;
            self.leave_turn(index, goes_on);
        }
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn visit(&self, each: &mut dyn FnMut(&Queued<P>)) {
        self.flows.iter().flat_map(|flow| flow.fifo.iter()).for_each(each);
    }

    fn hand_over(&mut self) -> Option<Queued<P>> {
        let first = |flow: &&mut Flow<P>| flow.fifo.front().map_or(u64::MAX, |one| one.label.number);
        let packet = self.flows.iter_mut().min_by_key(first)?.fifo.pop()?;
        self.backlog = self.backlog.without(packet.label.length);
        Some(packet)
    }

    fn set_parameters(&mut self, parameters: &Parameters) {
        self.law.set(parameters);
        self.quantum = parameters.get("quantum") as i64;
        self.drop_batch = parameters.get("drop-batch") as u64;
        let flows = parameters.get("flows") as usize;
        if flows != self.flows.len() {
            let waiting: Vec<_> = std::iter::from_fn(|| self.hand_over()).collect();
            self.flows = (0..flows).map(|_| Flow::default()).collect();
            self.new.clear();
            self.old.clear();
            waiting.into_iter().for_each(|packet| self.store(packet));
        }
    }
}
