//! Every change of a rate, a queue limit or a table entry is an [`Operation`].
//!
//! gNMI `Set`, P4Runtime `Write` and a scenario's `[[event]]` all use it.

use narrows_common::Time;
use narrows_switch::{ControlOperation, Switch, TableEntry};

use super::refusal::Refusal;
use crate::plan::EntryOperation;

/// A change that a controller asks for.
#[derive(Clone, Debug)]
pub enum Operation {
    /// A port's rate, queue limit or discipline changes.
    Port(ControlOperation),
    /// A table entry is added, changed or removed.
    Entry {
        /// Insert, modify or delete.
        operation: EntryOperation,
        /// The entry.
        entry: TableEntry,
    },
}

impl Operation {
    /// Executes the operation on the switch at `now`.
    ///
    /// # Errors
    /// If the switch refuses.
    pub fn apply(&self, now: Time, switch: &mut Switch) -> Result<(), Refusal> {
        match self {
            Operation::Port(operation) => switch.control(now, operation)?,
            Operation::Entry { operation, entry } => match operation {
                EntryOperation::Insert => switch.insert_entry(entry)?,
                EntryOperation::Modify => switch.modify_entry(entry)?,
                EntryOperation::Delete => switch.delete_entry(entry)?,
            },
        }
        Ok(())
    }
}
