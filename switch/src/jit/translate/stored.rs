//! The slots that must be in memory.

use crate::ir::Slot;
use crate::ir::architecture::Phase;
use std::collections::{BTreeMap, BTreeSet};

/// The private slots that must be in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::jit) struct Stored {
    /// All temporaries.
    pub(super) temporaries: bool,
    /// All other private slots.
    pub(super) fields: bool,
    pub(super) slots: BTreeSet<Slot>,
}

impl Stored {
    /// True if this slot, which is a field, must be in memory.
    pub(in crate::jit) fn has(&self, field: Slot) -> bool {
        self.fields || self.slots.contains(&field)
    }

    /// A phase may read a slot that another phase wrote last.
    pub(in crate::jit) fn share(all: &mut BTreeMap<Phase, Stored>) {
        let slots: BTreeSet<Slot> =
            all.values().flat_map(|one| one.slots.iter().copied()).collect();
        let fields = all.values().any(|one| one.fields);
        for one in all.values_mut() {
            one.slots.clone_from(&slots);
            one.fields = fields;
        }
    }
}
