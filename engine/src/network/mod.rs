//! The network of a run: nodes, link directions, packets in flight.
//!
//! A network is a fixed set of sources of events (the controller, each switch, each host) with a
//! timer each in a [`Wheel`], and the packets on its links ([`InFlight`]). It reads no clock:
//! `virtual_time/` advances it from event to event, `real_time/` under the clock of a machine.
//!
//! `packet_path.rs` has the road of a packet, `events.rs` what is due next, `control.rs` the
//! controller's events, `records.rs` what goes to the tables.

pub mod application_messages;
pub(crate) mod build;
mod control;
mod control_event;
mod events;
mod finish;
pub mod in_flight;
mod least_delay;
pub mod managed_switch;
mod nodes;
mod packet_path;
mod records;
pub mod socket_hosts;
mod sources;
pub(crate) mod wire_map;

use narrows_common::{PacketPool, Time, Wheel};
use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::Serialize;

use crate::plan::Limits;
use crate::record::recorder::Recorder;
use control_event::ControlEvent;
use in_flight::InFlight;
use nodes::{FlowNode, HostNode, MonitoredPort, Receiver, SwitchNode};
use socket_hosts::SocketHosts;
use sources::Sources;
use wire_map::WireMap;

/// How far a run has come.
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

/// Switches, hosts and links, and what happens next.
pub struct Network {
    switches: Vec<SwitchNode>,
    hosts: Vec<HostNode>,
    flows: Vec<FlowNode>,
    /// The receivers of the link directions.
    directions: Vec<Receiver>,
    /// Hosts by their address, as [`nodes::mac_number`] gives it.
    by_mac: FxHashMap<u64, usize>,
    /// Sorted by time.
    control_events: Vec<ControlEvent>,
    next_control_event: usize,
    /// The bottleneck, and behind it the port of the other direction where the plan wants it.
    monitored: Vec<MonitoredPort>,
    sources: Sources,
    schedule: Wheel,
    in_flight: InFlight,
    pool: PacketPool,
    recorder: Recorder,
    /// The hosts that have rows to be drained.
    hosts_with_records: Vec<usize>,
    /// The wires of the cables in real time; `None` in virtual time.
    wire_map: Option<WireMap>,
    /// The hosts with the kernel's stack.
    sockets: SocketHosts,
    /// How far the instrument may be off.
    limits: Limits,
    progress: Progress,
    /// Frames on a group's cable for no host of the group.
    misdelivered: u64,
    /// Packets at a collector that are no reports.
    bad_reports: u64,
    /// The least time from a report's egress stamp, by its switch's clock, to its arrival.
    report_lag_ns: Option<i64>,
    /// Flows that will finish and are sent from here.
    finite_flows: usize,
}

impl Network {
    /// The network with its cables on the wires of a data path.
    pub(crate) fn set_wire_map(&mut self, wire_map: WireMap) {
        self.wire_map = Some(wire_map);
    }

    /// How far the run has come.
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
        let Receiver::Switch { switch, port } = self.directions[self.hosts[index].uplink] else {
            unreachable!("a host's uplink leads to a switch");
        };
        self.wire_map.as_ref().is_none_or(|wire_map| wire_map.has_hosts(switch, port))
    }

    /// True when every flow that will finish, and is sent from here, has finished.
    pub(crate) fn is_complete(&self) -> bool {
        self.finite_flows > 0 && self.progress.completed_flows == self.finite_flows
    }
}
