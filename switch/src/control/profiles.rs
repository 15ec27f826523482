//! Action profiles: their members, groups of members, and the entries that refer to either.
//!
//! An entry of such a table has the action `$member` or `$group` with the parameter `id`.

use super::error::ControlError;
use super::names::find;
use crate::ir::Table as Declared;
use crate::ir::{GROUP, MEMBER};
use crate::state::{Choice, Member};
use crate::switch::Switch;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// A member of an action profile: an action with its parameters.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProfileMember {
    /// The action profile's, or action selector's, name.
    pub profile: String,
    /// Its number, which the controller chooses.
    pub id: u64,
    /// The action's name.
    pub action: String,
    /// The action's parameters by name.
    #[serde(default)]
    pub params: BTreeMap<String, String>,
}

/// A group of members of an action selector.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProfileGroup {
    /// The action selector's name.
    pub profile: String,
    /// Its number, which the controller chooses.
    pub id: u64,
    /// Members and their weights, at least 1. The packet's hash modulo the sum of the weights
    /// selects a member, in the order of their numbers.
    pub members: Vec<(u64, u32)>,
}

/// The largest total weight of a profile's groups.
const WEIGHT_MAX: u64 = 1 << 20;

impl Switch {
    fn profile(&self, name: &str) -> Result<usize, ControlError> {
        find(&"action profile", name, self.model.program.profiles.iter().map(|p| p.name.as_str()))
    }

    fn profile_label(&self, profile: usize) -> String {
        format!("action profile '{}'", self.model.program.profiles[profile].name)
    }

    fn no_such(&self, profile: usize, what: &str, id: u64) -> ControlError {
        let kind = format!("{what} of {}", self.profile_label(profile));
        ControlError::Unknown { kind, name: id.to_string() }
    }

    /// The member's action, as declared by a table that shares the profile.
    fn member(&self, profile: usize, member: &ProfileMember) -> Result<Member, ControlError> {
        let of_profile = |table: &&Declared| table.profile == Some(profile as u16);
        let mut refused = ControlError::Unknown {
            kind: format!("action of {}", self.profile_label(profile)),
            name: member.action.clone(),
        };
        if member.action == MEMBER || member.action == GROUP {
            return Err(refused);
        }
        for table in self.model.program.tables.iter().filter(of_profile) {
            match self.action(table, &member.action, &member.params) {
                Ok((action, data)) => return Ok(Member { action, data }),
                Err(ControlError::Unknown { kind, .. }) if kind.starts_with("action") => {}
                Err(error) => refused = error,
            }
        }
        Err(refused)
    }

    /// Adds a member to an action profile.
    ///
    /// # Errors
    /// If the action does not fit, the number is taken, or the profile is full.
    pub fn insert_member(&mut self, member: &ProfileMember) -> Result<(), ControlError> {
        let profile = self.profile(&member.profile)?;
        let found = self.member(profile, member)?;
        let declared = &self.model.program.profiles[profile];
        let members = &self.model.machine.state.profiles[profile].members;
        if members.contains_key(&member.id) {
            let what = format!("member {} of {}", member.id, self.profile_label(profile));
            return Err(ControlError::Present { what });
        }
        // The size of an action selector limits its groups, not its members.
        let limited = declared.selector.is_none() && declared.max_size > 0;
        if limited && members.len() as u64 >= declared.max_size {
            let (what, size) = (self.profile_label(profile), declared.max_size);
            return Err(ControlError::NoRoom { what, size });
        }
        self.check_room(1)?;
        self.model.machine.state.profiles[profile].members.insert(member.id, found);
        Ok(())
    }

    /// Replaces a member's action, also for the entries and groups that refer to it.
    ///
    /// # Errors
    /// If the member does not exist, or the action does not fit.
    pub fn modify_member(&mut self, member: &ProfileMember) -> Result<(), ControlError> {
        let profile = self.profile(&member.profile)?;
        let found = self.member(profile, member)?;
        match self.model.machine.state.profiles[profile].members.get_mut(&member.id) {
            Some(known) => {
                *known = found;
                Ok(())
            }
            None => Err(self.no_such(profile, "member", member.id)),
        }
    }

    /// Removes a member.
    ///
    /// # Errors
    /// If the member does not exist, or an entry or a group names it.
    pub fn delete_member(&mut self, profile: &str, id: u64) -> Result<(), ControlError> {
        let profile = self.profile(profile)?;
        let found = &self.model.machine.state.profiles[profile];
        if !found.members.contains_key(&id) {
            return Err(self.no_such(profile, "member", id));
        }
        if found.is_grouped(id) || found.is_chosen(Choice::Member(id)) {
            let what = format!("member {id} of {}", self.profile_label(profile));
            return Err(ControlError::InUse { what });
        }
        self.model.machine.state.profiles[profile].members.remove(&id);
        Ok(())
    }

    /// An action profile's members, by number.
    ///
    /// # Errors
    /// If the profile does not exist.
    pub fn members(&self, profile: &str) -> Result<Vec<ProfileMember>, ControlError> {
        let profile = self.profile(profile)?;
        let members = self.model.machine.state.profiles[profile].members.iter();
        let shown = members.map(|(&id, member)| ProfileMember {
            profile: self.model.program.profiles[profile].name.clone(),
            id,
            action: self.model.program.actions[member.action as usize].name.clone(),
            params: self.params_of(member.action, &member.data),
        });
        Ok(shown.collect())
    }

