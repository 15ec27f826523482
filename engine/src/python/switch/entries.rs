//! Table entries of `narrows._engine.Switch`.

use narrows_switch::{DefaultAction, TableEntry};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::convert::{entry_to_python, from_python};
use super::object::PySwitch;
use crate::network::managed_switch::operation::Operation;
use crate::plan::EntryOperation;

/// Entries that are read while packets wait.
const ENTRIES_AT_ONCE: usize = 1000;

/// An entry with its packets and bytes.
pub(super) type CountedEntry<'py> = (Bound<'py, PyDict>, u64, u64);

/// Entries, and where the next part begins.
pub(super) type EntriesPart<'py> = (Vec<CountedEntry<'py>>, Option<u32>);

impl PySwitch {
    pub(super) fn write_entry(
        &self,
        py: Python<'_>,
        operation: EntryOperation,
        entry: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let entry: TableEntry = from_python(entry)?;
        self.execute(py, Operation::Entry { operation, entry })
    }

    /// The entry with these matches and priority.
    pub(super) fn find_entry<'py>(
        &self,
        py: Python<'py>,
        entry: &Bound<'py, PyAny>,
    ) -> PyResult<Option<CountedEntry<'py>>> {
        let entry: TableEntry = from_python(entry)?;
        let found = self.with_all(py, move |pipelines| pipelines.entry(&entry))?;
        let counted = found
            .map(|(entry, count)| Ok((entry_to_python(py, &entry)?, count.packets, count.bytes)));
        counted.transpose()
    }

    /// A part of a table's entries, and where the next part begins. Packets go on between two
    /// parts.
    pub(super) fn part_of_entries<'py>(
        &self,
        py: Python<'py>,
        table: String,
        from: u32,
    ) -> PyResult<EntriesPart<'py>> {
        let (part, next) = self
            .with_all(py, move |pipelines| pipelines.entries_from(&table, from, ENTRIES_AT_ONCE))?;
        let mut entries = Vec::with_capacity(part.len());
        for (entry, count) in &part {
            entries.push((entry_to_python(py, entry)?, count.packets, count.bytes));
        }
        Ok((entries, next))
    }

    pub(super) fn default_action_of<'py>(
        &self,
        py: Python<'py>,
        table: String,
    ) -> PyResult<Option<Bound<'py, PyDict>>> {
        let default =
            self.with(py, move |pipeline| Ok(pipeline.switch()?.default_action(&table)?))?;
        let Some(DefaultAction { action, params, .. }) = default else { return Ok(None) };
        let dict = PyDict::new(py);
        dict.set_item("action", action)?;
        dict.set_item("params", params)?;
        Ok(Some(dict))
    }
}
