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

use crate::control::ControlError;
use crate::ir::integer::to_hex;
use crate::switch::{Offer, Switch};
use narrows_common::Time;

/// A packet on its way to another pipeline's queue.
#[derive(Debug)]
pub struct Handover {
    /// To which pipeline.
    pub pipeline: u16,
    /// When it was to come to its queue.
    pub at: Time,
    pub(crate) offer: Offer,
}

/// Slots in a line of a processor's cache.
const LINE: usize = 8;

impl Handover {
    /// Has its memory come from the core that wrote it: a load for each line, of which none waits for
    /// another, where the packet's way through the switch would wait for one after the other.
    pub fn fetch(&self) {
        let item = &self.offer.item;
        let bytes = [item.packet.data.first(), item.packet.payload().first()];
        let slots = item.slots.iter().step_by(LINE);
        core::hint::black_box((bytes, slots.fold(0, |sum, slot| sum ^ slot)));
    }
}

impl Switch {
    /// The next packet for another pipeline.
    pub fn poll_handover(&mut self) -> Option<Handover> {
        self.handovers.pop_front()
    }

    /// A packet comes from another pipeline, of the same program and ports. It is queued, sent or
    /// dropped as if ingress had been here.
    pub fn handle_handover(&mut self, now: Time, handover: Handover) {
        self.handle_timeout(now);
        self.offer(now, handover.offer);
        self.settle(now);
    }

    /// An entry is hit when any pipeline hits it: takes over the hits of another one, so that
    /// idle time-outs are told of both.
    pub fn learn_hits(&mut self, other: &Switch) {
        for (ours, theirs) in self.machine.tables.iter_mut().zip(&other.machine.tables) {
            ours.learn_hits(theirs);
        }
    }

    /// `count` register cells from `first` on as all pipelines together have them, in hexadecimal: what
    /// was written last, and what each has added since. Of a cell that one pipeline alone changes
    /// that is its value, of a count or a sum the total.
    ///
    /// # Errors
    /// When there is no such register, or it ends before.
    pub fn read_registers_of(
        pipelines: &[&Switch],
        name: &str,
        first: u64,
        count: u64,
    ) -> Result<Vec<String>, ControlError> {
        let [whole, others @ ..] = pipelines else { return Ok(vec![]) };
        let register = whole.register_cells(name, first, count)?;
        let value = |index: u64| {
            let mut sum = whole.machine.registers.cell(register, index)?.to_vec();
            for other in others {
                other.machine.registers.add_changes(register, index, &mut sum);
            }
            Some(to_hex(&sum))
        };
        Ok((first..first + count).filter_map(value).collect())
    }
}
