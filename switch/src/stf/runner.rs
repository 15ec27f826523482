//! A test while it runs.

use super::error::StfError;
use super::expectation::Expectation;
use crate::control::{Match, TableEntry};
use crate::state::Replica;
use crate::switch::Switch;
use narrows_common::Time;
use std::collections::BTreeMap;

/// A test's switch, and what it has sent so far.
pub(super) struct Runner {
    pub switch: Switch,
    pub now: Time,
    pub expected: BTreeMap<u16, Vec<Expectation>>,
    pub got: BTreeMap<u16, Vec<Vec<u8>>>,
    /// Replication nodes in the order of their creation, and the groups made of them.
    pub nodes: Vec<Vec<Replica>>,
    pub groups: BTreeMap<u32, Vec<usize>>,
    /// Clone sessions that lead to a group.
    pub mirrored: BTreeMap<u32, u32>,
    pub entries: BTreeMap<String, TableEntry>,
    pub value_sets: BTreeMap<String, Vec<Vec<Option<Match>>>>,
    /// Packets that came out since the last that went in.
    pub answers: usize,
    pub differences: Vec<StfError>,
}
