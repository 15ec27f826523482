//! Action profiles: a table's entries refer to a member or a group instead of an action.
//!
//! To the control plane that is an action like any other, `$member` or `$group`, with the parameter
//! `id`. To the interpreter it is one operation.

use super::error::LoadError;
use super::json::{Pipeline, Table as JsonTable};
use super::loader::Loader;
use crate::ir::{Action, ActionProfile, GROUP, MEMBER, Op, Parameter};

impl Loader<'_> {
    pub(super) fn action_profiles(&mut self, pipeline: &Pipeline) -> Result<(), LoadError> {
        for profile in &pipeline.action_profiles {
            self.names.location = format!("action profile '{}'", profile.name);
            let selector = match &profile.selector {
                Some(selector) => {
                    let found = self.calculation(&selector.algo, &selector.input)?;
                    self.program.calculations.push(found);
                    Some((self.program.calculations.len() - 1) as u16)
                }
                None => None,
            };
            let (name, max_size) = (profile.name.clone(), profile.max_size);
            self.program.profiles.push(ActionProfile { name, max_size, selector });
        }
        Ok(())
    }

    /// The profile of an indirect table.
    pub(super) fn table_profile(&self, table: &JsonTable) -> Result<Option<u16>, LoadError> {
        match table.kind.as_str() {
            "simple" => return Ok(None),
            "indirect" | "indirect_ws" => {}
            other => return Err(self.names.unsupported("the table type", other)),
        }
        // p4c-bm2-ss omits them, and bmv2's format has no key for them.
        if table.entries.iter().any(|all| !all.is_empty()) {
            let what = "constant entries in a table of an action profile,";
            return Err(self.names.unsupported(what, &table.name));
        }
        let name = table.action_profile.as_deref().unwrap_or("");
        match self.program.profiles.iter().position(|profile| profile.name == name) {
            Some(profile) => Ok(Some(profile as u16)),
            None => Err(self.names.unknown("action profile", name)),
        }
    }

    /// The actions by which the entries of the next table select from a profile.
    pub(super) fn choices(&mut self, profile: u16) -> Vec<u16> {
        let table = self.program.tables.len() as u16;
        let groups = self.program.profiles[profile as usize].selector.is_some();
        let kinds = [(MEMBER, false), (GROUP, true)];
        let kinds = kinds.into_iter().filter(|(_, group)| groups || !group);
        kinds
            .map(|(name, group)| {
                let code = self.emit(Op::Choose { table, group });
                let parameters = vec![Parameter { name: "id".into(), width: 64 }];
                self.program.actions.push(Action { name: name.into(), parameters, code, limbs: 1 });
                (self.program.actions.len() - 1) as u16
            })
            .collect()
    }
}
