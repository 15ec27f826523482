//! A whole world in real time: every cable is a pair of DPDK ports, and the packets between
//! switches, hosts and collector cross them as bytes.
//!
//! Hosts keep their access links in their own engine, as in virtual time; a cable's delay is kept
//! at the port where a packet leaves.

use std::collections::VecDeque;
use std::path::Path as FilePath;

use narrows_common::{Duration, Packet, Time};
use narrows_dpdk::{Clock, Eal, Idle, Mempool, Port};
use narrows_switch::Transmit;

use super::{Departure, Node, Path, Wire};
use crate::plan::{EndPlan, Plan, PortName};
use crate::sockets::Sockets;
use crate::world::{Progress, World};
use crate::{EngineError, Summary};

/// How often records go to the tables' writers, and the progress is told.
const DRAIN: Duration = Duration::from_ms(2);

/// Where a wire ends.
#[derive(Clone, Copy, Debug)]
enum WireEnd {
    Switch {
        switch: usize,
        port: u16,
    },
    Group,
    /// A host whose TCP is somebody else's.
    Host(usize),
    /// The collector at a switch.
    Collector {
        switch: usize,
    },
}

/// What leaves the world's nodes by its cables. The two wires of a cable have neighbouring
/// numbers, the even one first.
#[derive(Debug)]
pub(crate) struct Outbound {
    departures: VecDeque<Departure>,
    ends: Vec<WireEnd>,
    /// The wire at a switch's port.
    at_port: Vec<Vec<Option<usize>>>,
    /// A host's own wire.
    at_host: Vec<Option<usize>>,
}

impl Outbound {
    /// The wires of a plan's cables, and their names.
    fn new(plan: &Plan) -> Result<(Outbound, Vec<String>), EngineError> {
        let mut outbound = Outbound {
            departures: VecDeque::new(),
            ends: vec![],
            at_port: vec![vec![]; plan.switches.len()],
            at_host: vec![None; plan.hosts.len()],
        };
        let mut names = vec![];
        for cable in &plan.cables {
            let near = outbound.switch_end(plan, &cable.a)?;
            names.push(format!("{} port {}", cable.a.switch, cable.a.port));
            match &cable.b {
                EndPlan::Switch(end) => {
                    outbound.switch_end(plan, end)?;
                    names.push(format!("{} port {}", end.switch, end.port));
                }
                EndPlan::Group(end) => {
                    outbound.ends.push(WireEnd::Group);
                    names.push(end.group.clone());
                }
                EndPlan::Collector(_) => {
                    outbound.ends.push(WireEnd::Collector { switch: near });
                    names.push(format!("collector at {}", cable.a.switch));
                }
            }
        }
        Ok((outbound, names))
    }

    /// Adds a wire at a switch's port; returns which switch that is.
    fn switch_end(&mut self, plan: &Plan, end: &PortName) -> Result<usize, EngineError> {
        let found = plan.switches.iter().position(|switch| switch.name == end.switch);
        let switch = found.ok_or_else(|| {
            EngineError::Plan(format!("plan: there is no switch '{}'", end.switch))
        })?;
        let (wires, port) = (&mut self.at_port[switch], usize::from(end.port));
        wires.resize(wires.len().max(port + 1), None);
        wires[port] = Some(self.ends.len());
        self.ends.push(WireEnd::Switch { switch, port: end.port });
        Ok(switch)
    }

    /// Adds the wire of a host of its own.
    fn add_host(&mut self, host: usize) {
        self.at_host[host] = Some(self.ends.len());
        self.ends.push(WireEnd::Host(host));
    }

    fn wire(&self, switch: usize, port: u16) -> usize {
        self.at_port[switch][usize::from(port)].expect("a cable has a wire at each end")
    }

    /// A transmission began at a switch.
    pub(crate) fn leave_switch(&mut self, switch: usize, transmit: Transmit, delay: Duration) {
        let Transmit { port, start, end, packet } = transmit;
        let (wire, at) = (self.wire(switch, port), end + delay);
        self.departures.push_back(Departure { wire, start, end, at, packet });
    }

    /// A packet of a host is due at the switch's port that its group's cable leads to.
    pub(crate) fn leave_hosts(&mut self, at: Time, switch: usize, port: u16, packet: Packet) {
        let wire = self.wire(switch, port) ^ 1;
        self.departures.push_back(Departure { wire, start: at, end: at, at, packet });
    }

