//! Several switches as the pipelines of one, as a switching chip has them. Each runs the same
//! program and may take packets in by any port. One pipeline has a port's queues, serializer and
//! egress.
//!
//! ```text
//! handle_packet -> ingress -+-> [queue of a port here] -> egress
//!                           +-> poll_handover
//! handle_handover ------------> [queue of a port here] -> egress
//! ```
//!
//! A controller writes everything to every pipeline, in the same order. Entries then have the same
//! numbers in all.

use crate::switch::Switch;
use crate::v1model::Handover;

/// Slots in a line of a processor's cache.
const LINE: usize = 8;

impl Handover {
    /// Loads its memory into this core's cache. The loads do not wait for each other; on the
    /// packet's way through the switch they would.
    pub fn fetch(&self) {
        let item = &self.offer.item;
        let bytes = [item.packet.data.first(), item.packet.payload().first()];
        let slots = item.bridged.slots.iter().step_by(LINE);
        core::hint::black_box((bytes, slots.fold(0, |sum, slot| sum ^ slot)));
    }
}

impl Switch {
    /// An entry is hit when any pipeline hits it: takes over the hits of another one, so that
    /// idle time-outs regard both.
    pub fn learn_hits(&mut self, other: &Switch) {
        for (ours, theirs) in
            self.model.machine.state.tables.iter_mut().zip(&other.model.machine.state.tables)
        {
            ours.learn_hits(theirs);
        }
    }
}
