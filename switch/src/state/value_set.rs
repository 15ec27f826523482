//! Parser value sets at run time.

use crate::ir::FieldMatch;
use std::collections::BTreeSet;

/// The members of a value set: exact keys in a hash set; members with wildcards in a list, compared
/// one by one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Members {
    exact: BTreeSet<Vec<u64>>,
    open: Vec<Vec<FieldMatch>>,
}

impl Members {
    /// Adds a member: a match, in limbs, for each part of the key.
    pub(crate) fn insert(&mut self, parts: Vec<FieldMatch>) {
        let values = parts.iter().map(|part| match part {
            FieldMatch::Exact(value) => Some(value.as_slice()),
            _ => None,
        });
        match values.collect::<Option<Vec<_>>>() {
            Some(values) => drop(self.exact.insert(values.concat())),
            None => self.open.push(parts),
        }
    }

    /// Whether a key, limb by limb, is a member.
    pub(crate) fn contains(&self, key: &[u64]) -> bool {
        self.exact.contains(key) || self.open.iter().any(|parts| holds(parts, key))
    }
}

fn holds(parts: &[FieldMatch], mut key: &[u64]) -> bool {
    parts.iter().all(|part| {
        let (value, rest) = key.split_at(part.limbs());
        key = rest;
        part.holds(value)
    })
}
