//! Parser, checksum verification, ingress, and the steps after them.

use super::instance;
use super::item::Item;
use super::model::V1Model;
use super::work::{Reentry, Work};
use crate::ir::architecture::{self, DROP_PORT};
use crate::ir::{StandardMetadata, internal};
use narrows_common::Time;

impl V1Model {
    /// A packet enters by a port: runs parser, checksum verification and ingress; then queues,
    /// sends or drops the packet.
    pub(crate) fn ingress(&mut self, at: Time, port: u16, item: Item) {
        self.machine.reset(&self.program, at, item.packet.len() as u64);
        let (stamp, slots) = (self.unit.of(at), &mut self.machine.slots);
        let StandardMetadata { ingress_port, ingress_timestamp, .. } = &self.program.standard;
        ingress_port.put(slots, u64::from(port));
        ingress_timestamp.put(slots, stamp);
        self.ingress_as(at, item, instance::NORMAL);
    }

    /// A resubmitted or recirculated packet enters. As in bmv2, it keeps neither port nor
    /// timestamp, unless its list names them.
    pub(crate) fn ingress_again(&mut self, at: Time, reentry: Reentry) {
        let Reentry { item, kept, instance } = reentry;
        self.machine.reset(&self.program, at, item.packet.len() as u64);
        for (slot, value) in kept {
            self.machine.set(slot, value);
        }
        self.ingress_as(at, item, instance);
    }

    #[inline]
    pub(super) fn ingress_as(&mut self, at: Time, mut item: Item, instance: u64) {
        let (slots, standard) = (&mut self.machine.slots, &self.program.standard);
        standard.packet_length.put(slots, slots[internal::ARRIVED as usize]);
        standard.instance_type.put(slots, instance);
        self.phases.arrive(&self.program, &mut self.machine, &mut item.packet);
        let error = self.machine.get(internal::PARSER_ERROR);
        self.statistics.parser_errors += u64::from(error != 0);
        self.statistics.checksum_errors += self.machine.get(internal::CHECKSUM_ERROR);
        if self.machine.get(internal::ABORTED) != 0 {
            self.statistics.aborted += 1;
            return self.spare.discard(item);
        }
        self.after_ingress(at, item);
    }

    /// bmv2's order: clone, digest, resubmit, multicast, drop, unicast.
    #[inline]
    pub(super) fn after_ingress(&mut self, at: Time, mut item: Item) {
        item.state.flow = self.flow();
        let requested =
            self.machine.slots[architecture::ALL].iter().fold(0, |any, value| any | value);
        if requested != 0 {
            match self.carry_out_requests(at, item) {
                Some(goes_on) => item = goes_on,
                None => return,
            }
        }
        let standard = &self.program.standard;
        let group = standard.mcast_grp.known().map_or(0, |field| self.machine.get(field.slot));
        if group != 0 {
            standard.instance_type.put(&mut self.machine.slots, instance::REPLICATION);
            self.multicast(at, &mut item, group);
            return self.spare.discard(item);
        }
        let port = self.machine.get(standard.egress_spec.slot);
        if port == DROP_PORT {
            self.statistics.dropped_ingress += 1;
            return self.spare.discard(item);
        }
        standard.instance_type.put(&mut self.machine.slots, instance::NORMAL);
        // The usual case: the packet enters its queue without waiting for other work.
        let is_next = self.work.is_empty();
        let Some(item) = self.prepare_enqueue(at, port, item, is_next) else { return };
        match is_next {
            true => self.offer(at, item),
            false => self.work.push_back(Work::Offer(item)),
        }
    }

    /// Handles the requests that externs left for the end of ingress. Returns the packet, unless it
    /// was resubmitted.
    pub(super) fn carry_out_requests(&mut self, at: Time, mut item: Item) -> Option<Item> {
        let clone = self.machine.get(architecture::CLONE);
        let resubmit = self.machine.get(architecture::RESUBMIT);
        let digest = self.machine.get(architecture::DIGEST);
        let truncate = self.machine.get(architecture::TRUNCATE);
        if clone != 0 {
            self.clone_from_ingress(at, &mut item, clone);
        }
        if digest != 0 {
            self.digest(digest);
        }
        if resubmit != 0 {
            self.reenter(item, resubmit, instance::RESUBMITTED);
            return None;
        }
        self.machine.slots[architecture::ALL].fill(0);
        self.machine.set(architecture::TRUNCATE, truncate);
        Some(item)
    }

    /// Sends the packet to the parser again, with the values of a field list.
    pub(super) fn reenter(&mut self, mut item: Item, list: u64, instance: u64) {
        let Some(rounds) = item.state.rounds.once_more() else {
            self.statistics.endless += 1;
            return self.spare.discard(item);
        };
        item.state.rounds = rounds;
        let kept = self.kept(self.program.field_lists.get(&list));
        self.work.push_back(Work::Reentry(Reentry { item, kept, instance }));
    }
}
