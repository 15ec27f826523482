//! The architecture: v1model as bmv2's `simple_switch` has it. Its metadata, what its externs
//! leave behind, and the order of its blocks (behavioral-model, docs/simple_switch.md).

pub(crate) mod phases;

use crate::ir::architecture::{self, DROP_PORT};
use crate::ir::metadata::{MetadataField, StandardMetadata};

use crate::ir::op::{Slot, internal};
use crate::ir::program::FieldList;
use crate::switch::{Digest, Offer, Replica, Switch, TimestampUnit, Work};
use crate::tm::{Bridged, Dequeued, Item, Label};
use crate::v1model::phases::{arrive, depart, finish, parse};
use narrows_common::Time;

/// `standard_metadata.instance_type`.
mod instance {
    pub(super) const NORMAL: u64 = 0;
    pub(super) const INGRESS_CLONE: u64 = 1;
    pub(super) const EGRESS_CLONE: u64 = 2;
    pub(super) const RECIRCULATED: u64 = 4;
    pub(super) const REPLICATION: u64 = 5;
    pub(super) const RESUBMITTED: u64 = 6;
}

/// Digests that wait for [`Switch::poll_digest`], at most; later ones are lost.
const DIGESTS_MAX: usize = 1 << 16;

/// How often a packet may come round at one instant.
const ROUNDS_MAX: u32 = 256;

/// A packet that comes round once more, before the parser.
#[derive(Debug)]
pub(crate) struct Again {
    item: Box<Item>,
    /// Values that it keeps.
    kept: Vec<(Slot, u64)>,
    instance: u64,
}

impl Switch {
    /// A packet comes in by a port: parser, checksum verification, ingress, and what becomes of it
    /// then.
    pub(crate) fn ingress(&mut self, at: Time, port: u16, item: Box<Item>) {
        self.machine.reset(&self.program, at, item.packet.len() as u64);
        let (stamp, slots) = (self.stamp(at), &mut self.machine.slots);
        let StandardMetadata { ingress_port, ingress_timestamp, .. } = &self.program.standard;
        ingress_port.put(slots, u64::from(port));
        ingress_timestamp.put(slots, stamp);
        self.ingress_as(at, item, instance::NORMAL);
    }

    /// The same of a packet that comes round. As in bmv2, it keeps neither port nor timestamp, unless
    /// its list says so.
    pub(crate) fn ingress_again(&mut self, at: Time, again: Again) {
        let Again { item, kept, instance } = again;
        self.machine.reset(&self.program, at, item.packet.len() as u64);
        for (slot, value) in kept {
            self.machine.set(slot, value);
        }
        self.ingress_as(at, item, instance);
    }

    #[inline]
    fn ingress_as(&mut self, at: Time, mut item: Box<Item>, instance: u64) {
        let (slots, standard) = (&mut self.machine.slots, &self.program.standard);
        standard.packet_length.put(slots, slots[internal::ARRIVED as usize]);
        standard.instance_type.put(slots, instance);
        arrive(&self.program, &mut self.machine, &mut item.packet);
        let error = self.machine.get(internal::PARSER_ERROR);
        self.statistics.parser_errors += u64::from(error != 0);
        self.statistics.checksum_errors += self.machine.get(internal::CHECKSUM_ERROR);
        if self.machine.get(internal::ABORTED) != 0 {
            self.statistics.aborted += 1;
            return self.discard(item);
        }
        self.after_ingress(at, item);
    }

