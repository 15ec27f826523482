//! Rings between the cores of a switch. Each core runs a pipeline; after ingress, a packet whose
//! output port belongs to another pipeline goes there by a ring.
//!
//! ```text
//! port ─▶ pipeline 0: ingress ─┬─▶ queue of a port here ─▶ egress ─▶ wire ─▶ port
//!                              └── ring ──┐
//! port ─▶ pipeline 1: ingress ────────────┴▶ queue of a port there ─▶ egress ─▶ wire ─▶ port
//! ```
//!
//! The packets of one turn travel at its end. The rings are wait-free: no core waits for another.
//! If the ring is full, the rest is kept, and the pipeline's ports are not read until it has gone.
//! Incoming rings are emptied even when outgoing ones are full, so two full rings always drain.
//! Where more packets come than go, their memory returns by a ring of its own.

use std::collections::VecDeque;

use narrows_switch::{Handover, Surplus};
use rtrb::{Consumer, Producer, PushError, RingBuffer};

use crate::network::managed_switch::ManagedSwitch;

/// The most packets on their way from one core to another.
const RING: usize = 2048;
/// The most packets that a turn takes from another core.
const TAKEN: usize = 256;
/// How many packets ahead a packet's memory is asked for.
const AHEAD: usize = 6;
/// How many packets ahead the memory that this points to is asked for.
const PARTS_AHEAD: usize = 3;

/// A pipeline's ends of the rings.
#[derive(Debug, Default)]
pub struct InterCoreRings {
    inboxes: Vec<Inbox>,
    arrived: VecDeque<Handover>,
    /// Indexed by pipeline.
    outboxes: Vec<Outbox>,
}

/// The ring from another pipeline.
#[derive(Debug)]
struct Inbox {
    ring: Consumer<Handover>,
    surplus: Producer<Surplus>,
    /// Packets that this turn took.
    taken: usize,
}

/// The ring to another pipeline.
#[derive(Debug)]
struct Outbox {
    ring: Producer<Handover>,
    /// Packets that did not fit.
    waiting: VecDeque<Handover>,
    surplus: Consumer<Surplus>,
}

/// The rings between this many pipelines: one set of ends for each; `None` if there is only one.
pub fn inter_core_rings(pipelines: usize) -> Vec<Option<InterCoreRings>> {
    if pipelines == 1 {
        return vec![None];
    }
    let mut inter_core_rings: Vec<InterCoreRings> =
        (0..pipelines).map(|_| InterCoreRings::default()).collect();
    for from in 0..pipelines {
        for to in 0..pipelines {
            let (outgoing, incoming) = RingBuffer::new(RING);
            let (returned, surplus) = RingBuffer::new(RING);
            let waiting = VecDeque::new();
            inter_core_rings[from].outboxes.push(Outbox { ring: outgoing, waiting, surplus });
            let inbox = Inbox { ring: incoming, surplus: returned, taken: 0 };
            inter_core_rings[to].inboxes.push(inbox);
        }
    }
    inter_core_rings.into_iter().map(Some).collect()
}

impl InterCoreRings {
    /// Takes packets from other pipelines, in time order. Returns the number of packets.
    pub(crate) fn take_in(&mut self, pipeline: &mut ManagedSwitch) -> usize {
        for inbox in &mut self.inboxes {
            inbox.taken = inbox.ring.slots().min(TAKEN);
            if let Ok(chunk) = inbox.ring.read_chunk(inbox.taken) {
                self.arrived.extend(chunk);
            }
        }
        // The packets of one pipeline are in order.
        if !self.arrived.iter().is_sorted_by_key(|handover| handover.at) {
            self.arrived.make_contiguous().sort_by_key(|handover| handover.at);
        }
        let count = self.arrived.len();
        self.arrived.iter().take(AHEAD).for_each(Handover::prefetch);
        self.arrived.iter().take(PARTS_AHEAD).for_each(Handover::prefetch_parts);
        while let Some(handover) = self.arrived.pop_front() {
            self.arrived.get(AHEAD - 1).into_iter().for_each(Handover::prefetch);
            self.arrived.get(PARTS_AHEAD - 1).into_iter().for_each(Handover::prefetch_parts);
            pipeline.receive_handover(handover);
        }
        self.inboxes.iter_mut().for_each(|inbox| inbox.return_surplus(pipeline));
        count
    }

    /// Sends the packets for other pipelines.
    pub(crate) fn send(&mut self, pipeline: &mut ManagedSwitch) {
        for outbox in &mut self.outboxes {
            outbox.flush();
            while let Ok(surplus) = outbox.surplus.pop() {
                pipeline.take_surplus(surplus);
            }
        }
        while let Some(handover) = pipeline.poll_handover() {
            self.outboxes[usize::from(handover.pipeline)].send(handover);
        }
    }

    /// Whether packets did not fit into their ring.
    pub(crate) fn is_full(&self) -> bool {
        self.outboxes.iter().any(|outbox| !outbox.waiting.is_empty())
    }
}

impl Inbox {
    /// Returns memory for as many packets as this turn took, if the pipeline can spare it.
    fn return_surplus(&mut self, pipeline: &mut ManagedSwitch) {
        let count = self.taken.min(self.surplus.slots());
        for surplus in core::iter::from_fn(|| pipeline.poll_surplus()).take(count) {
            self.surplus.push(surplus).expect("there is room");
        }
    }
}

impl Outbox {
    /// Sends a packet, or keeps it.
    #[inline]
    fn send(&mut self, handover: Handover) {
        if !self.waiting.is_empty() {
            self.waiting.push_back(handover);
        } else if let Err(PushError::Full(handover)) = self.ring.push(handover) {
            self.waiting.push_back(handover);
        }
    }

    /// Sends what fits of the packets that wait.
    fn flush(&mut self) {
        while !self.waiting.is_empty() && !self.ring.is_full() {
            let oldest = self.waiting.pop_front().expect("one waits");
            self.ring.push(oldest).expect("there is room");
        }
    }
}
