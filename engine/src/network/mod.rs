//! The network of a run: nodes, link directions, packets in flight.
//!
//! A network is a fixed set of event sources (the controller, each switch, each host) with one
//! timer each in a [`Schedule`], and the packets on its links ([`InFlight`]). It reads no clock:
//! `virtual_time/` advances it from event to event, `real_time/` by the clock of a machine.
//!
//! `packet_path.rs` has a packet's steps, `events.rs` the next event, `control.rs` the controller's
//! events, `records.rs` the rows for the tables.

pub mod application_messages;
pub(crate) mod border;
pub(crate) mod build;
pub mod control;
mod control_event;
mod events;
mod finish;
mod hosts_by_mac;
mod impaired_links;
pub mod in_flight;
mod least_delay;
pub mod managed_switch;
mod nodes;
mod packet_path;
pub(crate) mod parts;
mod programs;
mod records;
pub mod socket_hosts;
mod sources;
pub(crate) mod wire_map;

use narrows_common::{Duration, PacketPool, Time};
use narrows_switch::LookUps;
use schemars::JsonSchema;
use serde::Serialize;

use crate::plan::Limits;
use crate::record::recorder::Recorder;
use border::Border;
use control_event::ControlEvent;
use hosts_by_mac::HostsByMac;
use impaired_links::{FlowIds, ImpairedLink};
use in_flight::InFlight;
use nodes::{
    AccessNode, Delivery, FlowNode, HostNode, MonitoredPort, Nodes, Receiver, SwitchNode,
    WatchedState,
};
use socket_hosts::SocketHosts;
use sources::{Schedule, Sources};
use wire_map::WireMap;

/// The progress of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Progress {
    /// The time of the run.
    #[serde(rename = "time_ps")]
    pub now: Time,
    /// Events handled.
    pub events: u64,
    /// Packets that a switch received.
    pub packets: u64,
    /// Flows that have finished.
    pub completed_flows: usize,
}

/// The switches, hosts and links of a run, and their pending events.
pub struct Network {
    switches: Nodes<SwitchNode>,
    hosts: Nodes<HostNode>,
    access: Nodes<AccessNode>,
    flows: Vec<FlowNode>,
    /// The receivers of the link directions.
    directions: Vec<Receiver>,
    by_mac: HostsByMac,
    /// Sorted by time.
    control_events: Vec<ControlEvent>,
    next_control_event: usize,
    /// The bottleneck port, then the port of the other direction if the plan asks for it.
    monitored: Vec<MonitoredPort>,
    watched: WatchedState,
    sources: Sources,
    schedule: Schedule,
    in_flight: InFlight,
    /// The packet that arrived at a group last, if it waits there.
    delivery: Option<Delivery>,
    /// Where the look-ups ended of the last packet of each link direction. Empty unless
    /// `in_flight` looks ahead.
    look_ups: Vec<LookUps>,
    /// The host whose timer was next, and the step of its memory that is asked for next.
    timer_asked: (usize, usize),
    impaired_links: Nodes<ImpairedLink>,
    flow_ids: FlowIds,
    pool: PacketPool,
    recorder: Recorder,
    /// Hosts with rows to collect.
    hosts_with_records: Vec<usize>,
    /// The wires of the cables in real time; `None` in virtual time.
    wire_map: Option<WireMap>,
    /// The hosts with the kernel's stack.
    sockets: SocketHosts,
    /// Error limits of the instrument.
    limits: Limits,
    /// The time between two collections of rows in virtual time.
    collection_interval: Duration,
    progress: Progress,
    /// What leaves for other parts; `None` in a whole network.
    border: Option<Box<Border>>,
    /// Frames on a group's cable that are for no host of the group.
    misdelivered: u64,
    /// Packets at a collector that are not telemetry reports.
    bad_reports: u64,
    /// The smallest difference between a report's egress stamp, by its switch's clock, and its
    /// arrival.
    report_lag_ns: Option<i64>,
    /// Flows sent from this process that have an end.
    finite_flows: usize,
}

/// Room for the look-ups of each link direction, if packets in flight are known ahead.
fn look_ups_of(in_flight: &InFlight, directions: usize) -> Vec<LookUps> {
    vec![LookUps::default(); if in_flight.looks_ahead() { directions } else { 0 }]
}

impl Network {
    /// Puts the network's cables on the wires of a data path, for which no compiler may keep
    /// packets waiting.
    pub(crate) fn set_wire_map(&mut self, wire_map: WireMap) {
        if wire_map.has_switches() {
            self.switches.iter_mut().for_each(|node| node.switch.compile());
        }
        self.wire_map = Some(wire_map);
    }

    /// The progress of the run.
    pub(crate) fn progress(&mut self) -> &mut Progress {
        &mut self.progress
    }

    /// The wires of a network in real time.
    pub(crate) fn wire_map(&mut self) -> &mut WireMap {
        self.wire_map.as_mut().expect("a network in real time has its wires")
    }

    /// Whether the switches are in this process.
    fn has_switches(&self) -> bool {
        self.wire_map.as_ref().is_none_or(WireMap::has_switches)
    }

    /// Whether a host is in this process.
    fn has_host(&self, index: usize) -> bool {
        let Some(wire_map) = &self.wire_map else { return true };
        let (switch, port) = match self.directions[self.access[index].uplink] {
            Receiver::Switch { switch, port } => (switch as usize, port),
            Receiver::Impaired(link) => {
                let link = &self.impaired_links[link as usize];
                (link.switch, link.port)
            }
            _ => unreachable!("a host's uplink leads to a switch"),
        };
        wire_map.has_hosts(switch, port)
    }

    /// True when every flow that has an end, and is sent from here, has finished.
    pub(crate) fn is_complete(&self) -> bool {
        self.finite_flows > 0 && self.progress.completed_flows == self.finite_flows
    }
}
