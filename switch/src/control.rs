//! What a controller may do: tables, registers, counters, meters, clone sessions, multicast
//! groups and value sets, by the names of the P4 program.
//!
//! A name may be given in full or as the end of it after a dot, if only one object ends so.
//! Priorities are P4Runtime's: the larger number wins. Values are strings, decimal or
//! hexadecimal with `0x`.

mod idle;
mod lookup;
mod profiles;

pub use profiles::{ProfileGroup, ProfileMember};

use crate::externs::counter::Count;
use crate::externs::meter::MeterConfig;
use crate::load::value::{Integer, to_hex};
use crate::program::{KeyField, MatchKind, Table as Declared, limbs, mask};
use crate::switch::{CloneSession, Replica, Switch};
use crate::table::{Entry, FieldMatch, Refusal};
use narrows_common::Time;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What an entry asks of one field of the key. A field that is left out matches anything,
/// except where it must be exact.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Match {
    /// This value.
    Exact(String),
    /// These first bits: value and prefix length.
    Lpm(String, u32),
    /// These bits: value and mask.
    Ternary(String, String),
    /// From and to, inclusive.
    Range(String, String),
    /// This value; leave the field out for any.
    Optional(String),
}

/// A table entry.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableEntry {
    /// The table's name.
    pub table: String,
    /// Matches by the name of the key's field.
    #[serde(default)]
    pub matches: BTreeMap<String, Match>,
    /// The larger wins; for ternary and range tables.
    #[serde(default)]
    pub priority: i32,
    /// The action's name.
    pub action: String,
    /// The action's parameters by name.
    #[serde(default)]
    pub params: BTreeMap<String, String>,
}

/// A table's default action.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DefaultAction {
    /// The table's name.
    pub table: String,
    /// The action's name.
    pub action: String,
    /// The action's parameters by name.
    #[serde(default)]
    pub params: BTreeMap<String, String>,
}

/// Why the control plane was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ControlError {
    /// No object of that name.
    #[error("there is no {kind} '{name}'")]
    Unknown {
        /// Table, action of a table, register, ...
        kind: String,
        /// What was asked for.
        name: String,
    },
    /// Several objects end in that name.
    #[error("{kind} '{name}' is ambiguous: {found}")]
    Ambiguous {
        /// What it should be.
        kind: String,
        /// What was asked for.
        name: String,
        /// What it could mean.
        found: String,
    },
    /// A value of the wrong kind or size.
    #[error("{place}: '{value}': expected {expected}")]
    Value {
        /// Table and field, action and parameter, ...
        place: String,
        /// What was given.
        value: String,
        /// What was expected.
        expected: String,
    },
    /// A field or parameter that is needed is not given.
    #[error("{place}: '{name}' is missing")]
    Missing {
        /// Table or action.
        place: String,
        /// Field or parameter.
        name: String,
    },
    /// An entry with the same matches is there already.
    #[error("table '{0}': such an entry exists already")]
    Exists(String),
    /// The table's size is used up.
    #[error("table '{table}': full: its size is {size}")]
    Full {
        /// Which table.
        table: String,
        /// How many entries it holds.
        size: u64,
    },
    /// No entry with these matches.
    #[error("table '{0}': there is no such entry")]
    NotFound(String),
    /// Its number is taken.
    #[error("{what} exists already")]
    Present {
        /// Member or group, and its action profile.
        what: String,
    },
    /// Something else refers to it.
    #[error("{what} is in use")]
    InUse {
        /// Member or group, and its action profile.
        what: String,
    },
    /// Its size is used up.
    #[error("{what}: full: its size is {size}")]
    NoRoom {
        /// Which action profile.
        what: String,
        /// How much it holds.
        size: u64,
    },
    /// The program has fixed it.
    #[error("table '{table}': {what} is constant in the program")]
    Constant {
        /// Which table.
        table: String,
        /// Entries or default action.
        what: &'static str,
    },
    /// Beyond an array's end.
    #[error("{kind} '{name}': index {index}: expected below {size}")]
    Index {
        /// Register, counter or meter.
        kind: &'static str,
        /// Its name.
        name: String,
        /// What was asked for.
        index: u64,
        /// How many cells it has.
        size: u64,
    },
}

