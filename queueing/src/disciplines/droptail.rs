//! DropTail: first in, first out; drops a packet that arrives at a full queue.

use crate::discipline::{QueueDiscipline, Room, Setup};
use crate::outcomes::Outcomes;
use crate::queued::{Backlog, Fifo, Queued, QueuedPacket};
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

impl<P: QueuedPacket> QueueDiscipline<P> for DropTail<P> {
    #[inline]
    fn enqueue(&mut self, packet: Queued<P>, _now: Time, room: &Room, out: &mut Outcomes<P>) {
        room.store(packet, &mut self.fifo, out);
    }

    #[inline]
    fn dequeue(&mut self, _now: Time, _out: &mut Outcomes<P>) -> Option<Queued<P>> {
        self.fifo.pop()
    }

    #[inline]
    fn is_transparent(&self) -> bool {
        true
    }

    one_fifo!();
}
