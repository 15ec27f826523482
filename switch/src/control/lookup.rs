//! What a P4Runtime server asks besides: one entry, a range of cells, a default made the
//! program's again, a whole value set.

use super::{ControlError, TableEntry, find, matches, number, shown};
use crate::externs::counter::Count;
use crate::load::value::to_hex;
use crate::switch::Switch;

impl Switch {
    /// The entry with these matches (and priority), and its direct counter; the action asked
    /// with does not matter.
    ///
    /// # Errors
    /// When there is no such table, or the matches do not fit it.
    pub fn find_entry(
        &self,
        entry: &TableEntry,
    ) -> Result<Option<(TableEntry, Count)>, ControlError> {
        let table = self.table(&entry.table)?;
        let declared = &self.program.tables[table];
        let matches = matches(declared, &entry.matches)?;
        let found = &self.machine.tables[table];
        let Some(at) = found.position(&matches, entry.priority) else { return Ok(None) };
        let Some(stored) = found.entry(at) else { return Ok(None) };
        let entry = TableEntry {
            table: declared.name.clone(),
            matches: shown(declared, &stored.matches),
            priority: stored.priority,
            action: self.program.actions[stored.action as usize].name.clone(),
            params: self.params(stored),
        };
        Ok(Some((entry, found.count(at))))
    }

    /// Makes a table's default action what the program says, which may be none.
    ///
    /// # Errors
    /// When there is no such table.
    pub fn reset_default_action(&mut self, table: &str) -> Result<(), ControlError> {
        let table = self.table(table)?;
        let declared = &self.program.tables[table];
        self.machine.tables[table].set_default(&self.program, declared, declared.default.clone());
        Ok(())
    }

    /// Reads `count` register cells from `first` on, in hexadecimal.
    ///
    /// # Errors
    /// When there is no such register, or it ends before.
    pub fn read_registers(
        &self,
        name: &str,
        first: u64,
        count: u64,
    ) -> Result<Vec<String>, ControlError> {
        let register = self.register(name)?;
        let cells = &self.machine.registers[register];
        let last = first.saturating_add(count);
        if last > cells.len() {
            let name = &self.program.registers[register].name;
            return Err(self.beyond("register", name, last - 1, cells.len()));
        }
        Ok((first..last).filter_map(|index| cells.cell(index)).map(to_hex).collect())
    }

    /// Reads `count` cells of an indirect counter from `first` on.
    ///
    /// # Errors
    /// When there is no such counter, or it ends before.
    pub fn read_counters(
        &self,
        name: &str,
        first: u64,
        count: u64,
    ) -> Result<Vec<Count>, ControlError> {
        let names = self.program.counters.iter().map(|counter| counter.name.as_str());
        let counter = find("counter", name, names)?;
        let cells = &self.machine.counters[counter];
        let last = first.saturating_add(count);
        match cells.get(first as usize..last as usize) {
            Some(cells) => Ok(cells.to_vec()),
            None => {
                let name = &self.program.counters[counter].name;
                Err(self.beyond("counter", name, last - 1, cells.len() as u64))
            }
        }
    }

    /// Sets all members of a parser value set: each has one value for each field of the
    /// select's key. Nothing changes when one does not fit.
    ///
    /// # Errors
    /// When there is no such set, or the values do not fit it.
    pub fn set_value_set(
        &mut self,
        name: &str,
        members: &[Vec<String>],
    ) -> Result<(), ControlError> {
        let names = self.program.value_sets.iter().map(|set| set.name.as_str());
        let set = find("value set", name, names)?;
        let declared = &self.program.value_sets[set];
        let place = format!("value set '{}'", declared.name);
        let mut keys = std::collections::BTreeSet::new();
        for values in members {
            if declared.parts.len() != values.len() {
                return Err(ControlError::Value {
                    place,
                    value: values.join(", "),
                    expected: format!("{} values", declared.parts.len()),
                });
            }
            let mut key = vec![];
            for (text, &width) in values.iter().zip(&declared.parts) {
                key.extend(number(&place, text, width)?);
            }
            keys.insert(key);
        }
        self.machine.value_sets[set] = keys;
        Ok(())
    }
}