/// Finds a name in full, or as the only one that ends in it after a dot.
fn find<'a>(
    kind: &str,
    name: &str,
    all: impl Iterator<Item = &'a str> + Clone,
) -> Result<usize, ControlError> {
    if let Some(exact) = all.clone().position(|known| known == name) {
        return Ok(exact);
    }
    let ends = |known: &str| known.strip_suffix(name).is_some_and(|front| front.ends_with('.'));
    let mut found = all.clone().enumerate().filter(|(_, known)| ends(known));
    match (found.next(), found.next()) {
        (Some((at, _)), None) => Ok(at),
        (None, _) => Err(ControlError::Unknown { kind: kind.into(), name: name.into() }),
        (Some(_), Some(_)) => Err(ControlError::Ambiguous {
            kind: kind.into(),
            name: name.into(),
            found: all.filter(|known| ends(known)).collect::<Vec<_>>().join(", "),
        }),
    }
}

impl Switch {
    fn table(&self, name: &str) -> Result<usize, ControlError> {
        find("table", name, self.program.tables.iter().map(|table| table.name.as_str()))
    }

    /// Adds an entry.
    ///
    /// # Errors
    /// When it does not fit the table, exists already, or the table is full or constant.
    pub fn insert_entry(&mut self, entry: &TableEntry) -> Result<(), ControlError> {
        let (table, entry) = self.entry(entry)?;
        let declared = &self.program.tables[table];
        match self.machine.tables[table].insert(&self.program, declared, entry) {
            Ok(at) => {
                let meters = &mut self.machine.direct_meters[table];
                if declared.meter.is_some() {
                    meters.resize(meters.len().max(at as usize + 1), Default::default());
                    meters[at as usize] = Default::default();
                }
                Ok(())
            }
            Err(Refusal::Exists) => Err(ControlError::Exists(declared.name.clone())),
            Err(Refusal::Full) => {
                Err(ControlError::Full { table: declared.name.clone(), size: declared.max_size })
            }
        }
    }

    /// Gives an entry another action; its counter goes on.
    ///
    /// # Errors
    /// When it does not fit the table, there is no such entry, or the table is constant.
    pub fn modify_entry(&mut self, entry: &TableEntry) -> Result<(), ControlError> {
        let (table, entry) = self.entry(entry)?;
        let declared = &self.program.tables[table];
        let found = &mut self.machine.tables[table];
        match found.position(&entry.matches, entry.priority) {
            Some(at) => {
                found.modify(&self.program, declared, at, entry.action, entry.data);
                Ok(())
            }
            None => Err(ControlError::NotFound(declared.name.clone())),
        }
    }

    /// Removes the entry with these matches (and priority); the action does not matter.
    ///
    /// # Errors
    /// When there is no such entry, or the table is constant.
    pub fn delete_entry(&mut self, entry: &TableEntry) -> Result<(), ControlError> {
        let table = self.writable(&entry.table)?;
        let declared = &self.program.tables[table];
        let matches = matches(declared, &entry.matches)?;
        let found = &mut self.machine.tables[table];
        match found.position(&matches, entry.priority) {
            Some(at) => {
                found.remove(declared, at);
                Ok(())
            }
            None => Err(ControlError::NotFound(declared.name.clone())),
        }
    }

    /// A table whose entries are not fixed.
    fn writable(&self, name: &str) -> Result<usize, ControlError> {
        let table = self.table(name)?;
        let declared = &self.program.tables[table];
        if declared.entries.is_some() {
            return Err(ControlError::Constant { table: declared.name.clone(), what: "entries" });
        }
        Ok(table)
    }

