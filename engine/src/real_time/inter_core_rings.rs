//! The rings between the cores of a switch: each core has a pipeline, and a packet whose output port
//! belongs to another pipeline goes there by a ring after ingress.
//!
//! ```text
//! port ─▶ pipeline 0: ingress ─┬─▶ queue of a port here ─▶ egress ─▶ wire ─▶ port
//!                              └── ring ──┐
//! port ─▶ pipeline 1: ingress ────────────┴▶ queue of a port there ─▶ egress ─▶ wire ─▶ port
//! ```
//!
//! The packets of a turn of the loop go as one batch at its end. The rings are wait-free: no core
//! waits for another. A batch that finds its ring full is kept, and the pipeline's ports are not
//! read until it has gone. Rings are emptied whatever else is full, so two full ones clear.

use rtrb::{Consumer, Producer, PushError, RingBuffer};

use crate::network::managed_switch::{ManagedSwitch, TaggedHandover};

/// Turns whose packets may be on their way to a core.
const RING: usize = 64;

/// What a turn sends to a pipeline.
type Batch = Vec<TaggedHandover>;

/// A pipeline's ends of the rings.
#[derive(Debug, Default)]
pub struct InterCoreRings {
    inboxes: Vec<Consumer<Batch>>,
    arrived: Batch,
    /// By the number of the pipeline.
    outboxes: Vec<Outbox>,
}

/// The way to a pipeline.
#[derive(Debug)]
struct Outbox {
    ring: Producer<Batch>,
    /// What is to go, and what it did not take.
    waiting: Batch,
}

/// The rings between so many pipelines: their ends at each, none where there is one alone.
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
    /// Takes in what has come from other pipelines, in the order of its instants. Returns how many
    /// packets that is.
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

    /// Sends what is for other pipelines on its way.
    pub(crate) fn send(&mut self, pipeline: &mut ManagedSwitch) {
        for handed in pipeline.handovers.drain(..) {
            self.outboxes[usize::from(handed.handover.pipeline)].waiting.push(handed);
        }
        self.outboxes.iter_mut().for_each(Outbox::flush);
    }

    /// Whether something did not fit into its ring.
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
