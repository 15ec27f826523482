//! All state of one switch that outlives a packet.

use super::counter::Count;
use super::meter::Meter;
use super::profile::Profile;
use super::register::Registers;
use super::replication::{CloneSession, Replica};
use super::tables::Table;
use super::value_set::Members;
use crate::ir::{COUNTER_BYTES, METER_BYTES, Program};
use std::collections::BTreeMap;
use std::sync::Arc;

// What the loader takes from a program's budget.
const _: () = assert!(size_of::<Count>() as u64 <= COUNTER_BYTES);
const _: () = assert!(size_of::<Meter>() as u64 <= METER_BYTES);

/// Tables, externs and replication of one switch.
pub(crate) struct State {
    pub tables: Vec<Table>,
    pub registers: Registers,
    pub counters: Vec<Vec<Count>>,
    pub meters: Vec<Vec<Meter>>,
    /// By table, then by entry number.
    pub direct_meters: Vec<Vec<Meter>>,
    pub value_sets: Vec<Members>,
    pub profiles: Vec<Profile>,
    pub clone_sessions: BTreeMap<u32, Arc<CloneSession>>,
    pub multicast_groups: BTreeMap<u32, Arc<[Replica]>>,
}

impl State {
    /// Empty state, except the program's own entries.
    pub(crate) fn new(program: &Program) -> Self {
        let sized = |size: u64| size as usize;
        State {
            tables: program.tables.iter().map(|table| Table::new(program, table)).collect(),
            registers: Registers::new(&program.registers),
            counters: program
                .counters
                .iter()
                .map(|counter| vec![Count::default(); sized(counter.size)])
                .collect(),
            meters: program
                .meters
                .iter()
                .map(|meter| vec![Meter::default(); sized(meter.size)])
                .collect(),
            direct_meters: vec![vec![]; program.tables.len()],
            value_sets: vec![Members::default(); program.value_sets.len()],
            profiles: vec![Profile::default(); program.profiles.len()],
            clone_sessions: BTreeMap::new(),
            multicast_groups: BTreeMap::new(),
        }
    }
}