    fn check_group(&self, profile: usize, group: &ProfileGroup) -> Result<(), ControlError> {
        let declared = &self.model.program.profiles[profile];
        if declared.selector.is_none() {
            let kind = "action selector".into();
            return Err(ControlError::Unknown { kind, name: declared.name.clone() });
        }
        let found = &self.model.machine.state.profiles[profile];
        let mut weight = found.weight(group.id);
        let mut seen = BTreeSet::new();
        for &(member, times) in &group.members {
            if !found.members.contains_key(&member) {
                return Err(self.no_such(profile, "member", member));
            }
            if times == 0 || !seen.insert(member) {
                return Err(ControlError::Value {
                    object: format!("group {} of {}", group.id, self.profile_label(profile)),
                    value: format!("member {member}, weight {times}"),
                    expected: "each member once, with a weight from 1".into(),
                });
            }
            weight = weight.saturating_add(u64::from(times));
        }
        let declared = if declared.max_size > 0 { declared.max_size } else { WEIGHT_MAX };
        let size = declared.min(WEIGHT_MAX);
        if weight > size {
            return Err(ControlError::NoRoom { what: self.profile_label(profile), size });
        }
        let own = found.groups().get(&group.id).map_or(0, |group| group.members.len());
        self.check_room((group.members.len() + 1).saturating_sub(own) as u64)
    }

    /// Adds a group of members. The entries of an empty group do nothing.
    ///
    /// # Errors
    /// If a member does not exist, the number is taken, or the weights exceed the size.
    pub fn insert_group(&mut self, group: &ProfileGroup) -> Result<(), ControlError> {
        let profile = self.profile(&group.profile)?;
        self.check_group(profile, group)?;
        if self.model.machine.state.profiles[profile].groups().contains_key(&group.id) {
            let what = format!("group {} of {}", group.id, self.profile_label(profile));
            return Err(ControlError::Present { what });
        }
        let members = group.members.iter().copied().collect();
        self.model.machine.state.profiles[profile].set_group(group.id, members);
        Ok(())
    }

    /// Replaces a group's members.
    ///
    /// # Errors
    /// If the group does not exist, a member does not exist, or the weights exceed the size.
    pub fn modify_group(&mut self, group: &ProfileGroup) -> Result<(), ControlError> {
        let profile = self.profile(&group.profile)?;
        self.check_group(profile, group)?;
        if !self.model.machine.state.profiles[profile].groups().contains_key(&group.id) {
            return Err(self.no_such(profile, "group", group.id));
        }
        let members = group.members.iter().copied().collect();
        self.model.machine.state.profiles[profile].set_group(group.id, members);
        Ok(())
    }

    /// Removes a group; its members remain.
    ///
    /// # Errors
    /// If the group does not exist, or an entry names it.
    pub fn delete_group(&mut self, profile: &str, id: u64) -> Result<(), ControlError> {
        let profile = self.profile(profile)?;
        let found = &self.model.machine.state.profiles[profile];
        if !found.groups().contains_key(&id) {
            return Err(self.no_such(profile, "group", id));
        }
        if found.is_chosen(Choice::Group(id)) {
            let what = format!("group {id} of {}", self.profile_label(profile));
            return Err(ControlError::InUse { what });
        }
        self.model.machine.state.profiles[profile].remove_group(id);
        Ok(())
    }

    /// An action selector's groups, by number.
    ///
    /// # Errors
    /// If the profile does not exist.
    pub fn groups(&self, profile: &str) -> Result<Vec<ProfileGroup>, ControlError> {
        let profile = self.profile(profile)?;
        let groups = self.model.machine.state.profiles[profile].groups().iter();
        let shown = groups.map(|(&id, group)| ProfileGroup {
            profile: self.model.program.profiles[profile].name.clone(),
            id,
            members: group.members.iter().map(|(&member, &weight)| (member, weight)).collect(),
        });
        Ok(shown.collect())
    }

    /// The profile of a table, and what an entry with this action refers to in it.
    pub(super) fn choice(
        &self,
        table: &Declared,
        action: u16,
        data: &[u64],
    ) -> Option<(usize, Choice)> {
        let profile = usize::from(table.profile?);
        match self.model.program.actions[action as usize].name.as_str() {
            MEMBER => Some((profile, Choice::Member(*data.first()?))),
            GROUP => Some((profile, Choice::Group(*data.first()?))),
            _ => None,
        }
    }

    /// In a plain table, an entry runs an action; in a table with an action profile, an existing
    /// member or group.
    pub(super) fn check_choice(
        &self,
        table: &Declared,
        action: u16,
        data: &[u64],
    ) -> Result<(), ControlError> {
        let Some(profile) = table.profile else { return Ok(()) };
        let found = &self.model.machine.state.profiles[profile as usize];
        let name = self.model.program.actions[action as usize].name.as_str();
        let id = data.first().copied().unwrap_or(0);
        match name {
            MEMBER if found.members.contains_key(&id) => Ok(()),
            MEMBER => Err(self.no_such(profile as usize, "member", id)),
            GROUP if found.groups().contains_key(&id) => Ok(()),
            GROUP => Err(self.no_such(profile as usize, "group", id)),
            _ => Err(ControlError::Value {
                object: format!("table '{}'", table.name),
                value: name.into(),
                expected: format!("a {MEMBER} or {GROUP} of its action profile"),
            }),
        }
    }

    /// A default action must be an action, not a member or a group.
    pub(super) fn check_default(&self, table: &Declared, action: u16) -> Result<(), ControlError> {
        let name = self.model.program.actions[action as usize].name.as_str();
        if name != MEMBER && name != GROUP {
            return Ok(());
        }
        Err(ControlError::Value {
            object: format!("table '{}', default action", table.name),
            value: name.into(),
            expected: "an action with its parameters".into(),
        })
    }
}
