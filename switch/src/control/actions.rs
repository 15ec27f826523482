//! Actions with their parameters, and default actions.

use super::entry::DefaultAction;
use super::error::ControlError;
use super::matches::number;
use super::names::find;
use crate::ir::{Table as Declared, limbs, to_hex};
use crate::switch::Switch;
use std::collections::BTreeMap;

impl Switch {
    /// Sets a table's default action.
    ///
    /// # Errors
    /// If the action is not one of the table's, or the default is constant.
    pub fn set_default_action(&mut self, default: &DefaultAction) -> Result<(), ControlError> {
        let table = self.table(&default.table)?;
        let declared = &self.model.program.tables[table];
        if declared.default_fixed {
            let what = "the default action";
            return Err(ControlError::Constant { table: declared.name.clone(), what });
        }
        let chosen = self.action(declared, &default.action, &default.params)?;
        self.check_default(declared, chosen.0)?;
        self.model.machine.state.tables[table].set_default(
            &self.model.program,
            declared,
            Some(&chosen),
        );
        self.table_changed(table);
        Ok(())
    }

    /// Resets a table's default action to the program's, which may be none.
    ///
    /// # Errors
    /// If the table does not exist.
    pub fn reset_default_action(&mut self, table: &str) -> Result<(), ControlError> {
        let table = self.table(table)?;
        let declared = &self.model.program.tables[table];
        let default = declared.default.as_ref();
        // What was in use stays so: the code for it still holds.
        self.model.machine.state.tables[table].set_default(&self.model.program, declared, default);
        Ok(())
    }

    /// A table's default action, if it has one.
    ///
    /// # Errors
    /// If the table does not exist.
    pub fn default_action(&self, table: &str) -> Result<Option<DefaultAction>, ControlError> {
        let table = self.table(table)?;
        let declared = &self.model.program.tables[table];
        Ok(self.model.machine.state.tables[table].default_action().map(|(action, data)| {
            DefaultAction {
                table: declared.name.clone(),
                action: self.model.program.actions[action as usize].name.clone(),
                params: self.params_of(action, data),
            }
        }))
    }

    pub(super) fn action(
        &self,
        table: &Declared,
        name: &str,
        params: &BTreeMap<String, String>,
    ) -> Result<(u16, Vec<u64>), ControlError> {
        let actions = &self.model.program.actions;
        let names = table.actions.iter().map(|&action| actions[action as usize].name.as_str());
        let found = find(&format_args!("action of table '{}'", table.name), name, names)?;
        let action = table.actions[found];
        let found = &actions[action as usize];
        let object = || format!("action '{}'", found.name);
        for given in params.keys() {
            if !found.parameters.iter().any(|parameter| parameter.name == *given) {
                let kind = format!("parameter of {}", object());
                return Err(ControlError::Unknown { kind, name: given.clone() });
            }
        }
        let mut data = vec![];
        for parameter in &found.parameters {
            let Some(text) = params.get(&parameter.name) else {
                return Err(ControlError::Missing {
                    object: object(),
                    name: parameter.name.clone(),
                });
            };
            let object = || format!("{}, parameter '{}'", object(), parameter.name);
            data.extend(number(&object, text, parameter.width)?);
        }
        Ok((action, data))
    }

    /// An action's parameters by name.
    pub(super) fn params_of(&self, action: u16, data: &[u64]) -> BTreeMap<String, String> {
        let (mut params, mut at) = (BTreeMap::new(), 0);
        for parameter in &self.model.program.actions[action as usize].parameters {
            let count = limbs(parameter.width) as usize;
            params.insert(parameter.name.clone(), to_hex(&data[at..at + count]));
            at += count;
        }
        params
    }
}
