//! Properties of a program's slots that hold for every packet: constants, bits that can be set, and
//! readers of a slot in memory.

use crate::ir::{Header, NOWHERE, Program, Slot, limbs, mask};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug)]
pub(super) struct KnownBits {
    pub constants: BTreeMap<Slot, u64>,
    /// The bits that can be set, for slots in which not all bits can.
    bits: BTreeMap<Slot, u64>,
    /// Packet slots that only operations of the program read.
    private: BTreeSet<Slot>,
    packet_end: Slot,
}

impl KnownBits {
    pub(super) fn new(program: &Program) -> Self {
        let mut bits = BTreeMap::new();
        for header in &program.headers {
            for field in header.fields.iter().filter(|field| field.slot != NOWHERE) {
                if field.width < 64 {
                    bits.insert(field.slot, mask(field.width));
                }
            }
            if !header.metadata {
                bits.insert(header.valid(), 1);
            }
        }
        KnownBits {
            constants: program.constants.iter().copied().collect(),
            bits,
            private: private(program).collect(),
            packet_end: program.packet_end,
        }
    }

    /// The bits of a slot that can be set.
    pub(super) fn bits(&self, slot: Slot) -> u64 {
        self.bits.get(&slot).copied().unwrap_or(u64::MAX)
    }

    /// Whether only operations that say so read the slot from memory: a temporary, or a field that
    /// only one side of the queue uses.
    pub(super) fn is_private(&self, slot: Slot) -> bool {
        self.is_temporary(slot) || self.private.contains(&slot)
    }

    pub(super) fn is_temporary(&self, slot: Slot) -> bool {
        slot >= self.packet_end && !self.constants.contains_key(&slot)
    }

    /// Metadata that only egress uses: zero when egress starts.
    pub(super) fn zero_at_egress(&self, program: &Program) -> impl Iterator<Item = Slot> {
        let end = program.metadata_end;
        self.private.iter().copied().filter(move |&slot| slot < end)
    }
}

/// Slots that the architecture never reads. It reads its own metadata and the fields of lists, but
/// not metadata that only egress uses, or header fields that only ingress uses.
fn private(program: &Program) -> impl Iterator<Item = Slot> {
    let lists = program.field_lists.values().chain(program.digests.values());
    let listed = lists.flat_map(|list| list.slots.iter().copied());
    let looked_at: BTreeSet<Slot> = listed.chain(program.standard.slots()).collect();
    let ingress_only = |header: &Header| {
        let egress_headers_end = program.egress_headers_end;
        let fields = header.fields.iter().filter(|_| !header.metadata);
        let fields = fields.flat_map(|field| all(field.slot, field.width));
        fields.filter(|&slot| slot >= egress_headers_end).collect::<Vec<_>>()
    };
    let egress_only = program.bridged_end..program.metadata_end;
    let both = egress_only.chain(program.headers.iter().flat_map(ingress_only));
    both.filter(move |slot| *slot < program.packet_end && !looked_at.contains(slot))
}

/// The slots of a field.
fn all(first: Slot, width: u32) -> impl Iterator<Item = Slot> {
    (0..limbs(width)).filter_map(move |limb| first.checked_add(limb))
}
