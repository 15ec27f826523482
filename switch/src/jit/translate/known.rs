//! What is known about a slot, and about slots where paths join.

use crate::ir::Slot;
use cranelift_codegen::ir::Value;
use std::collections::BTreeMap;

/// What is known about a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    Constant(u64),
    Value(Value),
}

/// The facts common to several paths. A value known at the end of each path was computed before
/// they diverged.
pub(super) fn agreed(before: &[&BTreeMap<Slot, Known>]) -> BTreeMap<Slot, Known> {
    let Some((first, others)) = before.split_first() else { return BTreeMap::new() };
    let same = |(slot, known): &(&Slot, &Known)| {
        others.iter().all(|other| other.get(slot) == Some(*known))
    };
    first.iter().filter(same).map(|(&slot, &known)| (slot, known)).collect()
}
