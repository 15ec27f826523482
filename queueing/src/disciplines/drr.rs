//! DRR: a queue per flow, served in turn, each by a quantum of bytes.
//!
//! Source: Shreedhar and Varghese, SIGCOMM 1995, figs. 2 and 3. What a turn leaves of the quantum
//! is the next turn's; an empty queue keeps nothing. A packet beyond the port's limit takes the
//! room of the last packet of the longest queue (McKenney's buffer stealing, section 4).

use crate::discipline::{QueueDiscipline, Room, Setup};
use crate::flow_queues::FlowQueues;
use crate::outcomes::{DropReason, Outcomes, Reason};
use crate::queued::{Backlog, Fifo, Queued, QueuedPacket};
use crate::record::{Parameter, Parameters, Record, Unit};
use narrows_common::Time;
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

/// A DRR queue.
#[derive(Debug)]
pub struct Drr<P> {
    /// The flows' queues, each with its deficit in bytes.
    flows: FlowQueues<P, u64>,
    /// Queues with packets; the first has its turn.
    active: VecDeque<u32>,
    /// The first has its quantum.
    has_begun: bool,
    overlimit: DropReason,
    quantum: u64,
}

impl<P: QueuedPacket> Drr<P> {
    /// An empty queue.
    pub(super) fn new(setup: &Setup) -> Self {
        let mut queue = Drr {
            flows: FlowQueues::new(setup.randomness.clone()),
            active: VecDeque::new(),
            has_begun: false,
            overlimit: setup.drop_reason(0),
            quantum: 0,
        };
        queue.set_parameters(&setup.parameters);
        queue
    }

    fn store(&mut self, packet: Queued<P>) {
        let index = self.flows.index_of(&packet.packet);
        if self.flows.backlog_of(index).packets == 0 {
            self.active.push_back(index);
            *self.flows.push(index, packet) = 0;
        } else {
            self.flows.push(index, packet);
        }
    }

    /// Drops the last packet of the longest queue.
    fn steal(&mut self, out: &mut Outcomes<P>) {
        let Some(index) = self.flows.longest(self.active.iter().copied()) else { return };
        if let Some(packet) = self.flows.take(index, Fifo::pop_back) {
            out.discard(packet, self.overlimit);
        }
        if self.flows.backlog_of(index).packets == 0 {
            // An empty queue has no turn.
            self.has_begun &= self.active.front() != Some(&index);
            self.active.retain(|&other| other != index);
        }
    }
}

impl<P: QueuedPacket> QueueDiscipline<P> for Drr<P> {
    #[inline(never)]
    fn enqueue(&mut self, packet: Queued<P>, _now: Time, room: &Room, out: &mut Outcomes<P>) {
        let is_over = !room.admits(self.flows.backlog(), packet.label.length);
        self.store(packet);
        if is_over {
            self.steal(out);
        }
    }

    #[inline(never)]
    fn dequeue(&mut self, _now: Time, _out: &mut Outcomes<P>) -> Option<Queued<P>> {
        loop {
            let index = *self.active.front()?;
            let next = self.flows.next_bytes(index);
            let deficit = self.flows.state(index);
            if !self.has_begun {
                (*deficit, self.has_begun) = (*deficit + self.quantum, true);
            }
            if next <= *deficit {
                *deficit -= next;
                let packet = self.flows.take(index, Fifo::pop);
                if self.flows.backlog_of(index).packets == 0 {
                    self.has_begun = false;
                    self.active.pop_front();
                }
                return packet;
            }
            self.has_begun = false;
            self.active.rotate_left(1);
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
        self.quantum = parameters.get("quantum") as u64;
        if let Some(waiting) = self.flows.resize(parameters.get("flows") as usize) {
            (self.active, self.has_begun) = (VecDeque::new(), false);
            waiting.into_iter().for_each(|packet| self.store(packet));
        }
    }
}
