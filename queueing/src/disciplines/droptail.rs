//! DropTail: first in, first out; drops a packet that arrives at a full queue.

use crate::discipline::{QueueDiscipline, Room, Setup};
use crate::outcomes::{DropReason, Outcomes};
use crate::queued::{Backlog, Fifo, Queued};
use crate::record::Record;
use narrows_common::Time;

/// The discipline's entry in the list.
pub const RECORD: Record = Record {
    name: "drop-tail",
    title: "first in, first out; drops packets that arrive at a full queue",
    reference: "RFC 7567 section 2.1 (tail drop)",
    parameters: &[],
    drops: &[],
    marks: &[],
    is_fifo: true,
    not_implemented: &[],
};

/// A DropTail queue.
#[derive(Debug)]
pub struct DropTail<P> {
    fifo: Fifo<P>,
}

impl<P> DropTail<P> {
    /// An empty queue.
    pub(super) fn new(_setup: &Setup) -> Self {
        DropTail { fifo: Fifo::default() }
    }
}

impl<P> QueueDiscipline<P> for DropTail<P> {
    #[inline]
    fn enqueue(&mut self, packet: Queued<P>, _now: Time, room: &Room, out: &mut Outcomes<P>) {
        match room.admits(self.fifo.backlog(), packet.label.length) {
            true => self.fifo.push(packet),
            false => out.refuse(packet, DropReason::QUEUE_FULL),
        }
    }

    #[inline]
    fn dequeue(&mut self, _now: Time, _out: &mut Outcomes<P>) -> Option<Queued<P>> {
        self.fifo.pop()
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
}
