//! simple_switch_CLI's commands for action profiles and value sets, and our own for
//! notifications: digests and idle entries.
//!
//! `expect_digest LIST VALUE ...` is the next digest. `expect_idle $ID ...` are exactly the entries
//! that have expired since the last `expect_idle`.

use super::error::StfError;
use super::runner::Runner;
use super::words::{decimal, ends_in, part};
use crate::control::{ControlError, Match, ProfileGroup, ProfileMember, TableEntry};
use crate::ir::{GROUP, MEMBER};
use crate::ir::{Integer, to_hex};
use narrows_common::Duration;
use std::collections::BTreeMap;

impl Runner {
    /// Executes a command.
    pub(super) fn command_of_profiles(
        &mut self,
        line: usize,
        command: &str,
        words: &[&str],
    ) -> Result<(), String> {
        let refused = |error: ControlError| error.to_string();
        let number = |word: &str| -> Result<u64, String> {
            word.parse().map_err(|_| format!("'{word}': expected a number"))
        };
        match (command, words) {
            // Members and groups are numbered from 0.
            ("act_prof_create_member", [profile, action, values @ ..]) => {
                let profile = (*profile).to_owned();
                let id = self.switch.members(&profile).map_err(refused)?.len() as u64;
                let (action, params) = self.params_in_order(action, values)?;
                let member = ProfileMember { profile, id, action, params };
                self.switch.insert_member(&member).map_err(refused)
            }
            ("act_prof_create_group", [profile]) => {
                let profile = (*profile).to_owned();
                let id = self.switch.groups(&profile).map_err(refused)?.len() as u64;
                let group = ProfileGroup { profile, id, members: vec![] };
                self.switch.insert_group(&group).map_err(refused)
            }
            ("act_prof_add_member_to_group", [profile, member, group]) => {
                let (member, group) = (number(member)?, number(group)?);
                let groups = self.switch.groups(profile).map_err(refused)?;
                let found = groups.into_iter().find(|known| known.id == group);
                let mut found = found.ok_or(format!("there is no group {group}"))?;
                found.members.push((member, 1));
                self.switch.modify_group(&found).map_err(refused)
            }
            ("table_indirect_add", [table, matches @ .., "=>", id]) => {
                self.add_indirect(table, matches, MEMBER, id)
            }
            ("table_indirect_add_with_group", [table, matches @ .., "=>", id]) => {
                self.add_indirect(table, matches, GROUP, id)
            }
            ("pvs_add", [set, value]) => {
                let member = self.value_set_member(set, value)?;
                self.value_sets.entry((*set).to_owned()).or_default().push(member);
                self.set_value_set(set)
            }
            ("pvs_remove", [set, value]) => {
                let member = self.value_set_member(set, value)?;
                let members = self.value_sets.entry((*set).to_owned()).or_default();
                members.retain(|known| *known != member);
                self.set_value_set(set)
            }
            ("pvs_clear", [set]) => {
                self.value_sets.remove(*set);
                self.set_value_set(set)
            }
            ("table_set_timeout", [_, id, milliseconds]) => {
                let timeout = Duration::from_ms(number(milliseconds)?);
                let entry = self.entry_named(id)?.clone();
                self.switch.set_idle_timeout(self.now, &entry, Some(timeout)).map_err(refused)
            }
            _ => self.notification(line, command, words),
        }
    }

    /// Checks notifications to a controller: digests and idle entries.
    fn notification(&mut self, line: usize, command: &str, words: &[&str]) -> Result<(), String> {
        let refused = |error: ControlError| error.to_string();
        match (command, words) {
            ("expect_digest", [list, values @ ..]) => {
                let found = self.switch.poll_digest();
                let found =
                    found.map(|digest| format!("{} {}", digest.list, digest.values.join(" ")));
                let values = values.iter().map(|value| hex_of(value));
                let values = values.collect::<Result<Vec<_>, _>>()?.join(" ");
                let wanted = format!("{list} {values}");
                if found.as_deref() != Some(wanted.trim_end()) {
                    let found = found.unwrap_or("none".into());
                    let message = format!("digest: {found}, not {wanted}");
                    self.differences.push(StfError::Check { line, message });
                }
                Ok(())
            }
            ("expect_idle", ids) => {
                let found = self.switch.take_expired(self.now);
                let mut wanted = vec![];
                for id in ids {
                    let found = self.switch.find_entry(self.entry_named(id)?).map_err(refused)?;
                    wanted.extend(found.map(|(entry, _)| entry));
                }
                if found != wanted {
                    let message = format!("idle: {found:?}, not {wanted:?}");
                    self.differences.push(StfError::Check { line, message });
                }
                Ok(())
            }
            _ => Err(format!("'{command}' is not supported in this form")),
        }
    }