    fn entry(&self, entry: &TableEntry) -> Result<(usize, Entry), ControlError> {
        let table = self.writable(&entry.table)?;
        let declared = &self.program.tables[table];
        let matches = matches(declared, &entry.matches)?;
        if declared.words == 0 {
            return Err(ControlError::Constant { table: declared.name.clone(), what: "the key" });
        }
        let (action, data) = self.action(declared, &entry.action, &entry.params)?;
        self.check_choice(declared, action, &data)?;
        Ok((table, Entry { matches, priority: entry.priority, action, data }))
    }

    fn action(
        &self,
        table: &Declared,
        name: &str,
        params: &BTreeMap<String, String>,
    ) -> Result<(u16, Vec<u64>), ControlError> {
        let actions = &self.program.actions;
        let names = table.actions.iter().map(|&action| actions[action as usize].name.as_str());
        let kind = format!("action of table '{}'", table.name);
        let action = table.actions[find(&kind, name, names)?];
        let found = &actions[action as usize];
        let place = format!("action '{}'", found.name);
        for given in params.keys() {
            if !found.parameters.iter().any(|parameter| parameter.name == *given) {
                let kind = format!("parameter of {place}");
                return Err(ControlError::Unknown { kind, name: given.clone() });
            }
        }
        let mut data = vec![];
        for parameter in &found.parameters {
            let Some(text) = params.get(&parameter.name) else {
                return Err(ControlError::Missing { place, name: parameter.name.clone() });
            };
            let place = format!("{place}, parameter '{}'", parameter.name);
            data.extend(number(&place, text, parameter.width)?);
        }
        Ok((action, data))
    }

    /// Sets what a table does on a miss.
    ///
    /// # Errors
    /// When the action is not one of the table's, or the default is constant.
    pub fn set_default_action(&mut self, default: &DefaultAction) -> Result<(), ControlError> {
        let table = self.table(&default.table)?;
        let declared = &self.program.tables[table];
        if declared.default_fixed {
            let what = "the default action";
            return Err(ControlError::Constant { table: declared.name.clone(), what });
        }
        let chosen = self.action(declared, &default.action, &default.params)?;
        self.check_default(declared, chosen.0)?;
        self.machine.tables[table].set_default(&self.program, declared, Some(chosen));
        Ok(())
    }

    /// A table's entries with their direct counters, in the order of their places.
    ///
    /// # Errors
    /// When there is no such table.
    pub fn entries(&self, table: &str) -> Result<Vec<(TableEntry, Count)>, ControlError> {
        let table = self.table(table)?;
        let declared = &self.program.tables[table];
        let found = &self.machine.tables[table];
        let entries = found.entries().map(|(at, entry)| {
            let entry = TableEntry {
                table: declared.name.clone(),
                matches: shown(declared, &entry.matches),
                priority: entry.priority,
                action: self.program.actions[entry.action as usize].name.clone(),
                params: self.params(entry),
            };
            (entry, found.count(at))
        });
        Ok(entries.collect())
    }

    /// A table's default action, if it has one.
    ///
    /// # Errors
    /// When there is no such table.
    pub fn default_action(&self, table: &str) -> Result<Option<DefaultAction>, ControlError> {
        let table = self.table(table)?;
        let declared = &self.program.tables[table];
        Ok(self.machine.tables[table].default_entry().map(|entry| DefaultAction {
            table: declared.name.clone(),
            action: self.program.actions[entry.action as usize].name.clone(),
            params: self.params(entry),
        }))
    }

    /// An entry's parameters by name.
    fn params(&self, entry: &Entry) -> BTreeMap<String, String> {
        self.params_of(entry.action, &entry.data)
    }

    fn params_of(&self, action: u16, data: &[u64]) -> BTreeMap<String, String> {
        let (mut params, mut at) = (BTreeMap::new(), 0);
        for parameter in &self.program.actions[action as usize].parameters {
            let count = limbs(parameter.width) as usize;
            params.insert(parameter.name.clone(), to_hex(&data[at..at + count]));
            at += count;
        }
        params
    }

