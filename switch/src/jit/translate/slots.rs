//! Slots as values. A slot that was read or written stays in a value until other code may have
//! changed it.

use super::known::Known;
use super::stored::Stored;
use super::translator::Translator;
use crate::ir::Slot;
use cranelift_codegen::ir::{InstBuilder, MemFlags, Value, types};
use std::collections::BTreeMap;

impl Translator<'_, '_> {
    pub(super) fn constant(&mut self, value: u64) -> Value {
        let constant = self.builder.ins().iconst(types::I64, value as i64);
        self.with_bits(constant, value)
    }

    /// The bits of a value that can be set.
    pub(super) fn bits(&self, value: Value) -> u64 {
        self.bits.get(&value).copied().unwrap_or(u64::MAX)
    }

    /// Records that no other bits of a value can be set.
    pub(super) fn with_bits(&mut self, value: Value, bits: u64) -> Value {
        if bits != u64::MAX {
            self.bits.insert(value, bits);
        }
        value
    }

    pub(super) fn address(slot: Slot) -> i32 {
        i32::from(slot) * 8
    }

    pub(super) fn read(&mut self, slot: Slot) -> Value {
        if let Some(&constant) = self.known_bits.constants.get(&slot) {
            return self.constant(constant);
        }
        match self.known.get(&slot) {
            Some(&Known::Constant(constant)) => self.constant(constant),
            Some(&Known::Value(value)) => value,
            None => {
                self.in_memory(slot);
                let flags = MemFlags::trusted();
                let at = Self::address(slot);
                let value = self.builder.ins().load(types::I64, flags, self.slots, at);
                let value = self.with_bits(value, self.known_bits.bits(slot));
                self.known.insert(slot, Known::Value(value));
                value
            }
        }
    }

    pub(super) fn known(&self, slot: Slot) -> Option<u64> {
        match (self.known_bits.constants.get(&slot), self.known.get(&slot)) {
            (Some(&constant), _) | (None, Some(&Known::Constant(constant))) => Some(constant),
            _ => None,
        }
    }

    pub(super) fn write(&mut self, slot: Slot, value: Value) {
        self.known.insert(slot, Known::Value(value));
        if self.is_stored(slot) {
            let at = Self::address(slot);
            self.builder.ins().store(MemFlags::trusted(), value, self.slots, at);
        }
    }

    pub(super) fn is_stored(&self, slot: Slot) -> bool {
        let Stored { temporaries, fields, slots } = self.stored;
        let all = if self.known_bits.is_temporary(slot) { *temporaries } else { *fields };
        all || slots.contains(&slot) || !self.known_bits.is_private(slot)
    }

    pub(super) fn write_constant(&mut self, slot: Slot, constant: u64) {
        let value = self.constant(constant);
        self.write(slot, value);
        self.known.insert(slot, Known::Constant(constant));
    }

    pub(super) fn known_here(&self) -> BTreeMap<Slot, Known> {
        self.known.clone()
    }

    /// Keeps only what holds at the target of a backward branch.
    pub(super) fn go_back_to(&mut self, known: BTreeMap<Slot, Known>) {
        self.known = known;
    }

    /// Forgets all values.
    pub(super) fn forget_all(&mut self) {
        self.known.clear();
    }

    /// All private slots must be in memory.
    pub(super) fn all_in_memory(&mut self) {
        (self.wanted.temporaries, self.wanted.fields) = (true, true);
    }

    /// An operation reads the slot from memory.
    pub(super) fn in_memory(&mut self, slot: Slot) {
        if self.known_bits.is_private(slot) {
            self.wanted.slots.insert(slot);
        }
    }

    /// The slots from `first` on may have been written.
    pub(super) fn forget(&mut self, first: Slot, count: usize) {
        let first = usize::from(first);
        self.known.retain(|&slot, _| !(first..first + count).contains(&usize::from(slot)));
    }
}
