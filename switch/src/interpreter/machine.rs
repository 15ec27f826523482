//! The machine that runs a program: its slots, and the state of the switch.

use super::bridged::{Bridged, Extent};
use super::calculation::BitBuffer;
use crate::ir::architecture::{self, BRIDGED_START};
use crate::ir::{Program, Slot, Slots, internal};
use crate::state::State;
use narrows_common::{Rng, Time};
use std::collections::BTreeSet;
use std::ops::Range;

/// All data of a switch that its program can read or write.
pub(crate) struct Machine {
    pub slots: Box<Slots>,
    pub state: State,
    /// A select's key during a search of a value set.
    pub key: Vec<u64>,
    pub buffer: BitBuffer,
    pub rng: Rng,
    pub now: Time,
    /// Log messages, if they are collected.
    pub log: Option<Vec<String>>,
    /// Bytes that the deparser assembles.
    pub scratch: Vec<u8>,
    egress_metadata: EgressMetadata,
}

/// The slots of metadata that only egress uses, zero when a packet and when egress starts. Those
/// that the architecture sets before egress are left out.
struct EgressMetadata {
    /// Those that the engine writes. What is between them is zero.
    written: Vec<Range<usize>>,
}

impl EgressMetadata {
    /// Slots closer than this are cleared together.
    const GAP: usize = 8;

    fn new(program: &Program, unwritten: &BTreeSet<Slot>) -> Self {
        let set = program.standard.set_at_dequeue().map(|field| field.slot);
        let mut written: Vec<Range<usize>> = vec![];
        for slot in program.bridged_end..program.metadata_end {
            let at = usize::from(slot);
            match written.last_mut() {
                _ if unwritten.contains(&slot) || set.contains(&slot) => {}
                Some(last) if at < last.end + Self::GAP => last.end = at + 1,
                _ => written.push(at..at + 1),
            }
        }
        EgressMetadata { written }
    }

    #[inline]
    fn clear(&self, slots: &mut Slots) {
        self.written.iter().for_each(|range| slots[range.clone()].fill(0));
    }
}

impl Machine {
    pub(crate) fn new(program: &Program, rng: Rng) -> Self {
        let slots = vec![0u64; 65_536].into_boxed_slice();
        let Ok(mut slots) = <Box<Slots>>::try_from(slots) else {
            unreachable!("the length is 65,536");
        };
        for &(slot, value) in &program.constants {
            slots[slot as usize] = value;
        }
        Machine {
            slots,
            state: State::new(program),
            key: vec![],
            buffer: BitBuffer::default(),
            rng,
            now: Time::ZERO,
            log: None,
            scratch: vec![],
            egress_metadata: EgressMetadata::new(program, &BTreeSet::new()),
        }
    }

    /// From now on the engine does not write to these slots of metadata that only egress uses; they
    /// are zero.
    pub(crate) fn set_unwritten(&mut self, program: &Program, slots: &BTreeSet<Slot>) {
        self.egress_metadata = EgressMetadata::new(program, slots);
    }

    /// A slot's value.
    #[inline]
    pub(crate) fn get(&self, slot: Slot) -> u64 {
        self.slots[slot as usize]
    }

    #[inline]
    pub(crate) fn set(&mut self, slot: Slot, value: u64) {
        self.slots[slot as usize] = value;
    }

    /// Clears the state of the previous packet.
    #[inline]
    pub(crate) fn reset(&mut self, program: &Program, at: Time, length: u64) {
        self.invalidate_egress_headers(program);
        self.now = at;
        let slots = &mut *self.slots;
        slots[..program.bridged_end as usize].fill(0);
        self.egress_metadata.clear(slots);
        slots[program.egress_headers_end as usize..program.packet_end as usize].fill(0);
        slots[internal::LENGTH as usize] = length;
        slots[internal::ARRIVED as usize] = length;
    }

    /// Saves the slots of an extent, for egress.
    #[inline]
    pub(crate) fn save_bridged(&self, program: &Program, extent: Extent, bridged: &mut Bridged) {
        let end = match extent {
            Extent::InMachine => BRIDGED_START,
            Extent::Ingress => program.bridged_end,
            Extent::WithEgressHeaders => program.egress_headers_end,
        };
        bridged.extent = extent;
        bridged.slots.clear();
        bridged.slots.extend_from_slice(&self.slots[BRIDGED_START.into()..end.into()]);
    }

    /// Restores a packet's slots before egress, and clears those that only egress uses.
    #[inline]
    pub(crate) fn restore_bridged(&mut self, program: &Program, bridged: &Bridged) {
        match bridged.extent {
            Extent::InMachine => return,
            Extent::Ingress => {
                self.invalidate_egress_headers(program);
                self.egress_metadata.clear(&mut self.slots);
            }
            Extent::WithEgressHeaders => {}
        }
        self.slots[architecture::ZERO_AT_EGRESS].fill(0);
        let start = usize::from(BRIDGED_START);
        self.slots[start..start + bridged.slots.len()].copy_from_slice(&bridged.slots);
    }

    /// Invalidates the headers that only egress makes valid, before another packet enters the
    /// machine. None of them is valid while all headers are where they were extracted.
    #[inline]
    pub(crate) fn invalidate_egress_headers(&mut self, program: &Program) {
        if self.get(internal::MOVED) == 0 {
            return;
        }
        for &header in &program.egress_headers {
            self.set(program.headers[header as usize].valid(), 0);
        }
    }
}
