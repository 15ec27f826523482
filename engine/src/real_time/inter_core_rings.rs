//! Rings between the cores of a switch. Each core runs a pipeline; after ingress, a packet whose
//! output port belongs to another pipeline goes there by a ring.
//!
//! ```text
//! port ─▶ pipeline 0: ingress ─┬─▶ queue of a port here ─▶ egress ─▶ wire ─▶ port
//!                              └── ring ──┐
//! port ─▶ pipeline 1: ingress ────────────┴▶ queue of a port there ─▶ egress ─▶ wire ─▶ port
//! ```
//!
//! The packets of one turn travel as one batch at its end. The rings are wait-free: no core waits
//! for another. If the ring is full, the batch is kept, and the pipeline's ports are not read until
//! the batch has gone. Incoming rings are emptied even when outgoing ones are full, so two full
//! rings always drain.

use rtrb::{Consumer, Producer, PushError, RingBuffer};

use crate::network::managed_switch::{ManagedSwitch, TaggedHandover};

/// The most turns whose packets may be on their way to a core.
const RING: usize = 64;

/// The packets that a turn sends to one pipeline.
type Batch = Vec<TaggedHandover>;

/// A pipeline's ends of the rings.
#[derive(Debug, Default)]
pub struct InterCoreRings {
    inboxes: Vec<Consumer<Batch>>,
    arrived: Batch,
    /// Indexed by pipeline.
    outboxes: Vec<Outbox>,
}

/// The ring to another pipeline.
#[derive(Debug)]
struct Outbox {
    ring: Producer<Batch>,
    /// Packets to send, including those that did not fit.
    waiting: Batch,
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
            let (ring, inbox) = RingBuffer::new(RING);
            inter_core_rings[from].outboxes.push(Outbox { ring, waiting: vec![] });
            inter_core_rings[to].inboxes.push(inbox);
        }
    }
    inter_core_rings.into_iter().map(Some).collect()
}

impl InterCoreRings {
    /// Takes packets from other pipelines, in time order. Returns the number of packets.
    pub(crate) fn take_in(&mut self, pipeline: &mut ManagedSwitch) -> usize {
        for inbox in &mut self.inboxes {
            let batches = core::iter::from_fn(|| inbox.pop().ok());
            self.arrived.extend(batches.take(RING).flatten());
        }
        self.arrived.iter().for_each(|handed| handed.handover.fetch());
        self.arrived.sort_by_key(|handed| handed.handover.at);
        let count = self.arrived.len();
        self.arrived.drain(..).for_each(|handed| pipeline.handle_handover(handed));
        count
    }

    /// Sends the packets for other pipelines.
    pub(crate) fn send(&mut self, pipeline: &mut ManagedSwitch) {
        for handed in pipeline.handovers.drain(..) {
            self.outboxes[usize::from(handed.handover.pipeline)].waiting.push(handed);
        }
        self.outboxes.iter_mut().for_each(Outbox::flush);
    }

    /// Whether a batch did not fit into its ring.
    pub(crate) fn is_full(&self) -> bool {
        self.outboxes.iter().any(|outbox| !outbox.waiting.is_empty())
    }
}

impl Outbox {
    fn flush(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        let batch = core::mem::take(&mut self.waiting);
        if let Err(PushError::Full(batch)) = self.ring.push(batch) {
            self.waiting = batch;
        }
    }
}