    /// bmv2's order: clone, digest, resubmit, multicast, drop, unicast.
    #[inline]
    fn after_ingress(&mut self, at: Time, mut item: Box<Item>) {
        item.label = Label { flow: self.flow(), ..Label::default() };
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
            self.multicast(at, &item, group);
            return self.discard(item);
        }
        let port = self.machine.get(standard.egress_spec.slot);
        if port == DROP_PORT {
            self.statistics.dropped_ingress += 1;
            return self.discard(item);
        }
        standard.instance_type.put(&mut self.machine.slots, instance::NORMAL);
        // The ordinary case: it goes to its queue without waiting for its turn.
        let is_next = self.work.is_empty();
        let Some(offer) = self.offer_of(at, port, item, is_next) else { return };
        match is_next {
            true => self.offer(at, offer),
            false => self.work.push_back(Work::Offer(offer)),
        }
    }

    /// What externs left for the end of ingress. The packet, unless it comes round.
    fn carry_out_requests(&mut self, at: Time, item: Box<Item>) -> Option<Box<Item>> {
        let clone = self.machine.get(architecture::CLONE);
        let resubmit = self.machine.get(architecture::RESUBMIT);
        let digest = self.machine.get(architecture::DIGEST);
        let truncate = self.machine.get(architecture::TRUNCATE);
        if clone != 0 {
            self.clone_from_ingress(at, &item, clone);
        }
        if digest != 0 {
            self.digest(digest);
        }
        if resubmit != 0 {
            self.come_round(item, resubmit, instance::RESUBMITTED);
            return None;
        }
        self.machine.slots[architecture::ALL].fill(0);
        self.machine.set(architecture::TRUNCATE, truncate);
        Some(item)
    }

    /// The packet comes to the parser once more, with the values of a list of fields.
    fn come_round(&mut self, mut item: Box<Item>, list: u64, instance: u64) {
        if item.rounds >= ROUNDS_MAX {
            self.statistics.endless += 1;
            return self.discard(item);
        }
        item.rounds += 1;
        let kept = self.kept(self.program.field_lists.get(&list));
        self.work.push_back(Work::Again(Again { item, kept, instance }));
    }

    /// Packets as they arrived, parsed afresh, with the listed fields of the end of ingress.
    fn clone_from_ingress(&mut self, at: Time, item: &Item, clone: u64) {
        let session = (clone & !architecture::CLONE_FLAG) as u32;
        let Some(session) = self.sessions.get(&session).cloned() else { return };
        let kept =
            self.kept(self.program.field_lists.get(&self.machine.get(architecture::CLONE_LIST)));
        let end = self.program.packet_end as usize;
        let saved = self.machine.slots[..end].to_vec();
        let port = self.machine.get(self.program.standard.ingress_port.slot);
        let mut copy = self.copy(&item.packet, item.packet.len());
        self.machine.reset(&self.program, at, saved[internal::ARRIVED as usize]);
        self.program.standard.ingress_port.put(&mut self.machine.slots, port);
        parse(&self.program, &mut self.machine, &mut copy.packet);
        self.machine.slots[self.program.metadata_start as usize..end].fill(0);
        for (slot, value) in kept {
            self.machine.set(slot, value);
        }
        self.program.standard.instance_type.put(&mut self.machine.slots, instance::INGRESS_CLONE);
        self.machine.slots[architecture::ALL].fill(0);
        let len = self.cut(&copy, session.truncate_bytes);
        copy.label = item.label;
        self.replicate(at, &copy, &session.replicas, len);
        self.discard(copy);
        self.machine.slots[..end].copy_from_slice(&saved);
    }

    /// How much of a packet whose headers are parsed a copy has whose frame is to have `limit`
    /// bytes at most.
    fn cut(&mut self, item: &Item, limit: Option<u32>) -> usize {
        let packet = &item.packet;
        let Some(limit) = limit else { return packet.len() };
        let length = self.machine.get(internal::LENGTH);
        let excess = length.saturating_sub(u64::from(limit));
        let payload = packet.len() as u64 - self.machine.get(internal::PAYLOAD);
        let excess = excess.min(payload);
        self.machine.set(internal::LENGTH, length - excess);
        packet.len() - excess as usize
    }

    fn multicast(&mut self, at: Time, item: &Item, group: u64) {
        let Some(replicas) = self.groups.get(&(group as u32)).cloned() else {
            self.statistics.no_such_group += 1;
            return;
        };
        self.replicate(at, item, &replicas, item.packet.len());
    }

    /// Puts copies of a packet's first `len` bytes, with the program's state, before ports' queues.
    fn replicate(&mut self, at: Time, item: &Item, replicas: &[Replica], len: usize) {
        for replica in replicas {
            let rid = u64::from(replica.rid);
            self.program.standard.egress_rid.put(&mut self.machine.slots, rid);
            let mut copy = self.copy(&item.packet, len);
            copy.label = item.label;
            let offer = self.offer_of(at, u64::from(replica.port), copy, false);
            self.work.extend(offer.map(Work::Offer));
        }
    }

    /// The packet and the program's state, for a port; nothing when there is no such port. What is
    /// offered `next` may leave its state where it is.
    #[inline]
    fn offer_of(&mut self, at: Time, port: u64, mut item: Box<Item>, next: bool) -> Option<Offer> {
        let Some(port) = self.tm.find(port) else {
            self.statistics.no_such_port += 1;
            self.discard(item);
            return None;
        };
        let priority = self.program.standard.priority.known();
        let priority = priority.map_or(0, |field| self.machine.get(field.slot));
        let frame_bytes = self.machine.get(internal::LENGTH);
        match next && self.tm.is_idle(at, port) {
            true => item.bridged = Bridged::InMachine,
            false => self.machine.save_bridged(&self.program, &mut item),
        }
        Some(Offer { port, priority, frame_bytes, item })
    }

    /// Egress, checksum update, deparser, and what becomes of the packet then.
    pub(crate) fn egress(&mut self, dequeued: Dequeued) {
        self.machine.restore_bridged(&self.program, &dequeued.item);
        self.tell_egress(&dequeued);
        let Dequeued { port, queue, at, mut item, .. } = dequeued;
        if !depart(&self.program, &mut self.machine, &mut item.packet) {
            match self.end_egress(port, queue, at, item) {
                Some(goes_on) => item = goes_on,
                None => return,
            }
        }
        let truncate = self.machine.get(architecture::TRUNCATE);
        if truncate != 0 {
            item.packet.truncate((architecture::TRUNCATE_NONE - truncate) as usize);
        }
        let recirculate = self.machine.get(architecture::RECIRCULATE);
        if recirculate != 0 {
            return self.come_round(item, recirculate, instance::RECIRCULATED);
        }
        let packet = core::mem::take(&mut item.packet);
        self.give_item(item);
        self.transmits.push_back(self.tm.transmit(at, port, packet));
    }

    /// The metadata that a packet has since its queue.
    #[inline]
    fn tell_egress(&mut self, dequeued: &Dequeued) {
        let &Dequeued { port, queue, at, ref item, depth_after } = dequeued;
        let waited = at.saturating_since(item.enqueued_at);
        let waited = match self.unit {
            TimestampUnit::Ns => waited.as_ns(),
            TimestampUnit::Us => waited.as_us(),
        };
        let (enqueued, now) = (self.stamp(item.enqueued_at), self.stamp(at));
        let port = &self.tm.ports[port];
        self.machine.now = at;
        let (slots, standard) = (&mut *self.machine.slots, &self.program.standard);
        standard.enq_timestamp.put(slots, enqueued);
        standard.enq_qdepth.put(slots, u64::from(item.depth_before));
        standard.deq_timedelta.put(slots, waited);
        standard.deq_qdepth.put(slots, u64::from(depth_after));
        standard.qid.put(slots, port.priority_of(queue));
        standard.egress_timestamp.put(slots, now);
        standard.egress_port.put(slots, u64::from(port.number));
        // Anything but the port that means "drop".
        standard.egress_spec.put(slots, DROP_PORT + 1);
        standard.packet_length.put(slots, slots[internal::LENGTH as usize]);
    }

    /// What machine code leaves to the architecture where egress did more than the ordinary. The
    /// packet with its bytes written, unless it goes no further.
    fn end_egress(
        &mut self,
        port: usize,
        queue: usize,
        at: Time,
        mut item: Box<Item>,
    ) -> Option<Box<Item>> {
        let aborted = self.machine.get(internal::ABORTED) != 0;
        let clone = self.machine.get(architecture::CLONE);
        if clone != 0 && !aborted {
            self.clone_from_egress(&item, clone);
        }
        let dropped = self.machine.get(self.program.standard.egress_spec.slot) == DROP_PORT;
        if aborted || dropped {
            self.statistics.aborted += u64::from(aborted);
            self.statistics.dropped_egress += u64::from(!aborted);
            self.tm.drop_at_egress(port, queue, at, item.label);
            self.discard(item);
            return None;
        }
        finish(&self.program, &mut self.machine, &mut item.packet);
        Some(item)
    }

    /// The packet as egress left it, with nothing of its metadata but the listed fields.
    fn clone_from_egress(&mut self, item: &Item, clone: u64) {
        let session = (clone & !architecture::CLONE_FLAG) as u32;
        let Some(session) = self.sessions.get(&session).cloned() else { return };
        let list = self.machine.get(architecture::CLONE_LIST);
        let length = self.machine.get(internal::LENGTH);
        for replica in &session.replicas {
            let Some(port) = self.tm.find(u64::from(replica.port)) else {
                self.statistics.no_such_port += 1;
                continue;
            };
            let len = self.cut(item, session.truncate_bytes);
            let mut copy = self.copy(&item.packet, len);
            let program = &self.program;
            // No egress header is valid while the headers lie as they came.
            let (bridged, end) = match self.machine.get(internal::MOVED) {
                0 => (Bridged::Slots, program.bridged_end),
                _ => (Bridged::WithEgressHeaders, program.egress_headers_end),
            };
            copy.bridged = bridged;
            copy.slots.clear();
            copy.slots.extend_from_slice(&self.machine.slots[..end.into()]);
            let slots = copy.slots.as_mut_slice();
            slots[architecture::ALL].fill(0);
            let metadata_end = end.min(program.metadata_end);
            slots[program.metadata_start.into()..metadata_end.into()].fill(0);
            for &slot in program.field_lists.get(&list).map_or(&[][..], |list| &list.slots) {
                if let Some(slots) = slots.get_mut(slot as usize) {
                    *slots = self.machine.get(slot);
                }
            }
            let standard = &self.program.standard;
            let mut put = |field: MetadataField, value: u64| {
                if let Some(slot) = slots.get_mut(field.slot as usize) {
                    *slot = value & field.mask;
                }
            };
            put(standard.instance_type, instance::EGRESS_CLONE);
            put(standard.egress_rid, u64::from(replica.rid));
            copy.label = Label { flow: item.label.flow, ..Label::default() };
            let frame_bytes = self.machine.get(internal::LENGTH);
            self.machine.set(internal::LENGTH, length);
            let offer = Offer { port, priority: 0, frame_bytes, item: copy };
            self.work.push_back(Work::Offer(offer));
        }
    }

    /// Values of a field list, limb by limb.
    fn kept(&self, list: Option<&FieldList>) -> Vec<(Slot, u64)> {
        let slots = list.map_or(&[][..], |list| &list.slots);
        slots.iter().map(|&slot| (slot, self.machine.get(slot))).collect()
    }

    fn digest(&mut self, list: u64) {
        let Some(list) = self.program.digests.get(&list) else { return };
        if self.digests.len() >= DIGESTS_MAX {
            return;
        }
        let value = |&(slot, width): &(Slot, u32)| {
            let start = slot as usize;
            let limbs =
                &self.machine.slots[start..start + crate::ir::program::limbs(width) as usize];
            crate::ir::integer::to_hex(limbs)
        };
        let values = list.fields.iter().map(value).collect();
        self.digests.push_back(Digest { list: list.name.clone(), values });
    }

    /// The flow that ingress found, for the ledger.
    fn flow(&self) -> u32 {
        self.flow_slot.map_or(0, |slot| self.machine.get(slot) as u32)
    }

    fn stamp(&self, at: Time) -> u64 {
        match self.unit {
            TimestampUnit::Ns => at.as_ns(),
            TimestampUnit::Us => at.as_us(),
        }
    }
}
