//! Which slots have to be in memory.

use crate::ir::Slot;
use crate::jit::phase::Phase;
use std::collections::{BTreeMap, BTreeSet};

/// Which private slots have to be in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::jit) struct Stored {
    /// All temporaries.
    pub(super) temporaries: bool,
    /// All others.
    pub(super) fields: bool,
    pub(super) slots: BTreeSet<Slot>,
}

impl Stored {
    /// A slot may be read that another phase was the last to write.
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
