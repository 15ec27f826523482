//! Statements of p4c's grammar on tables and counters.

use super::error::StfError;
use super::runner::Runner;
use super::words::{ends_in, find_field, params, part};
use crate::control::{DefaultAction, Match, TableEntry};
use crate::ir::MatchKind;
use std::collections::BTreeMap;

impl Runner {
    /// Removes `all` entries, or the one with this id.
    pub(super) fn remove(&mut self, what: &str) -> Result<(), String> {
        if !what.eq_ignore_ascii_case("all") {
            let entry = self.entries.remove(what).ok_or(format!("there is no entry '{what}'"))?;
            return self.switch.delete_entry(&entry).map_err(|error| error.to_string());
        }
        self.entries.clear();
        let program = self.switch.model.program.clone();
        for table in program.tables.iter().filter(|table| table.entries.is_none()) {
            let entries = self.switch.entries(&table.name).map_err(|error| error.to_string())?;
            for (entry, _) in entries {
                self.switch.delete_entry(&entry).map_err(|error| error.to_string())?;
            }
        }
        Ok(())
    }

    /// `table [priority] field:value ... action(name:value, ...) [= id]`
    pub(super) fn add(&mut self, rest: &str) -> Result<(), String> {
        let (rest, id) = match rest.rsplit_once('=') {
            Some((front, id)) if front.trim_end().ends_with(')') => (front, Some(id.trim())),
            _ => (rest, None),
        };
        let (head, arguments) = rest.split_once('(').ok_or("expected an action with ()")?;
        let mut words: Vec<&str> = head.split_whitespace().collect();
        let (action, table) = match (words.pop(), words.is_empty()) {
            (Some(action), false) => (action, words.remove(0)),
            _ => return Err("expected: add TABLE FIELD:VALUE ... ACTION(...)".into()),
        };
        let mut priority = None;
        if words.first().is_some_and(|word| !word.contains(':')) {
            let word = words.remove(0);
            let parsed = word.parse::<i32>().map_err(|_| format!("'{word}': no priority"))?;
            priority = Some(parsed);
        }
        let declared = self.find_table(table)?;
        let mut matches = BTreeMap::new();
        for field in &self.switch.model.program.tables[declared].key {
            // As in p4c's driver, an omitted field is zero if its match kind is exact.
            if field.kind == MatchKind::Exact {
                matches.insert(field.name.clone(), Match::Exact("0".into()));
            }
        }
        for word in words {
            let (name, value) = word.split_once(':').ok_or(format!("'{word}': no match"))?;
            let field = find_field(&self.switch.model.program.tables[declared].key, name)?;
            matches.insert(field.name.clone(), part(field, value)?);
        }
        let entry = TableEntry {
            table: self.switch.model.program.tables[declared].name.clone(),
            matches,
            priority: priority.unwrap_or(0),
            action: self.find_action(declared, action)?,
            params: params(arguments)?,
        };
        self.switch.insert_entry(&entry).map_err(|error| error.to_string())?;
        if let Some(id) = id {
            self.entries.insert(id.to_owned(), entry);
        }
        Ok(())
    }

    pub(super) fn set_default(&mut self, rest: &str) -> Result<(), String> {
        let (head, arguments) = rest.split_once('(').ok_or("expected an action with ()")?;
        let words: Vec<&str> = head.split_whitespace().collect();
        let [table, action] = words.as_slice() else {
            return Err("expected: setdefault TABLE ACTION(...)".into());
        };
        let declared = self.find_table(table)?;
        let default = DefaultAction {
            table: self.switch.model.program.tables[declared].name.clone(),
            action: self.find_action(declared, action)?,
            params: params(arguments)?,
        };
        self.switch.set_default_action(&default).map_err(|error| error.to_string())
    }

    pub(super) fn find_table(&self, name: &str) -> Result<usize, String> {
        let tables = &self.switch.model.program.tables;
        let names: Vec<&str> = tables.iter().map(|table| table.name.as_str()).collect();
        ends_in(&names, name).ok_or(format!("there is no table '{name}'"))
    }

    pub(super) fn find_action(&self, table: usize, name: &str) -> Result<String, String> {
        let actions = &self.switch.model.program.actions;
        let known = self.switch.model.program.tables[table].actions.iter();
        let names: Vec<&str> =
            known.map(|&action| actions[action as usize].name.as_str()).collect();
        // Some tests use a control's old name, which p4c has changed; then the last part decides.
        let last = name.rsplit('.').next().unwrap_or(name);
        let found = ends_in(&names, name).or_else(|| ends_in(&names, last));
        found.map(|at| names[at].to_owned()).ok_or(format!("there is no action '{name}'"))
    }

    /// `name(index) [packets|bytes condition number]`; the index may be an entry's `$id`.
    pub(super) fn check_counter(&mut self, line: usize, rest: &str) -> Result<(), String> {
        let (name, rest) = rest.split_once('(').ok_or("expected a counter with (index)")?;
        let (index, rest) = rest.split_once(')').ok_or("expected a closing )")?;
        let (name, index) = (name.trim(), index.trim());
        let count = match index.strip_prefix('$') {
            Some(id) => {
                let entry = self.entries.get(id).ok_or(format!("there is no entry '{id}'"))?;
                self.switch.entry_count(entry)
            }
            None => {
                let index = index.parse().map_err(|_| format!("'{index}': expected an index"))?;
                self.switch.read_counter(name, index)
            }
        };
        let count = count.map_err(|error| error.to_string())?;
        let words: Vec<&str> = rest.split_whitespace().collect();
        let (kind, condition, number) = match words.as_slice() {
            [] => ("packets", "==", "0"),
            [kind, condition, number] => (*kind, *condition, *number),
            _ => return Err("expected: packets|bytes CONDITION NUMBER".into()),
        };
        let wanted: u64 = number.parse().map_err(|_| format!("'{number}': expected a number"))?;
        let found = if kind == "bytes" { count.bytes } else { count.packets };
        let holds = match condition {
            "==" => found == wanted,
            "!=" => found != wanted,
            "<=" => found <= wanted,
            "<" => found < wanted,
            ">=" => found >= wanted,
            ">" => found > wanted,
            other => return Err(format!("'{other}': expected a comparison")),
        };
        if !holds {
            let message =
                format!("counter {name}({index}): {found} {kind}, not {condition} {wanted}");
            self.differences.push(StfError::Check { line, message });
        }
        Ok(())
    }
}