    /// The entry that a statement added with this `$id`.
    fn entry_named(&self, id: &str) -> Result<&TableEntry, String> {
        let name = id.trim_start_matches('$');
        self.entries.get(name).ok_or(format!("there is no entry '{id}'"))
    }

    /// Finds an action by the end of its name, and names its parameters by position.
    fn params_in_order(
        &self,
        action: &str,
        values: &[&str],
    ) -> Result<(String, BTreeMap<String, String>), String> {
        let actions = &self.switch.model.program.actions;
        let names: Vec<&str> = actions.iter().map(|known| known.name.as_str()).collect();
        let at = ends_in(&names, action).ok_or(format!("there is no action '{action}'"))?;
        let parameters = &actions[at].parameters;
        if parameters.len() != values.len() {
            return Err(format!("action '{action}': expected {} parameters", parameters.len()));
        }
        let pairs = parameters.iter().zip(values);
        let pairs = pairs.map(|(known, value)| Ok((known.name.clone(), decimal(value)?)));
        Ok((actions[at].name.clone(), pairs.collect::<Result<_, String>>()?))
    }

    /// Adds an entry that refers to a member or a group; matches are in key order.
    fn add_indirect(
        &mut self,
        table: &str,
        matches: &[&str],
        action: &str,
        id: &str,
    ) -> Result<(), String> {
        let declared = &self.switch.model.program.tables[self.find_table(table)?];
        if declared.key.len() != matches.len() {
            return Err(format!("table '{table}': expected {} matches", declared.key.len()));
        }
        let pairs = declared.key.iter().zip(matches);
        let pairs = pairs.map(|(field, value)| Ok((field.name.clone(), part(field, value)?)));
        let entry = TableEntry {
            table: declared.name.clone(),
            matches: pairs.collect::<Result<_, String>>()?,
            priority: 0,
            action: action.to_owned(),
            params: [("id".to_owned(), id.to_owned())].into(),
        };
        self.switch.insert_entry(&entry).map_err(|error| error.to_string())
    }

    fn set_value_set(&mut self, name: &str) -> Result<(), String> {
        let members = self.value_sets.get(name).map_or(&[][..], Vec::as_slice);
        self.switch.set_value_set(name, members).map_err(|error| error.to_string())
    }

    /// Splits one number for the whole key, up to 128 bits as in bmv2, into the parts.
    fn value_set_member(&self, name: &str, value: &str) -> Result<Vec<Option<Match>>, String> {
        let sets = &self.switch.model.program.value_sets;
        let names: Vec<&str> = sets.iter().map(|set| set.name.as_str()).collect();
        let at = ends_in(&names, name).ok_or(format!("there is no value set '{name}'"))?;
        let widths = &sets[at].parts;
        let bits: u32 = widths.iter().sum();
        let whole = hex_of(value)?;
        let whole = u128::from_str_radix(&whole[2..], 16).ok();
        let whole = whole.filter(|whole| bits <= 128 && whole.checked_shr(bits).unwrap_or(0) == 0);
        let whole = whole.ok_or(format!("'{value}': expected a number of {bits} bits"))?;
        let mut below = bits;
        let parts = widths.iter().map(|&width| {
            below -= width;
            let part = whole >> below & (u128::MAX >> (128 - width));
            Some(Match::Exact(format!("{part:#x}")))
        });
        Ok(parts.collect())
    }
}

fn hex_of(value: &str) -> Result<String, String> {
    let number = Integer::parse(&decimal(value)?).ok_or(format!("'{value}': expected a number"))?;
    Ok(to_hex(&number.limbs))
}
