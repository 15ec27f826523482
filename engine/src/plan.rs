//! The plan of a run: one point of a scenario, fully resolved. `testbed/scenario/plan.py` writes
//! it.
//!
//! All values are in base units (picoseconds, bits per second, bytes), and none has a default.
//! Objects refer to each other by name; names are resolved when the network is built.

use narrows_common::{Duration, Rate, Time};
use narrows_hosts::{FlowConfig, HostConfig};
use narrows_queueing::impairments::ImpairmentConfig;
use narrows_queueing::{DisciplineConfig, QueueLimit, QueueShare};
use narrows_switch::{CloneSession, MulticastGroup, SwitchConfig, TableEntry};
use schemars::JsonSchema;
use serde::Deserialize;

/// The version of the plan's schema that this engine reads.
pub const SCHEMA: u32 = 1;

/// A whole run.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Must equal [`SCHEMA`].
    pub schema: u32,
    /// The seed of every random number of the run.
    pub seed: u64,
    /// How long to run; `None` to run until every finite flow has finished.
    pub duration_ps: Option<Duration>,
    /// When to abort a run that has no duration.
    pub limit_ps: Duration,
    /// The switches.
    pub switches: Vec<SwitchPlan>,
    /// Groups of hosts. The hosts of a group share a cable to a switch; each has its own access
    /// link.
    pub groups: Vec<String>,
    /// The cables.
    pub cables: Vec<CablePlan>,
    /// The hosts.
    pub hosts: Vec<HostPlan>,
    /// The flows.
    pub flows: Vec<FlowPlan>,
    /// The controller's events during the run, in any order.
    pub events: Vec<EventPlan>,
    /// The port that the summary reports as the bottleneck.
    pub bottleneck: PortName,
    /// The port at the other end of its cable, if the summary reports that direction too.
    #[serde(default)]
    pub reverse: Option<PortName>,
    /// Which tables to write.
    pub record: RecordPlan,
    /// Error limits of the instrument. A run that exceeds them is invalid. Unused in virtual time.
    pub instrument: Limits,
}

impl Plan {
    /// The latest end of the run, and whether the run ends once every flow has finished.
    pub(crate) fn end(&self) -> (Time, bool) {
        match self.duration_ps {
            Some(duration) => (Time::ZERO + duration, false),
            None => (Time::ZERO + self.limit_ps, true),
        }
    }
}

/// Error limits of the instrument of a run in real time.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// The most that a packet may leave late: the 99th percentile at each wire.
    pub departure_error_ps: Duration,
    /// The most that a shaper's rate may be off over a busy second, as a fraction of its rate.
    pub rate_error: f64,
    /// The longest time between two polls of the loop.
    pub poll_gap_ps: Duration,
    /// The most packets that the instrument may lose, for example to full rings or a lack of
    /// memory.
    pub lost_packets: u64,
}

/// A switch, and the state that the controller writes to it before the run.
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
    /// Multicast groups.
    #[serde(default)]
    pub multicast_groups: Vec<MulticastGroup>,
    /// Register cells with an initial value other than zero.
    pub registers: Vec<RegisterPlan>,
}

/// The initial value of a register cell.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RegisterPlan {
    /// The register's name.
    pub register: String,
    /// The cell's index.
    pub index: u64,
    /// Decimal, or hexadecimal after `0x`.
    pub value: String,
}

/// A cable between two ends, with the same propagation delay in both directions.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CablePlan {
    /// A switch's port.
    pub a: PortName,
    /// The other end.
    pub b: EndPlan,
    /// One-way propagation delay.
    pub delay_ps: Duration,
    /// The delay from the arrival of a packet at its group of hosts to its arrival at its host. A
    /// switch without delay lines leaves the propagation delay to the hosts.
    #[serde(default)]
    pub arrival_ps: Duration,
    /// What the direction from `a` to `b` does to packets in place of the delay.
    #[serde(default)]
    pub there: Option<ImpairmentConfig>,
    /// The same of the direction from `b` to `a`.
    #[serde(default)]
    pub back: Option<ImpairmentConfig>,
}

impl CablePlan {
    /// The lower bound of its delay, in both directions.
    pub(crate) fn least_delay(&self) -> Duration {
        let of = |direction: &Option<ImpairmentConfig>| match direction {
            Some(impairments) => impairments.least_delay(),
            None => self.delay_ps,
        };
        of(&self.there).min(of(&self.back))
    }
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

/// A controller's event at one instant.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EventPlan {
    /// The time, from the start of the run.
    pub at_ps: Time,
    /// The switch's name.
    pub switch: String,
    /// The port that the event changes.
    pub port: Option<u16>,
    /// Its new rate.
    pub rate_bps: Option<Rate>,
    /// Its new queue limit.
    pub queue: Option<QueueLimit>,
    /// Its new discipline, or new parameters of its discipline.
    #[serde(default)]
    pub discipline: Option<DisciplineConfig>,
    /// The new weight or rate of one of the port's queues.
    #[serde(default)]
    pub share: Option<QueueShare>,
    /// The table entry to write.
    pub entry: Option<TableEntry>,
    /// How to write the entry.
    pub op: Option<EntryOperation>,
}

/// How to write a table entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EntryOperation {
    /// Add it; an error if it exists.
    Insert,
    /// Change it; an error if it does not exist.
    Modify,
    /// Remove it; an error if it does not exist.
    Delete,
}

/// Which tables to write.
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
    /// `links.parquet`.
    #[serde(default)]
    pub links: bool,
}

impl RecordPlan {
    /// Drops the tables of nodes in another process.
    pub(crate) fn keep(&mut self, switches: bool, hosts: bool, collectors: bool) {
        self.queue &= switches;
        self.links &= switches;
        self.packets &= collectors;
        self.flows &= hosts;
        self.messages &= hosts;
        self.capture &= hosts;
    }
}