    /// The direct counter of the entry with these matches.
    ///
    /// # Errors
    /// When there is no such entry, or the table has no direct counter.
    pub fn entry_count(&self, entry: &TableEntry) -> Result<Count, ControlError> {
        let table = self.table(&entry.table)?;
        let declared = &self.program.tables[table];
        if !declared.counted {
            let kind = "direct counter of table".into();
            return Err(ControlError::Unknown { kind, name: declared.name.clone() });
        }
        let matches = matches(declared, &entry.matches)?;
        let found = &self.machine.tables[table];
        match found.position(&matches, entry.priority) {
            Some(at) => Ok(found.count(at)),
            None => Err(ControlError::NotFound(declared.name.clone())),
        }
    }

    /// Sets the direct counter of the entry with these matches.
    ///
    /// # Errors
    /// As [`Switch::entry_count`].
    pub fn set_entry_count(
        &mut self,
        entry: &TableEntry,
        count: Count,
    ) -> Result<(), ControlError> {
        self.entry_count(entry)?;
        let table = self.table(&entry.table)?;
        let matches = matches(&self.program.tables[table], &entry.matches)?;
        let found = &mut self.machine.tables[table];
        if let Some(at) = found.position(&matches, entry.priority) {
            found.set_count(at, count);
        }
        Ok(())
    }

    fn register(&self, name: &str) -> Result<usize, ControlError> {
        let names = self.program.registers.iter().map(|register| register.name.as_str());
        find("register", name, names)
    }

    /// Reads a register cell of up to 64 bits.
    ///
    /// # Errors
    /// When there is no such cell, or it is wider.
    pub fn read_register(&self, name: &str, index: u64) -> Result<u64, ControlError> {
        let register = self.register(name)?;
        let declared = &self.program.registers[register];
        let cells = &self.machine.registers[register];
        match cells.cell(index) {
            Some([value]) => Ok(*value),
            Some(_) => Err(ControlError::Value {
                place: format!("register '{}'", declared.name),
                value: format!("{} bits", declared.width),
                expected: "at most 64 bits; read_register_hex has no limit".into(),
            }),
            None => Err(self.beyond("register", &declared.name, index, cells.len())),
        }
    }

    /// Reads a register cell of any width, in hexadecimal.
    ///
    /// # Errors
    /// When there is no such cell.
    pub fn read_register_hex(&self, name: &str, index: u64) -> Result<String, ControlError> {
        let register = self.register(name)?;
        let cells = &self.machine.registers[register];
        let declared = &self.program.registers[register];
        match cells.cell(index) {
            Some(limbs) => Ok(to_hex(limbs)),
            None => Err(self.beyond("register", &declared.name, index, cells.len())),
        }
    }

    /// Writes a register cell.
    ///
    /// # Errors
    /// When there is no such cell, or the value is too wide.
    pub fn write_register(
        &mut self,
        name: &str,
        index: u64,
        value: &str,
    ) -> Result<(), ControlError> {
        let register = self.register(name)?;
        let declared = &self.program.registers[register];
        let place = format!("register '{}'", declared.name);
        let value = number(&place, value, declared.width)?;
        if self.machine.registers[register].set(index, &value) {
            return Ok(());
        }
        let size = self.machine.registers[register].len();
        Err(self.beyond("register", &self.program.registers[register].name, index, size))
    }

    fn beyond(&self, kind: &'static str, name: &str, index: u64, size: u64) -> ControlError {
        ControlError::Index { kind, name: name.into(), index, size }
    }

    /// Reads a cell of an indirect counter.
    ///
    /// # Errors
    /// When there is no such cell.
    pub fn read_counter(&self, name: &str, index: u64) -> Result<Count, ControlError> {
        let names = self.program.counters.iter().map(|counter| counter.name.as_str());
        let counter = find("counter", name, names)?;
        let cells = &self.machine.counters[counter];
        match cells.get(index as usize) {
            Some(count) => Ok(*count),
            None => {
                let name = &self.program.counters[counter].name;
                Err(self.beyond("counter", name, index, cells.len() as u64))
            }
        }
    }

