//! A network, or part of one, in real time: every cable is a pair of DPDK ports, and packets cross
//! between switches, hosts and collector as bytes.
//!
//! Hosts' access links stay in the hosts' engine, as in virtual time. The port at which a packet
//! leaves applies a cable's delay.

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
use crate::network::control::Watcher;
use crate::network::socket_hosts::SocketHosts;
use crate::network::wire_map::{Departure, Devices, WireEnd, WireMap};
use crate::network::{Network, Progress};
use crate::record::summary::Summary;

/// How often to pass records to the tables' writers and report progress.
const DRAIN: Duration = Duration::from_ms(2);

/// A network that a data path drives.
struct NetworkNode<'a> {
    network: &'a mut Network,
    error: Option<EngineError>,
}

impl Node for NetworkNode<'_> {
    fn handle_packet(&mut self, now: Time, wire: usize, mut packet: Box<Packet>) {
        let end = self.network.wire_map().end_of(wire);
        if matches!(end, WireEnd::Group { .. } | WireEnd::Collector { .. }) {
            // Programs and hosts that read a payload need it as contiguous bytes.
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

    fn take_packet(&mut self) -> Box<Packet> {
        self.network.take_packet()
    }

    fn recycle(&mut self, packet: Box<Packet>) {
        self.network.recycle(packet);
    }
}

/// The decision of the code that watches a run in real time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verdict {
    /// Continue.
    #[default]
    GoOn,
    /// Cancel the run.
    Cancel,
    /// The run ended at this time.
    End(Time),
}

/// Runs to `end`; or, if `until_complete` is set, until every finite flow has finished. Returns
/// when the run stopped.
fn advance(
    network: &mut Network,
    path: &mut DataPath,
    end: Time,
    until_complete: bool,
    progress: &mut dyn FnMut(&Progress) -> Verdict,
    mut watcher: Option<Watcher<'_>>,
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
            if let Some(watcher) = &mut watcher {
                watcher(now, node.network);
            }
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

/// How to run in real time.
pub struct RealTime<'a> {
    /// DPDK's environment.
    pub eal: Eal,
    /// The memory pool of all packets.
    pub pool: Mempool,
    /// The loop's idle strategy.
    pub idle: Idle,
    /// The part of the network in this process.
    pub devices: &'a Devices,
    /// Called once set-up is complete; returns when the clock starts, or `None` for immediately.
    pub meet: &'a mut dyn FnMut(&mut DataPath) -> Result<Option<Start>, EngineError>,
    /// Called from time to time.
    pub progress: &'a mut dyn FnMut(&Progress) -> Verdict,
    /// Called from time to time; sees the run and changes it.
    pub watcher: Option<Watcher<'a>>,
}

/// Runs a plan, or the part of it in this process, in real time on this thread. Hosts with
/// `sockets` have their own ports. Otherwise like [`crate::virtual_time::run`].
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
    let stopped =
        advance(&mut network, &mut path, end, until_complete, real.progress, real.watcher);
    network.finish(stopped, until_complete, Some(path.instrument()), directory)
}
