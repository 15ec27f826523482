//! The architecture: v1model as bmv2's `simple_switch` has it. Its metadata, what its externs
//! leave behind, and the order of its blocks (behavioral-model, docs/simple_switch.md).

use crate::op::{NOWHERE, Slot, internal};
use crate::pass::{arrive, depart, finish, parse};
use crate::program::FieldList;
use crate::switch::{Digest, Offer, Replica, Switch, TimestampUnit, Transmit, Work};
use crate::tm::{Carried, Dequeued, Item, Label};
use narrows_common::Time;

/// The `egress_spec` that means "drop".
pub(crate) const DROP_PORT: u64 = 511;

/// `standard_metadata.instance_type`.
mod instance {
    pub(super) const NORMAL: u64 = 0;
    pub(super) const INGRESS_CLONE: u64 = 1;
    pub(super) const EGRESS_CLONE: u64 = 2;
    pub(super) const RECIRCULATED: u64 = 4;
    pub(super) const REPLICATION: u64 = 5;
    pub(super) const RESUBMITTED: u64 = 6;
}

/// What the externs leave for the end of a pipeline.
pub(crate) mod architecture {
    use crate::op::{Slot, internal};
    /// The clone session and [`CLONE_FLAG`].
    pub(crate) const CLONE: Slot = internal::ARCHITECTURE;
    /// The number of a clone's field list.
    pub(crate) const CLONE_LIST: Slot = internal::ARCHITECTURE + 1;
    /// The number of a digest's field list.
    pub(crate) const DIGEST: Slot = internal::ARCHITECTURE + 2;
    /// The number of a resubmission's field list.
    pub(crate) const RESUBMIT: Slot = internal::ARCHITECTURE + 3;
    /// The number of a recirculation's field list.
    pub(crate) const RECIRCULATE: Slot = internal::ARCHITECTURE + 4;
    /// [`TRUNCATE_NONE`] less the length to cut to; 0 for none.
    pub(crate) const TRUNCATE: Slot = internal::ARCHITECTURE + 5;
    /// Set with a session, since session 0 exists.
    pub(crate) const CLONE_FLAG: u64 = 1 << 32;
    /// Larger than any length.
    pub(crate) const TRUNCATE_NONE: u64 = 1 << 40;
    /// All of them.
    pub(crate) const ALL: core::ops::Range<usize> = CLONE as usize..TRUNCATE as usize + 1;
}

/// Digests that wait for [`Switch::poll_digest`], at most; later ones are lost.
const DIGESTS_MAX: usize = 1 << 16;

/// How often a packet may come round at one instant.
const ROUNDS_MAX: u32 = 256;

/// A field of the standard metadata.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MetadataField {
    pub slot: Slot,
    pub mask: u64,
}

impl Default for MetadataField {
    fn default() -> Self {
        MetadataField { slot: NOWHERE, mask: 0 }
    }
}

impl MetadataField {
    /// `None` where the program has no such field.
    pub(crate) fn known(self) -> Option<Self> {
        (self.slot != NOWHERE).then_some(self)
    }
}

/// The standard, intrinsic and queueing metadata.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StandardMetadata {
    ingress_port: MetadataField,
    packet_length: MetadataField,
    instance_type: MetadataField,
    pub egress_spec: MetadataField,
    egress_port: MetadataField,
    pub parser_error: MetadataField,
    pub checksum_error: MetadataField,
    ingress_timestamp: MetadataField,
    egress_timestamp: MetadataField,
    pub mcast_grp: MetadataField,
    egress_rid: MetadataField,
    priority: MetadataField,
    enq_timestamp: MetadataField,
    enq_qdepth: MetadataField,
    deq_timedelta: MetadataField,
    deq_qdepth: MetadataField,
    qid: MetadataField,
}

/// Fields of it that have a value before egress without the program's doing.
pub(crate) const SET_BEFORE_EGRESS: [(&str, &str); 7] = [
    ("standard_metadata", "ingress_port"),
    ("standard_metadata", "packet_length"),
    ("standard_metadata", "instance_type"),
    ("standard_metadata", "parser_error"),
    ("standard_metadata", "checksum_error"),
    ("intrinsic_metadata", "ingress_global_timestamp"),
    ("intrinsic_metadata", "egress_rid"),
];