    /// Sets a cell of an indirect counter.
    ///
    /// # Errors
    /// When there is no such cell.
    pub fn write_counter(
        &mut self,
        name: &str,
        index: u64,
        count: Count,
    ) -> Result<(), ControlError> {
        self.read_counter(name, index)?;
        let names = self.program.counters.iter().map(|counter| counter.name.as_str());
        let counter = find("counter", name, names)?;
        self.machine.counters[counter][index as usize] = count;
        Ok(())
    }

    /// Configures a cell of an indirect meter; `None` makes it green for ever.
    ///
    /// # Errors
    /// When there is no such cell.
    pub fn configure_meter(
        &mut self,
        now: Time,
        name: &str,
        index: u64,
        config: Option<MeterConfig>,
    ) -> Result<(), ControlError> {
        let names = self.program.meters.iter().map(|meter| meter.name.as_str());
        let meter = find("meter", name, names)?;
        let cells = &mut self.machine.meters[meter];
        let size = cells.len() as u64;
        match cells.get_mut(index as usize) {
            Some(cell) => {
                cell.configure(now, config);
                Ok(())
            }
            None => Err(self.beyond("meter", &self.program.meters[meter].name, index, size)),
        }
    }

    /// Configures the direct meter of the entry with these matches.
    ///
    /// # Errors
    /// When there is no such entry, or the table has no direct meter.
    pub fn configure_entry_meter(
        &mut self,
        now: Time,
        entry: &TableEntry,
        config: Option<MeterConfig>,
    ) -> Result<(), ControlError> {
        let table = self.table(&entry.table)?;
        let declared = &self.program.tables[table];
        let matches = matches(declared, &entry.matches)?;
        let at = self.machine.tables[table].position(&matches, entry.priority);
        let cell = at.and_then(|at| self.machine.direct_meters[table].get_mut(at as usize));
        match cell {
            Some(cell) => {
                cell.configure(now, config);
                Ok(())
            }
            None => Err(ControlError::NotFound(declared.name.clone())),
        }
    }

    /// Sets a clone session; no replicas remove it.
    pub fn set_clone_session(&mut self, session: CloneSession) {
        if session.replicas.is_empty() {
            self.sessions.remove(&session.id);
        } else {
            self.sessions.insert(session.id, Arc::new(session));
        }
    }

    /// Sets a multicast group; no replicas remove it.
    pub fn set_multicast_group(&mut self, id: u32, replicas: &[Replica]) {
        if replicas.is_empty() {
            self.groups.remove(&id);
        } else {
            self.groups.insert(id, replicas.into());
        }
    }

    /// Adds a member to a parser value set: one value for each field of the select's key.
    ///
    /// # Errors
    /// When there is no such set, or the values do not fit it.
    pub fn insert_value_set_member(
        &mut self,
        name: &str,
        values: &[String],
    ) -> Result<(), ControlError> {
        let names = self.program.value_sets.iter().map(|set| set.name.as_str());
        let set = find("value set", name, names)?;
        let declared = &self.program.value_sets[set];
        let place = format!("value set '{}'", declared.name);
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
        self.machine.value_sets[set].insert(key);
        Ok(())
    }
}

fn number(place: &str, text: &str, width: u32) -> Result<Vec<u64>, ControlError> {
    let value = Integer::parse(text).and_then(|integer| integer.to_width(width));
    value.ok_or_else(|| ControlError::Value {
        place: place.into(),
        value: text.into(),
        expected: format!("a number of at most {width} bits, decimal or 0x..."),
    })
}

