//! The state of a running test.

use super::error::StfError;
use super::expectation::Expectation;
use crate::control::{Match, TableEntry};
use crate::state::Replica;
use crate::switch::Switch;
use narrows_common::Time;
use std::collections::BTreeMap;

/// A test's switch, and the packets that it has sent.
pub(super) struct Runner {
    pub switch: Switch,
    pub now: Time,
    pub expected: BTreeMap<u16, Vec<Expectation>>,
    pub got: BTreeMap<u16, Vec<Vec<u8>>>,
    /// Replication nodes in creation order, and the groups that use them.
    pub nodes: Vec<Vec<Replica>>,
    pub groups: BTreeMap<u32, Vec<usize>>,
    /// Clone sessions that use a group.
    pub mirrored: BTreeMap<u32, u32>,
    pub entries: BTreeMap<String, TableEntry>,
    pub value_sets: BTreeMap<String, Vec<Vec<Option<Match>>>>,
    /// Packets sent since the last packet that the test injected.
    pub answers: usize,
    pub differences: Vec<StfError>,
}
