//! Action profiles at run time: members, and groups of members.

use std::collections::BTreeMap;

/// An action with its parameters.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub action: u16,
    pub data: Vec<u64>,
}

/// Members with their weights.
#[derive(Clone, Debug, Default)]
pub(crate) struct Group {
    pub members: BTreeMap<u64, u32>,
    /// Each member as often as its weight, in number order: bmv2's order for weights of 1.
    weighted: Vec<u64>,
}

/// What an entry of a table with an action profile refers to, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Choice {
    Member(u64),
    Group(u64),
}

/// An action profile. It counts references, so that no operation visits all entries or groups.
#[derive(Clone, Debug, Default)]
pub(crate) struct Profile {
    pub members: BTreeMap<u64, Member>,
    groups: BTreeMap<u64, Group>,
    /// The total weight of all groups.
    weight: u64,
    /// The members of all groups, counted.
    grouped: u64,
    /// For each member, the groups that have it.
    groups_of: BTreeMap<u64, u32>,
    /// The entries that refer to a member or group.
    entries_of: BTreeMap<Choice, u32>,
}

impl Profile {
    pub(crate) fn groups(&self) -> &BTreeMap<u64, Group> {
        &self.groups
    }

    /// Members, groups, and the members of groups.
    pub(crate) fn len(&self) -> u64 {
        (self.members.len() + self.groups.len()) as u64 + self.grouped
    }

    pub(crate) fn member(&self, id: u64) -> Option<&Member> {
        self.members.get(&id)
    }

    /// The member of a group that a hash selects.
    pub(crate) fn chosen(&self, group: u64, hash: u64) -> Option<&Member> {
        let weighted = self.groups.get(&group)?.weighted.as_slice();
        let at = hash.checked_rem(weighted.len() as u64)?;
        self.member(weighted[at as usize])
    }

    pub(crate) fn set_group(&mut self, id: u64, members: BTreeMap<u64, u32>) {
        let times = |(&member, &weight): (&u64, &u32)| std::iter::repeat_n(member, weight as usize);
        let weighted: Vec<u64> = members.iter().flat_map(times).collect();
        self.remove_group(id);
        for &member in members.keys() {
            *self.groups_of.entry(member).or_default() += 1;
        }
        self.weight += weighted.len() as u64;
        self.grouped += members.len() as u64;
        self.groups.insert(id, Group { members, weighted });
    }

    /// Removes a group, if it exists.
    pub(crate) fn remove_group(&mut self, id: u64) {
        let Some(group) = self.groups.remove(&id) else { return };
        for member in group.members.keys() {
            release(&mut self.groups_of, member);
        }
        self.weight -= group.weighted.len() as u64;
        self.grouped -= group.members.len() as u64;
    }

    /// The total weight of all groups except `except`.
    pub(crate) fn weight(&self, except: u64) -> u64 {
        let own = self.groups.get(&except).map_or(0, |group| group.weighted.len() as u64);
        self.weight - own
    }

    /// Whether a group has this member.
    pub(crate) fn is_grouped(&self, member: u64) -> bool {
        self.groups_of.contains_key(&member)
    }

    /// Whether an entry refers to it.
    pub(crate) fn is_chosen(&self, choice: Choice) -> bool {
        self.entries_of.contains_key(&choice)
    }

    /// An entry refers to `new` instead of `old`.
    pub(crate) fn choose(&mut self, old: Option<Choice>, new: Option<Choice>) {
        if let Some(new) = new {
            *self.entries_of.entry(new).or_default() += 1;
        }
        if let Some(old) = old {
            release(&mut self.entries_of, &old);
        }
    }
}

/// Counts one reference less.
fn release<K: Ord>(counts: &mut BTreeMap<K, u32>, key: &K) {
    if let Some(count) = counts.get_mut(key) {
        *count -= 1;
        if *count == 0 {
            counts.remove(key);
        }
    }
}
