//! What a controller may do: tables, registers, counters, meters, clone sessions, multicast
//! groups and value sets, by the names of the P4 program.
//!
//! A name may be given in full or as the end of it after a dot, if only one object ends so.
//! Priorities are P4Runtime's: the larger number wins. Values are strings, decimal or
//! hexadecimal with `0x`.

mod actions;
mod cells;
mod entries;
mod error;
mod idle;
mod matches;
mod profiles;
mod value_sets;

pub use entries::CountedEntry;
pub use error::ControlError;
pub use profiles::{ProfileGroup, ProfileMember};

use crate::switch::{CloneSession, Replica, Switch};
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
}
