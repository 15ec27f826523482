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

#[derive(Clone, Debug, Default)]
pub(crate) struct Profile {
    pub members: BTreeMap<u64, Member>,
    pub groups: BTreeMap<u64, Group>,
}

impl Profile {
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
        let weighted = members.iter().flat_map(times).collect();
        self.groups.insert(id, Group { members, weighted });
    }

    /// The total weight of all groups except `except`.
    pub(crate) fn weight(&self, except: u64) -> u64 {
        let groups = self.groups.iter().filter(|(id, _)| **id != except);
        groups.map(|(_, group)| group.weighted.len() as u64).sum()
    }
}
