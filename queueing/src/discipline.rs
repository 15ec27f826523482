//! The interface of a queue discipline.

use crate::limit::QueueLimit;
use crate::outcomes::{DropReason, MarkReason, Outcomes};
use crate::queued::{Backlog, Fifo, Queued};
use crate::randomness::Randomness;
use crate::record::Parameters;
use narrows_common::{Bytes, Rate, Time};

/// The free room of a port for a packet.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// The queue's limit.
    pub limit: QueueLimit,
    /// The port's rate; `None` if it has no shaper.
    pub rate: Option<Rate>,
    /// When the transmission before this packet ended, or will end.
    pub free_at: Time,
    /// The packet can leave at once, so that no limit holds.
    pub is_idle: bool,
}

impl Room {
    /// Room for any packet.
    pub const UNLIMITED: Room = Room {
        limit: QueueLimit::Packets(u64::MAX),
        rate: None,
        free_at: Time::ZERO,
        is_idle: true,
    };

    /// True if a packet of `length` fits after `backlog`.
    #[inline]
    pub fn admits(&self, backlog: Backlog, length: Bytes) -> bool {
        self.is_idle || self.rate.is_none_or(|rate| self.limit.admits(backlog, length, rate))
    }

    /// Stores a packet in a queue with room for it, and drops it at a full one.
    // Every packet takes this path.
    #[inline(always)]
    pub fn store<P>(&self, packet: Queued<P>, fifo: &mut Fifo<P>, out: &mut Outcomes<P>) {
        match self.admits(fifo.backlog(), packet.label.length) {
            true => fifo.push(packet),
            false => out.refuse(packet, DropReason::QUEUE_FULL),
        }
    }
}

/// The initial state of a discipline.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Its parameters.
    pub parameters: Parameters,
    /// Where it takes random numbers from.
    pub randomness: Randomness,
    /// Index of the first of its own reasons to drop.
    pub(crate) first_drop: usize,
    /// Index of the first of its own reasons to mark.
    pub(crate) first_mark: usize,
}

impl Setup {
    /// The `n`-th reason of the discipline's record.
    pub fn drop_reason(&self, n: usize) -> DropReason {
        DropReason::at(self.first_drop + n)
    }

    /// The `n`-th reason of the record's marks.
    pub fn mark_reason(&self, n: usize) -> MarkReason {
        MarkReason::at(self.first_mark + n)
    }
}

/// A queue: its packets, and the rule by which it stores, drops and sends them.
///
/// A discipline in the list also has `new(&Setup)`, which returns an empty queue. The caller knows
/// when the port can send, and asks for a packet then. Time never goes back.
pub trait QueueDiscipline<P> {
    /// A packet arrives. The queue stores or refuses it, and may discard others.
    fn enqueue(&mut self, packet: Queued<P>, now: Time, room: &Room, out: &mut Outcomes<P>);

    /// The packet to send now; the queue may discard others. `None` if no packet is left.
    fn dequeue(&mut self, now: Time, out: &mut Outcomes<P>) -> Option<Queued<P>>;

    /// True if an empty queue at an idle port stores any packet, gives it back at once, and is then
    /// as it was. Such a packet may bypass the queue.
    fn is_transparent(&self) -> bool {
        false
    }

    /// When [`QueueDiscipline::on_timer`] must be called next; `None` for never.
    fn next_timer(&self) -> Option<Time> {
        None
    }

    /// The time of [`QueueDiscipline::next_timer`] has come; spurious calls are no-ops.
    fn on_timer(&mut self, _now: Time) {}

    /// The packets and bytes in the queue.
    fn backlog(&self) -> Backlog;

    /// Passes every queued packet to `each`.
    fn visit(&self, each: &mut dyn FnMut(&Queued<P>));

    /// Removes the next packet for a queue that replaces this one. No drop and no statistics.
    fn hand_over(&mut self) -> Option<Queued<P>>;

    /// Replaces the values of its parameters; its state stays.
    fn set_parameters(&mut self, _parameters: &Parameters) {}
}
