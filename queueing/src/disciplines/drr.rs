//! DRR: a queue per flow, served in turn, each by a quantum of bytes.
//!
//! Source: Shreedhar and Varghese, SIGCOMM 1995, figs. 2 and 3. What a turn leaves of the quantum is
//! the next turn's; an empty queue keeps nothing. A packet beyond the port's limit takes the room of
//! the last packet of the longest queue (McKenney's buffer stealing, section 4).

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
    name: "drr",
    title: "deficit round robin: a queue per flow, served in turn by a quantum of bytes",
    reference: "Shreedhar, Varghese, SIGCOMM 1995",
    parameters: &[
        Parameter {
            name: "flows",
            unit: Unit::Count,
            default: 1024.0,
            min: 1.0,
            max: 65536.0,
            origin: "queues that flows are hashed to; 1,024: as FQ-CoDel",
        },
        Parameter {
            name: "quantum",
            unit: Unit::Size,
            default: 1514.0,
            min: 1.0,
            max: 1e6,
            origin: "bytes of a turn; 1,514, the greatest frame: Shreedhar and Varghese, section 3",
        },
    ],
    drops: &[Reason {
        name: "drr-overlimit",
        meaning: "the port was at its limit and the flow's queue was the longest",
    }],
    marks: &[],
    is_fifo: false,
    not_implemented: &["weights of flows"],
};

/// A flow's queue.
#[derive(Debug)]
struct Flow<P> {
    fifo: Fifo<P>,
    deficit: u64,
}

/// A DRR queue.
#[derive(Debug)]
pub struct Drr<P> {
    flows: Vec<Flow<P>>,
    /// Queues with packets; the first has its turn.
    active: VecDeque<u32>,
    /// The first has its quantum.
    has_begun: bool,
    backlog: Backlog,
    overlimit: DropReason,
    quantum: u64,
    seed: u64,
}

impl<P: QueuedPacket> Drr<P> {
    /// An empty queue.
    pub(super) fn new(setup: &Setup) -> Self {
        let mut queue = Drr {
            flows: vec![],
            active: VecDeque::new(),
            has_begun: false,
            backlog: Backlog::default(),
            overlimit: setup.drop_reason(0),
            quantum: 0,
            seed: setup.randomness.clone().u64(),
        };
        queue.set_parameters(&setup.parameters);
        queue
    }

    fn store(&mut self, packet: Queued<P>) {
        let hash = flow_hash(packet.packet.packet(), self.seed);
        let index = (((hash >> 32) * self.flows.len() as u64) >> 32) as u32;
        let flow = &mut self.flows[index as usize];
        if flow.fifo.backlog().packets == 0 {
            flow.deficit = 0;
            self.active.push_back(index);
        }
        self.backlog = self.backlog.with(packet.label.length);
        flow.fifo.push(packet);
    }

    /// Drops the last packet of the longest queue.
    fn steal(&mut self, out: &mut Outcomes<P>) {
        let bytes = |&index: &u32| self.flows[index as usize].fifo.backlog().bytes;
        let longest = self.active.iter().copied();
        let longest = longest.max_by_key(|index| (bytes(index), Reverse(*index)));
        let Some(packet) = longest.and_then(|index| self.flows[index as usize].fifo.pop_back())
        else {
            return;
        };
        self.backlog = self.backlog.without(packet.label.length);
        out.discard(packet, self.overlimit);
        self.forget_the_empty();
    }

    /// Takes empty queues out of the turns.
    fn forget_the_empty(&mut self) {
        let is_empty = |flows: &[Flow<P>], index: u32| {
            flows[index as usize].fifo.backlog().packets == 0
        };
        if self.active.front().is_some_and(|&index| is_empty(&self.flows, index)) {
            self.has_begun = false;
        }
        self.active.retain(|&index| !is_empty(&self.flows, index));
    }
}

impl<P: QueuedPacket> QueueDiscipline<P> for Drr<P> {
    fn enqueue(&mut self, packet: Queued<P>, _now: Time, room: &Room, out: &mut Outcomes<P>) {
        let is_over = !room.admits(self.backlog, packet.label.length);
        self.store(packet);
        if is_over {
            self.steal(out);
        }
    }

    fn dequeue(&mut self, _now: Time, _out: &mut Outcomes<P>) -> Option<Queued<P>> {
        loop {
            let index = *self.active.front()?;
            let flow = &mut self.flows[index as usize];
            if !self.has_begun {
                (flow.deficit, self.has_begun) = (flow.deficit + self.quantum, true);
            }
            let next = flow.fifo.front().map_or(0, |packet| packet.label.length.get());
            if next <= flow.deficit {
                let packet = flow.fifo.pop()?;
                flow.deficit -= next;
                self.backlog = self.backlog.without(packet.label.length);
                if flow.fifo.backlog().packets == 0 {
                    (self.has_begun, flow.deficit) = (false, 0);
                    self.active.pop_front();
                }
                return Some(packet);
            }
            self.has_begun = false;
            self.active.rotate_left(1);
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
        self.quantum = parameters.get("quantum") as u64;
        let flows = parameters.get("flows") as usize;
        if flows != self.flows.len() {
            let waiting: Vec<_> = std::iter::from_fn(|| self.hand_over()).collect();
            let empty = |_| Flow { fifo: Fifo::default(), deficit: 0 };
            self.flows = (0..flows).map(empty).collect();
            (self.active, self.has_begun) = (VecDeque::new(), false);
            waiting.into_iter().for_each(|packet| self.store(packet));
        }
    }
}
