//! A v1model switch: the program's machine, the queues, and the pending work between them.

use super::item::{Item, Transmit};
use super::phases::Phases;
use super::spare::Spare;
use super::statistics::Statistics;
use super::work::{Handover, Work};
use crate::interpreter::Machine;
use crate::ir::{FieldList, Program, Slot, limbs, to_hex};
use crate::jit::MachineCode;
use narrows_common::{Rng, Time, budgets};
use narrows_queueing::TrafficManager;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

/// The unit of timestamps and queueing delays that the program sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TimestampUnit {
    /// Nanoseconds since the run started.
    Ns,
    /// Microseconds, as in bmv2.
    Us,
}

impl TimestampUnit {
    /// A time in the program's unit.
    pub(super) fn of(self, at: Time) -> u64 {
        match self {
            TimestampUnit::Ns => at.as_ns(),
            TimestampUnit::Us => at.as_us(),
        }
    }
}

/// A digest: values of the fields of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digest {
    /// The name of the list, which equals that of the P4 structure.
    pub list: String,
    /// The fields' values in hexadecimal.
    pub values: Vec<String>,
}

/// The state of a v1model switch.
pub(crate) struct V1Model {
    pub program: Arc<Program>,
    pub phases: Phases,
    pub machine: Machine,
    pub tm: TrafficManager<Item>,
    pub(super) work: VecDeque<Work>,
    pub transmits: VecDeque<Transmit>,
    pub digests: VecDeque<Digest>,
    pub handovers: VecDeque<Handover>,
    pub(super) unit: TimestampUnit,
    flow_slot: Option<Slot>,
    pub statistics: Statistics,
    pub spare: Spare,
}

impl V1Model {
    /// A switch with empty tables, except the program's own entries. The interpreter runs it until
    /// `phases` has machine code. `flow_slot` holds the packet's flow after ingress.
    pub(crate) fn new(
        program: Arc<Program>,
        tm: TrafficManager<Item>,
        unit: TimestampUnit,
        flow_slot: Option<Slot>,
        rng: Rng,
    ) -> Self {
        V1Model {
            machine: Machine::new(&program, rng),
            program,
            phases: Phases::default(),
            tm,
            work: VecDeque::new(),
            transmits: VecDeque::new(),
            digests: VecDeque::new(),
            handovers: VecDeque::new(),
            unit,
            flow_slot,
            statistics: Statistics::default(),
            spare: Spare::default(),
        }
    }

    /// From now on `code` runs the program; without it, the interpreter. Code that leaves egress
    /// metadata out of memory comes first, before any packet.
    pub(crate) fn run_by(&mut self, code: Option<Arc<MachineCode>>) {
        let unwritten = code.as_ref().map(|code| code.unwritten());
        self.machine.set_unwritten(&self.program, unwritten.unwrap_or(&BTreeSet::new()));
        self.phases.run_by(code);
    }

    /// Values of a field list, limb by limb.
    pub(super) fn kept(&self, list: Option<&FieldList>) -> Vec<(Slot, u64)> {
        let slots = list.map_or(&[][..], |list| &list.slots);
        slots.iter().map(|&slot| (slot, self.machine.get(slot))).collect()
    }

    /// Records a digest for the control plane.
    pub(super) fn digest(&mut self, list: u64) {
        let Some(list) = self.program.digests.get(&list) else { return };
        if self.digests.len() >= budgets::DIGESTS_WAITING {
            self.statistics.digests_lost += 1;
            return;
        }
        let value = |&(slot, width): &(Slot, u32)| {
            let start = slot as usize;
            let limbs = &self.machine.slots[start..start + limbs(width) as usize];
            to_hex(limbs)
        };
        let values = list.fields.iter().map(value).collect();
        self.digests.push_back(Digest { list: list.name.clone(), values });
    }

    /// The flow that ingress found, for the ledger.
    pub(super) fn flow(&self) -> u32 {
        self.flow_slot.map_or(0, |slot| self.machine.get(slot) as u32)
    }
}