impl StandardMetadata {
    /// Finds the fields; the error is the name of a missing one that bmv2 requires too.
    pub(crate) fn find(
        find: impl Fn(&str, &str) -> Option<(Slot, u32)>,
    ) -> Result<Self, &'static str> {
        let field = |header: &str, name: &str| match find(header, name) {
            Some((slot, width)) => MetadataField { slot, mask: crate::program::mask(width) },
            None => MetadataField::default(),
        };
        let standard = |name: &str| field("standard_metadata", name);
        let intrinsic = |name: &str| field("intrinsic_metadata", name);
        let queueing = |name: &str| field("queueing_metadata", name);
        let required = |name: &'static str| standard(name).known().ok_or(name);
        Ok(StandardMetadata {
            ingress_port: required("ingress_port")?,
            packet_length: required("packet_length")?,
            instance_type: required("instance_type")?,
            egress_spec: required("egress_spec")?,
            egress_port: required("egress_port")?,
            parser_error: standard("parser_error"),
            checksum_error: standard("checksum_error"),
            ingress_timestamp: intrinsic("ingress_global_timestamp"),
            egress_timestamp: intrinsic("egress_global_timestamp"),
            mcast_grp: intrinsic("mcast_grp"),
            egress_rid: intrinsic("egress_rid"),
            priority: intrinsic("priority"),
            enq_timestamp: queueing("enq_timestamp"),
            enq_qdepth: queueing("enq_qdepth"),
            deq_timedelta: queueing("deq_timedelta"),
            deq_qdepth: queueing("deq_qdepth"),
            qid: queueing("qid"),
        })
    }

    /// The slots of all fields that the program has.
    pub(crate) fn slots(&self) -> impl Iterator<Item = Slot> {
        let fields = [
            self.ingress_port,
            self.packet_length,
            self.instance_type,
            self.egress_spec,
            self.egress_port,
            self.parser_error,
            self.checksum_error,
            self.ingress_timestamp,
            self.egress_timestamp,
            self.mcast_grp,
            self.egress_rid,
            self.priority,
            self.enq_timestamp,
            self.enq_qdepth,
            self.deq_timedelta,
            self.deq_qdepth,
            self.qid,
        ];
        fields.into_iter().filter_map(MetadataField::known).map(|field| field.slot)
    }
}

/// A packet before the parser.
#[derive(Debug)]
pub(crate) struct Arrival {
    pub item: Box<Item>,
    pub port: u16,
    /// Values that a resubmitted or recirculated packet keeps.
    kept: Vec<(Slot, u64)>,
    instance: u64,
}

impl Arrival {
    pub(crate) fn new(port: u16, item: Box<Item>) -> Self {
        Arrival { item, port, kept: vec![], instance: instance::NORMAL }
    }

    /// One that came round once more.
    fn again(port: u16, mut item: Box<Item>, kept: Vec<(Slot, u64)>, instance: u64) -> Self {
        item.rounds += 1;
        Arrival { item, port, kept, instance }
    }
}

