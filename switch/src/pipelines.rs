//! Several switches as the pipelines of one, as in a switching chip. Each runs the same program and
//! may receive packets at any port. One pipeline has a port's queues, serializer and egress.
//!
//! ```text
//! handle_packet -> ingress -+-> [queue of a port here] -> egress
//!                           +-> poll_handover
//! handle_handover ------------> [queue of a port here] -> egress
//! ```
//!
//! A controller writes everything to every pipeline, in the same order. So entries have the same
//! numbers in all of them.

use crate::switch::Switch;
use crate::v1model::{Handover, Item};
use narrows_common::prefetch::Address;
use narrows_queueing::QueuedPacket;

/// The first bytes of a packet, which the next one overwrites soon.
const HEAD_BYTES: usize = 128;

impl Handover {
    /// Asks for its memory.
    pub fn prefetch(&self) {
        self.item.prefetch();
    }

    /// Asks for the memory that this points to.
    pub fn prefetch_parts(&self) {
        self.item.prefetch_parts();
        if let Some(payload) = &self.item.packet.payload {
            payload.prefetch();
        }
    }
}

/// The memory of a packet that has left, for the pipeline from which packets come. Where they go
/// it would be freed, on another core than it is allocated: both would wait for the allocator.
#[derive(Debug)]
pub struct Surplus(Item);

impl Switch {
    /// Memory for another pipeline, if this one has more than it needs.
    pub fn poll_surplus(&mut self) -> Option<Surplus> {
        self.model.spare.poll_surplus().map(Surplus)
    }

    /// Takes memory from another pipeline.
    pub fn take_surplus(&mut self, Surplus(item): Surplus) {
        Address::of(&item.packet.data).prefetch(HEAD_BYTES);
        self.model.spare.discard(item);
    }

    /// Takes over the hits of another pipeline. An entry counts as hit if any pipeline hit it, so
    /// idle time-outs cover all pipelines.
    pub fn learn_hits(&mut self, other: &Switch) {
        for (ours, theirs) in
            self.model.machine.state.tables.iter_mut().zip(&other.model.machine.state.tables)
        {
            ours.learn_hits(theirs);
        }
    }
}
