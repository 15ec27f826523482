//! A loaded program: everything by index; names are for the control plane only.

use super::calculation::{Calculation, Checksum, HashCall};
use super::externs::{CounterArray, FieldList, LogCall, MeterArray, Register};
use super::header::{Header, HeaderRef, Stack, UnionStack};
use super::metadata::StandardMetadata;
use super::op::{Op, Pc};
use super::parser::{ParserErrors, Select, ValueSet};
use super::slot::Slot;
use super::table::{Action, ActionProfile, Table};
use super::wide_op::WideOp;
use std::collections::BTreeMap;

/// A P4 program, loaded and lowered.
#[derive(Debug, Default)]
pub(crate) struct Program {
    pub(crate) ops: Vec<Op>,
    pub(crate) wide: Vec<WideOp>,
    pub(crate) copies: Vec<(HeaderRef, HeaderRef)>,
    pub(crate) hashes: Vec<HashCall>,
    pub(crate) logs: Vec<LogCall>,
    pub(crate) constants: Vec<(Slot, u64)>,
    pub(crate) headers: Vec<Header>,
    pub(crate) stacks: Vec<Stack>,
    pub(crate) union_stacks: Vec<UnionStack>,
    pub(crate) selects: Vec<Select>,
    pub(crate) deparse: Vec<u16>,
    /// Headers that the parser extracts and the program may have written.
    pub(crate) patched: Vec<u16>,
    /// Headers that are never valid before egress.
    pub(crate) egress_headers: Vec<u16>,
    /// The first operation of each block, by block number; 0 if the block is empty.
    pub(crate) starts: [Pc; Block::ALL.len()],
    pub(crate) checksums: Vec<Checksum>,
    pub(crate) calculations: Vec<Calculation>,
    pub(crate) tables: Vec<Table>,
    pub(crate) actions: Vec<Action>,
    pub(crate) registers: Vec<Register>,
    pub(crate) counters: Vec<CounterArray>,
    pub(crate) meters: Vec<MeterArray>,
    pub(crate) value_sets: Vec<ValueSet>,
    pub(crate) profiles: Vec<ActionProfile>,
    pub(crate) field_lists: BTreeMap<u64, FieldList>,
    pub(crate) digests: BTreeMap<u64, FieldList>,
    pub(crate) errors: ParserErrors,
    pub(crate) standard: StandardMetadata,
    /// Slots below this are zero at the start of a packet.
    pub(crate) packet_end: Slot,
    /// Slots from [`super::architecture::BRIDGED_START`] to this travel with a packet from ingress
    /// to egress.
    pub(crate) bridged_end: Slot,
    /// Slots from `bridged_end` to this are zero when egress starts: metadata that only egress
    /// uses.
    pub(crate) metadata_end: Slot,
    /// Slots below this travel with a copy whose headers have moved: includes the egress headers.
    pub(crate) egress_headers_end: Slot,
    /// Metadata that egress uses: `metadata_start..metadata_end`.
    pub(crate) metadata_start: Slot,
    /// The first slot of action parameters.
    pub(crate) parameters: Slot,
    /// Every named field: `(header, field)` to its first slot and width in bits.
    pub(crate) fields: BTreeMap<(String, String), (Slot, u32)>,
}

impl Program {
    /// The first operation of a block; 0 if the block is empty.
    #[inline]
    pub(crate) fn start(&self, block: Block) -> Pc {
        self.starts[block as usize]
    }
}

/// A part of a program that the architecture runs as a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Block {
    Parser,
    Verify,
    Ingress,
    Egress,
    Update,
}

impl Block {
    pub(crate) const ALL: [Block; 5] =
        [Block::Parser, Block::Verify, Block::Ingress, Block::Egress, Block::Update];
}