impl Switch {
    /// Parser, checksum verification, ingress, and what becomes of the packet then.
    pub(crate) fn ingress(&mut self, at: Time, arrival: Arrival) {
        let Arrival { mut item, port, kept, instance } = arrival;
        let length = item.packet.len() as u64;
        let packet = &mut item.packet;
        self.machine.reset(&self.program, at, length);
        for (slot, value) in kept {
            self.machine.set(slot, value);
        }
        if instance == instance::NORMAL {
            // As in bmv2, a packet that comes round keeps neither, unless its list says so.
            self.machine.put(self.program.standard.ingress_port, u64::from(port));
            self.machine.put(self.program.standard.ingress_timestamp, self.stamp(at));
        }
        self.machine.put(self.program.standard.packet_length, length);
        self.machine.put(self.program.standard.instance_type, instance);
        arrive(&self.program, &mut self.machine, packet);
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
    fn after_ingress(&mut self, at: Time, mut item: Box<Item>) {
        item.label = Label { flow: self.flow(), ..Label::default() };
        let clone = self.machine.get(architecture::CLONE);
        let resubmit = self.machine.get(architecture::RESUBMIT);
        let digest = self.machine.get(architecture::DIGEST);
        let group =
            self.program.standard.mcast_grp.known().map_or(0, |field| self.machine.get(field.slot));
        if clone != 0 {
            self.clone_from_ingress(at, &item, clone);
        }
        if digest != 0 {
            self.digest(digest);
        }
        let truncate = self.machine.get(architecture::TRUNCATE);
        if resubmit != 0 {
            if item.rounds >= ROUNDS_MAX {
                self.statistics.endless += 1;
                return self.discard(item);
            }
            let kept = self.kept(self.program.field_lists.get(&resubmit));
            let arrival = Arrival::again(0, item, kept, instance::RESUBMITTED);
            return self.work.push_back(Work::Ingress(arrival));
        }
        self.machine.slots[architecture::ALL].fill(0);
        self.machine.set(architecture::TRUNCATE, truncate);
        if group != 0 {
            self.machine.put(self.program.standard.instance_type, instance::REPLICATION);
            self.multicast(at, &item, group);
            return self.discard(item);
        }
        let port = self.machine.get(self.program.standard.egress_spec.slot);
        if port == DROP_PORT {
            self.statistics.dropped_ingress += 1;
            return self.discard(item);
        }
        self.machine.put(self.program.standard.instance_type, instance::NORMAL);
        // The ordinary case: it goes to its queue without waiting for its turn.
        let is_next = self.work.is_empty();
        let Some(offer) = self.offer_of(at, port, item, is_next) else { return };
        match is_next {
            true => self.offer(at, offer),
            false => self.work.push_back(Work::Offer(offer)),
        }
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
        self.machine.put(self.program.standard.ingress_port, port);
        parse(&self.program, &mut self.machine, &mut copy.packet);
        self.machine.slots[self.program.metadata_start as usize..end].fill(0);
        for (slot, value) in kept {
            self.machine.set(slot, value);
        }
        self.machine.put(self.program.standard.instance_type, instance::INGRESS_CLONE);
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
            self.machine.put(self.program.standard.egress_rid, u64::from(replica.rid));
            let mut copy = self.copy(&item.packet, len);
            copy.label = item.label;
            let offer = self.offer_of(at, u64::from(replica.port), copy, false);
            self.work.extend(offer.map(Work::Offer));
        }
    }

    /// The packet and the program's state, for a port; nothing when there is no such port. What is
    /// offered `next` may leave its state where it is.
    fn offer_of(&mut self, at: Time, port: u64, mut item: Box<Item>, next: bool) -> Option<Offer> {
        let Some(port) = self.tm.find(port) else {
            self.statistics.no_such_port += 1;
            self.discard(item);
            return None;
        };
        let priority = self.program.standard.priority.known();
        let priority = priority.map_or(0, |field| self.machine.get(field.slot));
        let frame_bytes = self.machine.get(internal::LENGTH);
        item.carried = Carried::InMachine;
        if !(next && self.tm.is_idle(at, port)) {
            item.carried = Carried::Slots;
            item.slots.clear();
            let end = self.program.carried_end as usize;
            item.slots.extend_from_slice(&self.machine.slots[..end]);
        }
        Some(Offer { port, priority, frame_bytes, item })
    }

