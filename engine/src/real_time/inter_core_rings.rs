//! Where packets cross from core to core: each core has a pipe of the switch, and what its ingress
//! sends to a port of another goes there by a ring from the one to the other.
//!
//! ```text
//! port ─▶ Path ─▶ pipe 0: ingress ─┬─▶ [queue of a port here] ─▶ egress ─▶ wire ─▶ port
//!                                  └── ring ──┐
//! port ─▶ Path ─▶ pipe 1: ingress ────────────┴▶ [queue of a port there] ─▶ egress ─▶ wire ─▶ port
//! ```
//!
//! What a turn of the loop sends to a pipe goes at once. Nobody waits for another core, not even for
//! one that is amid a batch, as the receiver of a channel would: the rings are wait-free. What a full
//! ring does not take is kept, and the pipe's ports are not read until it has gone. Rings are emptied
//! whatever else is full, so two full ones clear.

use rtrb::{Consumer, Producer, PushError, RingBuffer};

use crate::network::managed_switch::{Controlled, Handed};

/// Turns whose packets may be on their way to a core.
const RING: usize = 64;

/// What a turn sends to a pipe.
type Batch = Vec<Handed>;

/// A pipe's ends of the rings.
#[derive(Debug, Default)]
pub struct Crossing {
    inboxes: Vec<Consumer<Batch>>,
    arrived: Batch,
    /// By the number of the pipe.
    outboxes: Vec<Outbox>,
}

/// The way to a pipe.
#[derive(Debug)]
struct Outbox {
    ring: Producer<Batch>,
    /// What is to go, and what it did not take.
    waiting: Batch,
}

/// The rings between so many pipes: their ends at each, none where there is one alone.
pub fn crossings(pipes: usize) -> Vec<Option<Crossing>> {
    if pipes == 1 {
        return vec![None];
    }
    let mut crossings: Vec<Crossing> = (0..pipes).map(|_| Crossing::default()).collect();
    for from in 0..pipes {
        for to in 0..pipes {
            let (ring, inbox) = RingBuffer::new(RING);
            crossings[from].outboxes.push(Outbox { ring, waiting: vec![] });
            crossings[to].inboxes.push(inbox);
        }
    }
    crossings.into_iter().map(Some).collect()
}

impl Crossing {
    /// Takes in what has come from other pipes, in the order of its instants. Returns how many
    /// packets that is.
    pub(crate) fn take_in(&mut self, pipe: &mut Controlled) -> usize {
        for inbox in &mut self.inboxes {
            let batches = core::iter::from_fn(|| inbox.pop().ok());
            self.arrived.extend(batches.take(RING).flatten());
        }
        self.arrived.iter().for_each(|handed| handed.handover.fetch());
        self.arrived.sort_by_key(|handed| handed.handover.at);
        let count = self.arrived.len();
        self.arrived.drain(..).for_each(|handed| pipe.handle_handover(handed));
        count
    }

    /// Sends what is for other pipes on its way.
    pub(crate) fn send(&mut self, pipe: &mut Controlled) {
        for handed in pipe.handed_over.drain(..) {
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
