//! Finds objects by their names in the P4 program.

use super::error::ControlError;
use crate::switch::Switch;
use std::fmt::Display;

/// Finds an object by its full name, or by an unambiguous end of it after a dot. `kind` is for an
/// error.
pub(super) fn find<'a>(
    kind: &dyn Display,
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
        (None, _) => Err(ControlError::Unknown { kind: kind.to_string(), name: name.into() }),
        (Some(_), Some(_)) => Err(ControlError::Ambiguous {
            kind: kind.to_string(),
            name: name.into(),
            found: all.filter(|known| ends(known)).collect::<Vec<_>>().join(", "),
        }),
    }
}

impl Switch {
    pub(super) fn table(&self, name: &str) -> Result<usize, ControlError> {
        find(&"table", name, self.model.program.tables.iter().map(|table| table.name.as_str()))
    }
}
