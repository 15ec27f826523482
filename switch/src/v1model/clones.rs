//! Copies of packets: clones from ingress and egress, multicast.

use super::instance;
use super::item::{Enqueue, Item, Rounds};
use super::model::V1Model;
use super::work::Work;
use crate::interpreter::Extent;
use crate::ir::architecture;
use crate::ir::{MetadataField, internal};
use crate::state::Replica;
use narrows_common::Time;

impl V1Model {
    /// Clones the packet as it arrived, parsed again, with the listed fields from the end of
    /// ingress.
    pub(super) fn clone_from_ingress(&mut self, at: Time, item: &mut Item, clone: u64) {
        let session = (clone & !architecture::CLONE_FLAG) as u32;
        let Some(session) = self.machine.state.clone_sessions.get(&session).cloned() else {
            return;
        };
        let Some(rounds) = self.share(item, session.replicas.len(), true) else { return };
        let kept =
            self.kept(self.program.field_lists.get(&self.machine.get(architecture::CLONE_LIST)));
        let end = self.program.packet_end as usize;
        let saved = self.machine.slots[..end].to_vec();
        let port = self.machine.get(self.program.standard.ingress_port.slot);
        let mut copy = self.spare.copy(&item.packet, item.packet.len());
        copy.state.rounds = rounds;
        self.machine.reset(&self.program, at, saved[internal::ARRIVED as usize]);
        self.program.standard.ingress_port.put(&mut self.machine.slots, port);
        self.phases.parse(&self.program, &mut self.machine, &mut copy.packet);
        self.machine.slots[self.program.metadata_start as usize..end].fill(0);
        for (slot, value) in kept {
            self.machine.set(slot, value);
        }
        self.program.standard.instance_type.put(&mut self.machine.slots, instance::INGRESS_CLONE);
        self.machine.slots[architecture::ALL].fill(0);
        let len = self.cut(&copy, session.truncate_bytes);
        copy.state.flow = item.state.flow;
        self.replicate(at, &copy, &session.replicas, len);
        self.spare.discard(copy);
        self.machine.slots[..end].copy_from_slice(&saved);
    }

    /// How many bytes of a parsed packet a copy keeps, so that its frame has at most `limit` bytes.
    pub(super) fn cut(&mut self, item: &Item, limit: Option<u32>) -> usize {
        let packet = &item.packet;
        let Some(limit) = limit else { return packet.len() };
        let length = self.machine.get(internal::LENGTH);
        let excess = length.saturating_sub(u64::from(limit));
        let payload = packet.len() as u64 - self.machine.get(internal::PAYLOAD);
        let excess = excess.min(payload);
        self.machine.set(internal::LENGTH, length - excess);
        packet.len() - excess as usize
    }

    pub(super) fn multicast(&mut self, at: Time, item: &mut Item, group: u64) {
        let Some(replicas) = self.machine.state.multicast_groups.get(&(group as u32)).cloned()
        else {
            self.statistics.no_such_group += 1;
            return;
        };
        let Some(rounds) = self.share(item, replicas.len(), false) else { return };
        item.state.rounds = rounds;
        self.replicate(at, item, &replicas, item.packet.len());
    }

    /// The budget of each of `count` copies of a packet. `None` if that would be too many; the
    /// packet then counts as endless.
    fn share(&mut self, item: &mut Item, count: usize, goes_on: bool) -> Option<Rounds> {
        let shared = item.state.rounds.share(count, goes_on);
        self.statistics.endless += u64::from(shared.is_none());
        shared
    }

    /// Offers copies of a packet's first `len` bytes, with the program's state, to ports' queues.
    /// Each copy has the packet's budget. A second copy for a port is a duplicate.
    pub(super) fn replicate(&mut self, at: Time, item: &Item, replicas: &[Replica], len: usize) {
        for (i, replica) in replicas.iter().enumerate() {
            let rid = u64::from(replica.rid);
            let is_duplicate = replicas[..i].iter().any(|before| before.port == replica.port);
            self.program.standard.egress_rid.put(&mut self.machine.slots, rid);
            let mut copy = self.spare.copy(&item.packet, len);
            copy.state.flow = item.state.flow;
            copy.state.rounds = item.state.rounds;
            let prepared = self.prepare_enqueue(at, u64::from(replica.port), copy, false);
            let Some(mut copy) = prepared else { continue };
            copy.state.enqueue.is_duplicate = is_duplicate;
            self.statistics.duplicated += u64::from(is_duplicate);
            self.work.push_back(Work::Offer(copy));
        }
    }

    /// Clones the packet as egress left it, keeping only the listed fields of its metadata.
    pub(super) fn clone_from_egress(&mut self, item: &mut Item, clone: u64) {
        let session = (clone & !architecture::CLONE_FLAG) as u32;
        let Some(session) = self.machine.state.clone_sessions.get(&session).cloned() else {
            return;
        };
        let goes_on = self.machine.get(architecture::RECIRCULATE) != 0;
        let shared = self.share(item, session.replicas.len(), goes_on);
        let Some(shared) = shared else { return };
        let Some(rounds) = shared.once_more() else {
            self.statistics.endless += 1;
            return;
        };
        let list = self.machine.get(architecture::CLONE_LIST);
        let length = self.machine.get(internal::LENGTH);
        for replica in &session.replicas {
            let Some(port) = self.tm.find(u64::from(replica.port)) else {
                self.statistics.no_such_port += 1;
                continue;
            };
            let len = self.cut(item, session.truncate_bytes);
            let mut copy = self.spare.copy(&item.packet, len);
            let program = &self.program;
            // While the headers are where they were extracted, no egress header is valid.
            let (extent, metadata_end) = match self.machine.get(internal::MOVED) {
                0 => (Extent::Ingress, program.bridged_end),
                _ => (Extent::WithEgressHeaders, program.metadata_end),
            };
            let bridged = &mut copy.state.bridged;
            self.machine.save_bridged(program, extent, bridged);
            let metadata = program.metadata_start..metadata_end;
            for slot in metadata.chain([architecture::TRUNCATE]) {
                bridged.get_mut(slot).into_iter().for_each(|value| *value = 0);
            }
            for &slot in program.field_lists.get(&list).map_or(&[][..], |list| &list.slots) {
                if let Some(value) = bridged.get_mut(slot) {
                    *value = self.machine.get(slot);
                }
            }
            let standard = &self.program.standard;
            let mut put = |field: MetadataField, value: u64| {
                if let Some(slot) = bridged.get_mut(field.slot) {
                    *slot = value & field.mask;
                }
            };
            put(standard.instance_type, instance::EGRESS_CLONE);
            put(standard.egress_rid, u64::from(replica.rid));
            copy.state.flow = item.state.flow;
            copy.state.rounds = rounds;
            let frame_bytes = self.machine.get(internal::LENGTH) as u32;
            self.machine.set(internal::LENGTH, length);
            let port = port as u16;
            copy.state.enqueue = Enqueue { port, frame_bytes, ..Enqueue::default() };
            self.work.push_back(Work::Offer(copy));
        }
    }
}
