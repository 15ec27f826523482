//! The plan of a run: a scenario's point with everything resolved, as `testbed/scenario/plan.py` writes it.
//!
//! Base units only (picoseconds, bits per second, bytes) and no defaults; names refer to one
//! another and are resolved when the network is built.

use narrows_common::{Duration, Rate, Time};
use narrows_hosts::{FlowConfig, HostConfig};
use narrows_queueing::{DisciplineConfig, QueueLimit};
use narrows_switch::{CloneSession, SwitchConfig, TableEntry};
use schemars::JsonSchema;
use serde::Deserialize;

/// The plan's schema that this engine reads.
pub const SCHEMA: u32 = 1;

/// A whole run.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Must be [`SCHEMA`].
    pub schema: u32,
    /// Every random number of the run follows from it.
    pub seed: u64,
    /// How long to run; `None` until every flow that can finish has finished.
    pub duration_ps: Option<Duration>,
    /// When a run without a duration is given up.
    pub limit_ps: Duration,
    /// The switches.
    pub switches: Vec<SwitchPlan>,
    /// Sets of hosts that share a cable to a switch, each by an access link of its own.
    pub groups: Vec<String>,
    /// What is plugged in where.
    pub cables: Vec<CablePlan>,
    /// The hosts.
    pub hosts: Vec<HostPlan>,
    /// The flows.
    pub flows: Vec<FlowPlan>,
    /// What the controller does while the run goes on, in any order.
    pub events: Vec<EventPlan>,
    /// The port whose figures the summary calls the bottleneck's.
    pub bottleneck: PortName,
    /// The port at the other end of its cable, where that one's figures are wanted too.
    #[serde(default)]
    pub reverse: Option<PortName>,
    /// Which tables are written.
    pub record: RecordPlan,
    /// How far the instrument may be off before the run is void; not asked in virtual time.
    pub instrument: Limits,
}

impl Plan {
    /// When the run ends at the latest, and whether it ends when every flow has finished.
    pub(crate) fn end(&self) -> (Time, bool) {
        match self.duration_ps {
            Some(duration) => (Time::ZERO + duration, false),
            None => (Time::ZERO + self.limit_ps, true),
        }
    }
}

/// How far the instrument of a run in real time may be off.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// How late packets may leave, at the 99th percentile of each wire.
    pub departure_error_ps: Duration,
    /// How far a shaper may be off over a busy second, as a share of its rate.
    pub rate_error: f64,
    /// How long the loop may look away.
    pub poll_gap_ps: Duration,
    /// How many packets the instrument may lose, by full rings, for want of memory or otherwise.
    pub lost_packets: u64,
}

/// A switch and what the controller puts on it before the run.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SwitchPlan {
    /// Its name, unique.
    pub name: String,
    /// The path of the compiled P4 program.
    pub program: String,
    /// Ports, queues, clock.
    pub config: SwitchConfig,
    /// Table entries.
    pub entries: Vec<TableEntry>,
    /// Clone sessions.
    pub clone_sessions: Vec<CloneSession>,
    /// Register cells that do not begin at zero.
    pub registers: Vec<RegisterPlan>,
}

/// A register cell's first value.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RegisterPlan {
    /// The register's name.
    pub register: String,
    /// Which cell.
    pub index: u64,
    /// Decimal, or hexadecimal after `0x`.
    pub value: String,
}

/// A cable: two ends and the same propagation delay both ways.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CablePlan {
    /// A switch's port.
    pub a: PortName,
    /// What is at the other end.
    pub b: EndPlan,
    /// One-way propagation delay.
    pub delay_ps: Duration,
    /// What packets of a switch elsewhere still take when they have come to their hosts: the delay
    /// that a switch without delay lines leaves to these.
    #[serde(default)]
    pub arrival_ps: Duration,
}

/// A port of a switch.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PortName {
    /// The switch's name.
    pub switch: String,
    /// The port's number.
    pub port: u16,
}

/// The other end of a cable.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum EndPlan {
    /// Another switch's port.
    Switch(PortName),
    /// A group of hosts.
    Group(GroupEnd),
    /// The collector of telemetry reports.
    Collector(CollectorEnd),
}

/// A cable's end at a group of hosts.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GroupEnd {
    /// The group's name.
    pub group: String,
}

/// A cable's end at the collector.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CollectorEnd {
    /// Always true.
    pub collector: bool,
}

/// A host.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostPlan {
    /// The group it belongs to.
    pub group: String,
    /// Its addresses and its access link.
    pub config: HostConfig,
}

/// A flow between two hosts.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowPlan {
    /// The name of the host that connects and sends.
    pub from: String,
    /// The name of the host that listens and receives.
    pub to: String,
    /// The transport and the application.
    pub flow: FlowConfig,
}

/// What the controller does at an instant.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EventPlan {
    /// When.
    pub at_ps: Time,
    /// The switch's name.
    pub switch: String,
    /// The port whose rate or queue changes.
    pub port: Option<u16>,
    /// Its new rate.
    pub rate_bps: Option<Rate>,
    /// Its new limit.
    pub queue: Option<QueueLimit>,
    /// Its new discipline, or new values of the discipline's parameters.
    #[serde(default)]
    pub discipline: Option<DisciplineConfig>,
    /// A table entry to write.
    pub entry: Option<TableEntry>,
    /// What to do with the entry.
    pub op: Option<EntryOperation>,
}

/// What to do with a table entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EntryOperation {
    /// Add it; an error if it is there.
    Insert,
    /// Change it; an error if it is not there.
    Modify,
    /// Remove it; an error if it is not there.
    Delete,
}

/// Which tables are written.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecordPlan {
    /// `queue.parquet`.
    pub queue: bool,
    /// `packets.parquet`.
    pub packets: bool,
    /// `flows.parquet`.
    pub flows: bool,
    /// `messages.parquet`.
    pub messages: bool,
    /// `capture.parquet`.
    pub capture: bool,
}

impl RecordPlan {
    /// Leaves out the tables of what is in another process.
    pub(crate) fn keep(&mut self, switches: bool, hosts: bool, collectors: bool) {
        self.queue &= switches;
        self.packets &= collectors;
        self.flows &= hosts;
        self.messages &= hosts;
        self.capture &= hosts;
    }
}
