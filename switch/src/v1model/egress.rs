//! Egress, checksum update, deparser, and the steps after them.

use super::instance;
use super::item::{Item, Transmit};
use super::model::{TimestampUnit, V1Model};
use crate::ir::architecture::{self, DROP_PORT};
use crate::ir::internal;
use narrows_queueing::{Dequeued, Ecn, EcnBytes, Queued, Transmission, mark_ce};

impl V1Model {
    /// Runs egress, checksum update and deparser; then sends, recirculates or drops the packet.
    pub(crate) fn egress(&mut self, dequeued: Dequeued<Item>) {
        self.machine.restore_bridged(&self.program, &dequeued.queued.packet.state.bridged);
        self.set_egress_metadata(&dequeued);
        let Dequeued { port, queue, at, .. } = dequeued;
        // The label is copied only where it is needed.
        let Queued { packet: mut item, ref label, is_marked, .. } = dequeued.queued;
        let before = EcnBytes::of(&item.packet);
        if !self.phases.depart(&self.program, &mut self.machine, &mut item.packet) {
            match self.end_egress(item) {
                Some(goes_on) => item = goes_on,
                None => return self.tm.drop_dequeued(at, port, queue, *label),
            }
        }
        let after = EcnBytes::of(&item.packet);
        if is_marked {
            mark_ce(&mut item.packet);
        } else if after != before && after.codepoint() == Ecn::Ce && before.codepoint() != Ecn::Ce {
            self.tm.count_mark(at, port, queue, *label);
        }
        let truncate = self.machine.get(architecture::TRUNCATE);
        if truncate != 0 {
            item.packet.truncate((architecture::TRUNCATE_NONE - truncate) as usize);
        }
        let recirculate = self.machine.get(architecture::RECIRCULATE);
        if recirculate != 0 {
            return self.reenter(item, recirculate, instance::RECIRCULATED);
        }
        let packet = self.spare.give_state(item);
        let Transmission { port, start, end } = self.tm.transmit(at, port, packet.len() as u64);
        self.transmits.push_back(Transmit { port, start, end, packet });
    }

    /// Sets the queueing metadata of a dequeued packet.
    #[inline]
    pub(super) fn set_egress_metadata(&mut self, dequeued: &Dequeued<Item>) {
        let &Dequeued { port, queue, at, ref queued, depth_after } = dequeued;
        let waited = at.saturating_since(queued.enqueued_at);
        let waited = match self.unit {
            TimestampUnit::Ns => waited.as_ns(),
            TimestampUnit::Us => waited.as_us(),
        };
        let (enqueued, now) = (self.unit.of(queued.enqueued_at), self.unit.of(at));
        self.machine.now = at;
        let (slots, standard) = (&mut *self.machine.slots, &self.program.standard);
        standard.enq_timestamp.put(slots, enqueued);
        standard.enq_qdepth.put(slots, u64::from(queued.depth_before));
        standard.deq_timedelta.put(slots, waited);
        standard.deq_qdepth.put(slots, u64::from(depth_after));
        standard.qid.put(slots, self.tm.priority_of(port, queue));
        standard.egress_timestamp.put(slots, now);
        standard.egress_port.put(slots, u64::from(self.tm.number_of(port)));
        // Any port other than the one that means "drop".
        standard.egress_spec.put(slots, DROP_PORT + 1);
        standard.packet_length.put(slots, slots[internal::LENGTH as usize]);
    }

    /// Handles the requests that egress left for the architecture, which machine code does not.
    /// Returns the packet with its bytes written, unless it goes no further.
    pub(super) fn end_egress(&mut self, mut item: Item) -> Option<Item> {
        let aborted = self.machine.get(internal::ABORTED) != 0;
        let clone = self.machine.get(architecture::CLONE);
        if clone != 0 && !aborted {
            self.clone_from_egress(&mut item, clone);
        }
        let dropped = self.machine.get(self.program.standard.egress_spec.slot) == DROP_PORT;
        if aborted || dropped {
            self.statistics.aborted += u64::from(aborted);
            self.statistics.dropped_egress += u64::from(!aborted);
            self.spare.discard(item);
            return None;
        }
        self.phases.finish(&self.program, &mut self.machine, &mut item.packet);
        Some(item)
    }
}