    /// Egress, checksum update, deparser, and what becomes of the packet then.
    pub(crate) fn egress(&mut self, dequeued: Dequeued) {
        let Dequeued { port, queue, at, mut item, depth_after } = dequeued;
        let slots = item.slots.as_slice();
        match item.carried {
            Carried::InMachine => {}
            Carried::Slots => {
                self.machine.forget_late_headers(&self.program);
                self.machine.slots[..slots.len()].copy_from_slice(slots);
                let end = self.program.metadata_end as usize;
                self.machine.slots[slots.len()..end].fill(0);
            }
            Carried::WithLate => self.machine.slots[..slots.len()].copy_from_slice(slots),
        }
        self.machine.now = at;
        let waited = at.saturating_since(item.enqueued_at);
        let waited = match self.unit {
            TimestampUnit::Ns => waited.as_ns(),
            TimestampUnit::Us => waited.as_us(),
        };
        let number = u64::from(self.tm.ports[port].number);
        self.machine.put(self.program.standard.enq_timestamp, self.stamp(item.enqueued_at));
        self.machine.put(self.program.standard.enq_qdepth, u64::from(item.depth_before));
        self.machine.put(self.program.standard.deq_timedelta, waited);
        self.machine.put(self.program.standard.deq_qdepth, u64::from(depth_after));
        self.machine.put(self.program.standard.qid, self.tm.ports[port].priority_of(queue));
        self.machine.put(self.program.standard.egress_timestamp, self.stamp(at));
        self.machine.put(self.program.standard.egress_port, number);
        // Anything but the port that means "drop".
        self.machine.put(self.program.standard.egress_spec, DROP_PORT + 1);
        self.machine.put(self.program.standard.packet_length, self.machine.get(internal::LENGTH));
        let is_written = depart(&self.program, &mut self.machine, &mut item.packet);
        if self.machine.get(internal::ABORTED) != 0 {
            self.statistics.aborted += 1;
            self.tm.drop_at_egress(port, queue, at, item.label);
            return self.discard(item);
        }
        let clone = self.machine.get(architecture::CLONE);
        if clone != 0 {
            self.clone_from_egress(&item, clone);
        }
        if self.machine.get(self.program.standard.egress_spec.slot) == DROP_PORT {
            self.statistics.dropped_egress += 1;
            self.tm.drop_at_egress(port, queue, at, item.label);
            return self.discard(item);
        }
        if !is_written {
            finish(&self.program, &mut self.machine, &mut item.packet);
        }
        let truncate = self.machine.get(architecture::TRUNCATE);
        if truncate != 0 {
            item.packet.truncate((architecture::TRUNCATE_NONE - truncate) as usize);
        }
        let recirculate = self.machine.get(architecture::RECIRCULATE);
        if recirculate != 0 {
            if item.rounds >= ROUNDS_MAX {
                self.statistics.endless += 1;
                return self.discard(item);
            }
            let kept = self.kept(self.program.field_lists.get(&recirculate));
            let arrival = Arrival::again(number as u16, item, kept, instance::RECIRCULATED);
            return self.work.push_back(Work::Ingress(arrival));
        }
        let packet = core::mem::take(&mut item.packet);
        self.give_item(item);
        let (start, end) = self.tm.transmit(at, port, packet.len() as u64);
        self.transmits.push_back(Transmit { port: number as u16, start, end, packet });
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
            // No late header is valid while the headers lie as they came.
            let (carried, end) = match self.machine.get(internal::MOVED) {
                0 => (Carried::Slots, program.carried_end),
                _ => (Carried::WithLate, program.late_end),
            };
            copy.carried = carried;
            copy.slots.clear();
            copy.slots.extend_from_slice(&self.machine.slots[..end.into()]);
            let carried = copy.slots.as_mut_slice();
            carried[architecture::ALL].fill(0);
            let metadata_end = end.min(program.metadata_end);
            carried[program.metadata_start.into()..metadata_end.into()].fill(0);
            for &slot in program.field_lists.get(&list).map_or(&[][..], |list| &list.slots) {
                if let Some(carried) = carried.get_mut(slot as usize) {
                    *carried = self.machine.get(slot);
                }
            }
            let standard = &self.program.standard;
            let mut put = |field: MetadataField, value: u64| {
                if let Some(slot) = carried.get_mut(field.slot as usize) {
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
            let limbs = &self.machine.slots[start..start + crate::program::limbs(width) as usize];
            crate::load::value::to_hex(limbs)
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