/// The matches of an entry, one for each field of the key.
fn matches(
    table: &Declared,
    given: &BTreeMap<String, Match>,
) -> Result<Vec<FieldMatch>, ControlError> {
    let mut by_field: Vec<Option<&Match>> = vec![None; table.key.len()];
    for (name, part) in given {
        let names = table.key.iter().map(|field| field.name.as_str());
        let field = find(&format!("key field of table '{}'", table.name), name, names)?;
        by_field[field] = Some(part);
    }
    let fields = table.key.iter().zip(by_field);
    fields.map(|(field, part)| field_match(table, field, part)).collect()
}

fn field_match(
    table: &Declared,
    field: &KeyField,
    part: Option<&Match>,
) -> Result<FieldMatch, ControlError> {
    let place = format!("table '{}', field '{}'", table.name, field.name);
    let value = |text: &str| number(&place, text, field.width);
    let wrong = |value: String, expected: String| {
        Err(ControlError::Value { place: place.clone(), value, expected })
    };
    let count = limbs(field.width);
    let ones: Vec<u64> = (0..u32::from(count)).map(|limb| mask(field.width - limb * 64)).collect();
    let zeros = vec![0; count as usize];
    let mut found = match (field.kind, part) {
        (MatchKind::Exact, Some(Match::Exact(text))) => FieldMatch::Exact(value(text)?),
        (MatchKind::Exact, None) => {
            let place = format!("table '{}'", table.name);
            return Err(ControlError::Missing { place, name: field.name.clone() });
        }
        (MatchKind::Lpm, Some(Match::Lpm(text, length))) => {
            if *length > field.width {
                return wrong(length.to_string(), format!("a prefix of 0 to {}", field.width));
            }
            FieldMatch::Lpm(value(text)?, *length)
        }
        (MatchKind::Lpm, Some(Match::Exact(text))) => FieldMatch::Lpm(value(text)?, field.width),
        (MatchKind::Lpm, None) => FieldMatch::Lpm(zeros, 0),
        (MatchKind::Ternary, Some(Match::Ternary(text, mask))) => {
            FieldMatch::Ternary(value(text)?, value(mask)?)
        }
        (MatchKind::Ternary, Some(Match::Exact(text) | Match::Optional(text))) => {
            FieldMatch::Ternary(value(text)?, ones)
        }
        (MatchKind::Ternary, None) => FieldMatch::Ternary(zeros.clone(), zeros),
        (MatchKind::Range, Some(Match::Range(from, to))) => {
            let (from, to) = (value(from)?, value(to)?);
            if from.iter().rev().gt(to.iter().rev()) {
                let shown = format!("{} to {}", to_hex(&from), to_hex(&to));
                return wrong(shown, "a range that is not empty".into());
            }
            FieldMatch::Range(from, to)
        }
        (MatchKind::Range, Some(Match::Exact(text))) => {
            FieldMatch::Range(value(text)?, value(text)?)
        }
        (MatchKind::Range, None) => FieldMatch::Range(zeros, ones),
        (kind, Some(other)) => {
            return wrong(format!("{other:?}"), format!("a match of kind {kind:?}").to_lowercase());
        }
    };
    crate::table::normalise(&mut found, field);
    Ok(found)
}

/// Matches as the control plane writes them; fields that match anything are left out.
fn shown(table: &Declared, matches: &[FieldMatch]) -> BTreeMap<String, Match> {
    let mut all = BTreeMap::new();
    for (field, part) in table.key.iter().zip(matches) {
        let part = match part {
            FieldMatch::Exact(value) => Match::Exact(to_hex(value)),
            FieldMatch::Lpm(_, 0) => continue,
            FieldMatch::Lpm(value, length) => Match::Lpm(to_hex(value), *length),
            FieldMatch::Ternary(_, mask) if mask.iter().all(|&limb| limb == 0) => continue,
            FieldMatch::Ternary(value, mask) => Match::Ternary(to_hex(value), to_hex(mask)),
            FieldMatch::Range(from, to) => Match::Range(to_hex(from), to_hex(to)),
        };
        all.insert(field.name.clone(), part);
    }
    all
}
