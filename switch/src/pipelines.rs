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
use crate::v1model::Handover;

/// Slots per cache line of a processor.
const LINE: usize = 8;

impl Handover {
    /// Prefetches its memory into this core's cache. These loads overlap; the loads of a packet's
    /// way through the switch would wait for each other.
    pub fn fetch(&self) {
        let item = &self.offer.item;
        let bytes = [item.packet.data.first(), item.packet.payload().first()];
        let slots = item.state.bridged.slots.iter().step_by(LINE);
        core::hint::black_box((bytes, slots.fold(0, |sum, slot| sum ^ slot)));
    }
}

impl Switch {
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
