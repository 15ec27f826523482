//! Table entries and their direct counters.

use super::entry::TableEntry;
use super::error::ControlError;
use super::matches::{matches, shown};
use crate::ir::Table as Declared;
use crate::state::tables::{Entry, Refusal};
use crate::state::{Count, Profile};
use crate::switch::Switch;
use narrows_common::budgets;

/// An entry with its direct counter; 0 if the table has none.
pub type CountedEntry = (TableEntry, Count);

impl Switch {
    /// Adds an entry.
    ///
    /// # Errors
    /// If it does not fit the table, already exists, or the table is full or constant.
    pub fn insert_entry(&mut self, entry: &TableEntry) -> Result<(), ControlError> {
        let (table, entry) = self.entry(entry)?;
        self.check_room(1)?;
        let declared = &self.model.program.tables[table];
        let choice = self.choice(declared, entry.action, &entry.data);
        match self.model.machine.state.tables[table].insert(&self.model.program, declared, entry) {
            Ok(at) => {
                if let Some((profile, choice)) = choice {
                    self.model.machine.state.profiles[profile].choose(None, Some(choice));
                }
                let meters = &mut self.model.machine.state.direct_meters[table];
                if declared.meter.is_some() {
                    meters.resize(meters.len().max(at as usize + 1), Default::default());
                    meters[at as usize] = Default::default();
                }
                self.table_changed(table);
                Ok(())
            }
            Err(Refusal::Exists) => Err(ControlError::Exists(declared.name.clone())),
            Err(Refusal::Full) => {
                Err(ControlError::Full { table: declared.name.clone(), size: declared.max_size })
            }
        }
    }

    /// Replaces an entry's action; its counter keeps its value.
    ///
    /// # Errors
    /// If it does not fit the table, the entry does not exist, or the table is constant.
    pub fn modify_entry(&mut self, entry: &TableEntry) -> Result<(), ControlError> {
        let (table, entry) = self.entry(entry)?;
        let declared = &self.model.program.tables[table];
        let found = &mut self.model.machine.state.tables[table];
        match found.position(&entry.matches, entry.priority) {
            Some(at) => {
                let old = found.entry(at);
                found.modify(&self.model.program, declared, at, entry.action, &entry.data);
                self.rechoose(table, old.as_ref(), Some(&entry));
                Ok(())
            }
            None => Err(ControlError::NotFound(declared.name.clone())),
        }
    }

    /// Removes the entry with these matches and priority; the action is ignored.
    ///
    /// # Errors
    /// If the entry does not exist, or the table is constant.
    pub fn delete_entry(&mut self, entry: &TableEntry) -> Result<(), ControlError> {
        let table = self.writable(&entry.table)?;
        let declared = &self.model.program.tables[table];
        let matches = matches(declared, &entry.matches)?;
        let found = &mut self.model.machine.state.tables[table];
        match found.position(&matches, entry.priority) {
            Some(at) => {
                let old = found.entry(at);
                found.remove(declared, at);
                self.rechoose(table, old.as_ref(), None);
                Ok(())
            }
            None => Err(ControlError::NotFound(declared.name.clone())),
        }
    }

    /// Counts what a table's entry refers to: `new` in place of `old`.
    fn rechoose(&mut self, table: usize, old: Option<&Entry>, new: Option<&Entry>) {
        let declared = &self.model.program.tables[table];
        let of = |entry: Option<&Entry>| {
            entry.and_then(|entry| self.choice(declared, entry.action, &entry.data))
        };
        let (old, new) = (of(old), of(new));
        if let Some((profile, _)) = old.or(new) {
            let (old, new) = (old.map(|(_, choice)| choice), new.map(|(_, choice)| choice));
            self.model.machine.state.profiles[profile].choose(old, new);
        }
    }

    /// Whether the budget of entries has room for so many more.
    ///
    /// # Errors
    /// If it has not.
    pub(super) fn check_room(&self, more: u64) -> Result<(), ControlError> {
        let state = &self.model.machine.state;
        let entries: u64 = state.tables.iter().map(|table| table.len() as u64).sum();
        let of_profiles: u64 = state.profiles.iter().map(Profile::len).sum();
        let size = budgets::ENTRIES_OF_A_SWITCH;
        if entries + of_profiles + more > size {
            let what = "entries, members and groups of all tables".into();
            return Err(ControlError::NoRoom { what, size });
        }
        Ok(())
    }

    /// The number of a table that a controller can write to.
    fn writable(&self, name: &str) -> Result<usize, ControlError> {
        let table = self.table(name)?;
        let declared = &self.model.program.tables[table];
        if declared.entries.is_some() {
            return Err(ControlError::Constant { table: declared.name.clone(), what: "entries" });
        }
        Ok(table)
    }

