//! A network in real time, or a part of it: every cable is a pair of DPDK ports, and the packets
//! between switches, hosts and collector cross them as bytes.
//!
//! Hosts keep their access links in their own engine, as in virtual time; a cable's delay is kept
//! at the port where a packet leaves.

use std::collections::BTreeMap;
use std::path::Path;

use narrows_common::{Duration, Packet, Time};
use narrows_dpdk::{Clock, Eal, Idle, Mempool, Start};
use narrows_switch::Switch;

use super::data_path::DataPath;
use super::node::Node;
use super::open_wires::{open_cables, open_hosts};
use crate::error::EngineError;
use crate::network::build::read_plan;
use crate::network::socket_hosts::SocketHosts;
use crate::network::wire_map::{Departure, Devices, WireEnd, WireMap};
use crate::network::{Network, Progress};
use crate::record::summary::Summary;

/// How often records go to the tables' writers, and the progress is told.
const DRAIN: Duration = Duration::from_ms(2);

/// A network as a path's node.
struct NetworkNode<'a> {
    network: &'a mut Network,
    error: Option<EngineError>,
}

impl Node for NetworkNode<'_> {
    fn handle_packet(&mut self, now: Time, wire: usize, mut packet: Packet) {
        let end = self.network.wire_map().end_of(wire);
        if matches!(end, WireEnd::Group { .. } | WireEnd::Collector { .. }) {
            // Who reads a payload has it as bytes of its own.
            packet.materialise(packet.len());
        }
        match end {
            WireEnd::Switch { switch, port } => {
                self.network.enter_switch(now, switch, port, packet);
            }
            WireEnd::Group { later } => self.network.enter_group(now + later, packet),
            WireEnd::Host(host) => self.network.enter_uplink(now, host, packet),
            WireEnd::Collector { switch } => self.network.enter_collector_of(now, switch, packet),
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        if let Err(error) = self.network.handle_timeout(now) {
            self.error = Some(error);
        }
    }

    fn poll_timeout(&self) -> Option<Time> {
        Some(self.network.poll_timeout())
    }

    fn poll_transmit(&mut self) -> Option<Departure> {
        self.network.wire_map().poll_transmit()
    }

    fn take_packet(&mut self) -> Packet {
        self.network.take_packet()
    }

    fn recycle(&mut self, packet: Packet) {
        self.network.recycle(packet);
    }
}

/// What becomes of a run in real time, as whoever watches it decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verdict {
    /// It goes on.
    #[default]
    GoOn,
    /// It is given up.
    Cancel,
    /// It ended then.
    End(Time),
}

/// Runs to `end`, or until every flow that will finish has finished when that is sooner and
/// `until_complete` is set. Returns when the run stopped.
fn advance(
    network: &mut Network,
    path: &mut DataPath,
    end: Time,
    until_complete: bool,
    progress: &mut dyn FnMut(&Progress) -> Verdict,
) -> Result<Time, EngineError> {
    let mut drain_at = Time::ZERO;
    let mut node = NetworkNode { network, error: None };
    loop {
        let now = path.turn(&mut node);
        if let Some(error) = node.error.take() {
            return Err(error);
        }
        let is_over = now >= end || (until_complete && node.network.is_complete());
        if now >= drain_at || is_over {
            drain_at = now + DRAIN;
            node.network.drain_records()?;
            node.network.progress().now = now;
            match progress(node.network.progress()) {
                Verdict::GoOn => {}
                Verdict::Cancel => return Err(EngineError::Cancelled),
                Verdict::End(at) => return Ok(at),
            }
        }
        if is_over {
            return Ok(now.min(end));
        }
    }
}

/// Where and how a run in real time goes.
pub struct RealTime<'a> {
    /// DPDK.
    pub eal: Eal,
    /// Memory for all packets.
    pub pool: Mempool,
    /// How the loop waits.
    pub idle: Idle,
    /// What of the network is in this process.
    pub devices: &'a Devices,
    /// Called when all is set up; the clock begins as it says, or at once.
    pub meet: &'a mut dyn FnMut(&mut DataPath) -> Result<Option<Start>, EngineError>,
    /// Called now and then.
    pub progress: &'a mut dyn FnMut(&Progress) -> Verdict,
}

/// Runs a plan in real time on this thread, or the part of it that is in this process, hosts with
/// `sockets` having ports of their own; otherwise as [`crate::virtual_time::run`].
///
/// # Errors
/// See [`EngineError`].
pub fn run(
    plan_json: &str,
    directory: &Path,
    ready: BTreeMap<String, Switch>,
    sockets: SocketHosts,
    real: RealTime<'_>,
) -> Result<Summary, EngineError> {
    let mut plan = read_plan(plan_json)?;
    let (end, until_complete) = plan.end();
    let mut wire_map = WireMap::new(&plan, real.devices)?;
    let mut wires = open_cables(&wire_map, real.eal, real.pool, real.devices)?;
    open_hosts(&mut wire_map, &plan, &sockets, (real.eal, real.pool), &mut wires)?;
    for host in &mut plan.hosts {
        let mut writers = wires.iter().filter(|wire| wire.offloads().writes_checksums);
        host.config.leaves_checksums = writers.any(|wire| wire.name() == host.group);
    }
    let has_hosts =
        real.devices.is_empty() || plan.groups.iter().any(|g| real.devices.contains_key(g));
    plan.record.keep(wire_map.has_switches(), has_hosts, wire_map.has_collectors());
    let mut path = DataPath::new(Clock::start(real.eal), real.idle, wires);
    let mut network = Network::build(plan, ready, sockets.clone(), directory)?;
    network.set_wire_map(wire_map);
    network.arm();
    let start = (real.meet)(&mut path)?;
    sockets.begin(path.begin(real.eal, start));
    let stopped = advance(&mut network, &mut path, end, until_complete, real.progress);
    network.finish(stopped, until_complete, Some(path.instrument()), directory)
}
