//! Members of parser value sets.

use super::entry::Match;
use super::error::ControlError;
use super::matches::open_match;
use super::names::find;
use crate::state::Members;
use crate::switch::Switch;

impl Switch {
    /// Replaces all members of a parser value set. Each member has one match, of any kind, for each
    /// part of the select's key; `None` matches any value. If one does not fit, nothing changes.
    ///
    /// # Errors
    /// If the set does not exist, or the matches do not fit it.
    pub fn set_value_set(
        &mut self,
        name: &str,
        members: &[Vec<Option<Match>>],
    ) -> Result<(), ControlError> {
        let names = self.model.program.value_sets.iter().map(|set| set.name.as_str());
        let set = find(&"value set", name, names)?;
        let declared = &self.model.program.value_sets[set];
        let object = || format!("value set '{}'", declared.name);
        let mut found = Members::default();
        for parts in members {
            if declared.parts.len() != parts.len() {
                return Err(ControlError::Value {
                    object: object(),
                    value: format!("a member of {} parts", parts.len()),
                    expected: format!("{} parts", declared.parts.len()),
                });
            }
            let parts = parts.iter().zip(&declared.parts);
            let parts = parts.map(|(part, &width)| open_match(&object, width, part.as_ref()));
            found.insert(parts.collect::<Result<_, _>>()?);
        }
        self.model.machine.state.value_sets[set] = found;
        Ok(())
    }
}