    fn entry(&self, entry: &TableEntry) -> Result<(usize, Entry), ControlError> {
        let table = self.writable(&entry.table)?;
        let declared = &self.model.program.tables[table];
        let matches = matches(declared, &entry.matches)?;
        if declared.words == 0 {
            return Err(ControlError::Constant { table: declared.name.clone(), what: "the key" });
        }
        let (action, data) = self.action(declared, &entry.action, &entry.params)?;
        self.check_choice(declared, action, &data)?;
        Ok((table, Entry { matches, priority: entry.priority, action, data }))
    }

    /// The entry with these matches and priority, and its direct counter. The action of `entry` is
    /// ignored.
    ///
    /// # Errors
    /// If the table does not exist, or the matches do not fit it.
    pub fn find_entry(
        &self,
        entry: &TableEntry,
    ) -> Result<Option<(TableEntry, Count)>, ControlError> {
        let table = self.table(&entry.table)?;
        let declared = &self.model.program.tables[table];
        let matches = matches(declared, &entry.matches)?;
        let found = &self.model.machine.state.tables[table];
        let Some(at) = found.position(&matches, entry.priority) else { return Ok(None) };
        let Some(stored) = found.entry(at) else { return Ok(None) };
        Ok(Some((self.shown_entry(declared, &stored), found.count(at))))
    }

    /// A table's entries with their direct counters, in number order.
    ///
    /// # Errors
    /// If the table does not exist.
    pub fn entries(&self, table: &str) -> Result<Vec<CountedEntry>, ControlError> {
        Ok(self.entries_from(table, 0, usize::MAX)?.0)
    }

    /// At most `count` entries of a table, and the number to continue at. So a controller can read
    /// a large table without holding the switch throughout.
    ///
    /// # Errors
    /// If the table does not exist.
    pub fn entries_from(
        &self,
        table: &str,
        first: u32,
        most: usize,
    ) -> Result<(Vec<CountedEntry>, Option<u32>), ControlError> {
        let table = self.table(table)?;
        let declared = &self.model.program.tables[table];
        let found = &self.model.machine.state.tables[table];
        let entries = found.entries_from(first).take(most);
        let mut next = None;
        let entries = entries.map(|(at, entry)| {
            next = Some(at + 1);
            (self.shown_entry(declared, &entry), found.count(at))
        });
        let entries: Vec<_> = entries.collect();
        Ok((entries, next))
    }

    /// An entry in the control plane's form.
    pub(super) fn shown_entry(&self, table: &Declared, entry: &Entry) -> TableEntry {
        TableEntry {
            table: table.name.clone(),
            matches: shown(table, &entry.matches),
            priority: entry.priority,
            action: self.model.program.actions[entry.action as usize].name.clone(),
            params: self.params_of(entry.action, &entry.data),
        }
    }

    /// The direct counter of the entry with these matches.
    ///
    /// # Errors
    /// If the entry does not exist, or the table has no direct counter.
    pub fn entry_count(&self, entry: &TableEntry) -> Result<Count, ControlError> {
        let table = self.counted(&entry.table)?;
        let declared = &self.model.program.tables[table];
        let matches = matches(declared, &entry.matches)?;
        let found = &self.model.machine.state.tables[table];
        match found.position(&matches, entry.priority) {
            Some(at) => Ok(found.count(at)),
            None => Err(ControlError::NotFound(declared.name.clone())),
        }
    }

    /// The direct counter of a table's default action: packets that ran it after a miss.
    ///
    /// # Errors
    /// If the table does not exist, or it has no direct counter.
    pub fn default_count(&self, table: &str) -> Result<Count, ControlError> {
        Ok(self.model.machine.state.tables[self.counted(table)?].missed())
    }

    /// Sets the direct counter of a table's default action.
    ///
    /// # Errors
    /// Those of [`Switch::default_count`].
    pub fn set_default_count(&mut self, table: &str, count: Count) -> Result<(), ControlError> {
        let table = self.counted(table)?;
        self.model.machine.state.tables[table].set_missed(count);
        Ok(())
    }

    /// The number of a table with a direct counter.
    fn counted(&self, name: &str) -> Result<usize, ControlError> {
        let table = self.table(name)?;
        let declared = &self.model.program.tables[table];
        if declared.counted {
            return Ok(table);
        }
        let kind = "direct counter of table".into();
        Err(ControlError::Unknown { kind, name: declared.name.clone() })
    }

    /// Sets the direct counter of the entry with these matches.
    ///
    /// # Errors
    /// Those of [`Switch::entry_count`].
    pub fn set_entry_count(
        &mut self,
        entry: &TableEntry,
        count: Count,
    ) -> Result<(), ControlError> {
        self.entry_count(entry)?;
        let table = self.table(&entry.table)?;
        let matches = matches(&self.model.program.tables[table], &entry.matches)?;
        let found = &mut self.model.machine.state.tables[table];
        if let Some(at) = found.position(&matches, entry.priority) {
            found.set_count(at, count);
        }
        Ok(())
    }
}
