//! Idle time-outs of entries, for tables that the program declares with `support_timeout`.

use super::entry::TableEntry;
use super::error::ControlError;
use super::matches::matches;
use crate::switch::Switch;
use narrows_common::{Duration, Time};

impl Switch {
    /// The numbers of an entry's table and of the entry; the table must support idle time-outs.
    fn entry_with_timeout(&self, entry: &TableEntry) -> Result<(usize, u32), ControlError> {
        let table = self.table(&entry.table)?;
        let declared = &self.model.program.tables[table];
        if !declared.idle {
            let kind = "idle time-out of table".into();
            return Err(ControlError::Unknown { kind, name: declared.name.clone() });
        }
        let matches = matches(declared, &entry.matches)?;
        match self.model.machine.state.tables[table].position(&matches, entry.priority) {
            Some(at) => Ok((table, at)),
            None => Err(ControlError::NotFound(declared.name.clone())),
        }
    }

    /// Sets how long the entry with these matches may go without a hit, starting at `now`; `None`
    /// removes the time-out. An expired entry stays in the table: see [`Switch::take_expired`].
    ///
    /// # Errors
    /// If the entry does not exist, or its table has no idle time-outs.
    pub fn set_idle_timeout(
        &mut self,
        now: Time,
        entry: &TableEntry,
        timeout: Option<Duration>,
    ) -> Result<(), ControlError> {
        let (table, at) = self.entry_with_timeout(entry)?;
        self.model.machine.state.tables[table].set_timeout(at, now, timeout);
        Ok(())
    }

    /// The idle time-out of the entry with these matches.
    ///
    /// # Errors
    /// If the entry does not exist, or its table has no idle time-outs.
    pub fn idle_timeout(&self, entry: &TableEntry) -> Result<Option<Duration>, ControlError> {
        let (table, at) = self.entry_with_timeout(entry)?;
        Ok(self.model.machine.state.tables[table].timeout(at))
    }

    /// Time since the last hit of the entry with these matches, or since its time-out was set.
    ///
    /// # Errors
    /// If the entry does not exist, or its table has no idle time-outs.
    pub fn since_hit(&self, now: Time, entry: &TableEntry) -> Result<Duration, ControlError> {
        let (table, at) = self.entry_with_timeout(entry)?;
        Ok(self.model.machine.state.tables[table].since_hit(at, now))
    }

    /// The entries without a hit for longer than their time-outs. Each is reported once until its
    /// next hit.
    pub fn take_expired(&mut self, now: Time) -> Vec<TableEntry> {
        let mut expired = vec![];
        for (table, declared) in self.model.program.tables.iter().enumerate() {
            if !declared.idle {
                continue;
            }
            for at in self.model.machine.state.tables[table].take_expired(now) {
                let Some(entry) = self.model.machine.state.tables[table].entry(at) else {
                    continue;
                };
                expired.push(self.shown_entry(declared, &entry));
            }
        }
        expired
    }

    /// When the next entry expires if no packet hits one before.
    pub fn next_expiry(&self) -> Option<Time> {
        let tables = self.model.program.tables.iter().zip(&self.model.machine.state.tables);
        tables.filter(|(table, _)| table.idle).filter_map(|(_, table)| table.next_expiry()).min()
    }
}