    /// A packet is due at a host whose TCP is somebody else's.
    pub(crate) fn leave_access(&mut self, at: Time, host: usize, packet: Packet) {
        let wire = self.at_host[host].expect("such a host has a wire");
        self.departures.push_back(Departure { wire, start: at, end: at, at, packet });
    }
}

/// A world as a path's node.
struct WorldNode<'a> {
    world: &'a mut World,
    error: Option<EngineError>,
}

impl WorldNode<'_> {
    fn outbound(&mut self) -> &mut Outbound {
        self.world.outbound.as_mut().expect("a world in real time has its wires")
    }
}

impl Node for WorldNode<'_> {
    fn handle_packet(&mut self, now: Time, wire: usize, packet: Packet) {
        let end = self.outbound().ends[wire];
        match end {
            WireEnd::Switch { switch, port } => {
                self.world.arrive_at_switch(now, switch, port, packet);
            }
            WireEnd::Group => {
                if let Some(packet) = self.world.arrive_at_group(now, packet) {
                    self.world.pool.give(packet);
                }
            }
            WireEnd::Host(host) => self.world.leave_host(now, host, packet),
            WireEnd::Collector { switch } => {
                self.world.arrive_at_collector(&packet);
                // Reports are born of the switch's spare packets.
                self.world.switches[switch].switch.recycle(packet);
            }
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        if let Err(error) = self.world.handle_timeout(now) {
            self.error = Some(error);
        }
    }

    fn poll_timeout(&self) -> Option<Time> {
        Some(self.world.next().0)
    }

    fn poll_transmit(&mut self) -> Option<Departure> {
        self.outbound().departures.pop_front()
    }

    fn take_packet(&mut self) -> Packet {
        self.world.pool.take()
    }

    fn recycle(&mut self, packet: Packet) {
        self.world.pool.give(packet);
    }
}

impl World {
    /// Runs in real time to `end`, or until every flow that will finish has finished when that is
    /// sooner and `until_complete` is set. Returns when it stopped.
    fn run_in_real_time(
        &mut self,
        path: &mut Path,
        end: Time,
        until_complete: bool,
        progress: &mut dyn FnMut(&Progress) -> bool,
    ) -> Result<Time, EngineError> {
        let mut drain_at = Time::ZERO;
        let mut node = WorldNode { world: self, error: None };
        loop {
            let now = path.turn(&mut node);
            if let Some(error) = node.error.take() {
                return Err(error);
            }
            let done = node.world.progress.completed_flows == node.world.finite_flows;
            let is_over = now >= end || (until_complete && done);
            if now >= drain_at || is_over {
                drain_at = now + DRAIN;
                node.world.drain_records()?;
                node.world.progress.now = now;
                if !progress(&node.world.progress) {
                    return Err(EngineError::Cancelled);
                }
            }
            if is_over {
                return Ok(now);
            }
        }
    }
}

/// Runs a plan in real time on this thread, its cables being pairs of rings between DPDK ports, and
/// hosts with `sockets` ports of their own; otherwise as [`crate::run_with`].
///
/// # Errors
/// See [`EngineError`].
pub fn run(
    plan_json: &str,
    directory: &FilePath,
    ready: std::collections::BTreeMap<String, narrows_switch::Switch>,
    sockets: Sockets,
    (eal, pool, idle): (Eal, Mempool, Idle),
    progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Summary, EngineError> {
    let plan = crate::read_plan(plan_json)?;
    let (end, until_complete) = plan.end();
    let (mut outbound, names) = Outbound::new(&plan)?;
    let mut wires = vec![];
    for pair in names.chunks(2) {
        let ports = Port::pair(eal, pool)?;
        wires.extend(
            ports.into_iter().zip(pair).map(|(port, name)| Wire::new(name.clone(), port, pool)),
        );
    }
    for (index, host) in plan.hosts.iter().enumerate() {
        let name = &host.config.name;
        if let Some(device) = sockets.device(name) {
            wires.push(Wire::new(name.clone(), Port::open(eal, &device, pool)?, pool));
            outbound.add_host(index);
        }
    }
    let mut path = Path::new(Clock::start(eal), idle, wires);
    let mut world = World::build(plan, ready, sockets.clone(), directory)?;
    world.outbound = Some(outbound);
    sockets.begin(path.begin(eal));
    let stopped = world.run_in_real_time(&mut path, end, until_complete, progress);
    crate::finish(world, stopped, until_complete, Some(path.instrument()), directory)
}
