//! Several switches as the pipelines of one, as a switching chip has them: each runs the same program
//! and may take packets in by any port; a port's queues, line and egress are one pipeline's.
//!
//! ```text
//! handle_packet -> ingress -+-> [queue of a port here] -> egress
//!                           +-> poll_handover ... handle_handover -> [queue of a port there] -> egress
//! ```
//!
//! What a controller writes it writes to every pipeline, in the same order, so that entries have the
//! same places everywhere. Here is what it reads of all of them together.

use crate::switch::Switch;
use crate::v1model::Handover;

/// Slots in a line of a processor's cache.
const LINE: usize = 8;

impl Handover {
    /// Has its memory come from the core that wrote it: a load for each line, of which none waits for
    /// another, where the packet's way through the switch would wait for one after the other.
    pub fn fetch(&self) {
        let item = &self.offer.item;
        let bytes = [item.packet.data.first(), item.packet.payload().first()];
        let slots = item.bridged.slots.iter().step_by(LINE);
        core::hint::black_box((bytes, slots.fold(0, |sum, slot| sum ^ slot)));
    }
}

impl Switch {
    /// An entry is hit when any pipeline hits it: takes over the hits of another one, so that
    /// idle time-outs are told of both.
    pub fn learn_hits(&mut self, other: &Switch) {
        for (ours, theirs) in
            self.model.machine.state.tables.iter_mut().zip(&other.model.machine.state.tables)
        {
            ours.learn_hits(theirs);
        }
    }
}
