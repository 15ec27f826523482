//! A world in real time, or a part of it: every cable is a pair of DPDK ports, and the packets
//! between switches, hosts and collector cross them as bytes.
//!
//! Hosts keep their access links in their own engine, as in virtual time; a cable's delay is kept
//! at the port where a packet leaves.

use std::path::Path as FilePath;

use narrows_common::{Duration, Packet, Time};
use narrows_dpdk::{Clock, Eal, Idle, Mempool, Start};

use super::wire_map::{Devices, Outbound, WireEnd};
use super::{Departure, Node, Path};
use crate::network::socket_hosts::Sockets;
use crate::network::{Progress, World};
use crate::{EngineError, Summary};

/// How often records go to the tables' writers, and the progress is told.
const DRAIN: Duration = Duration::from_ms(2);

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
    fn handle_packet(&mut self, now: Time, wire: usize, mut packet: Packet) {
        let at = self.outbound().end_of(wire);
        if matches!(at, WireEnd::Group { .. } | WireEnd::Collector { .. }) {
            // Who reads a payload has it as bytes of its own.
            packet.materialise(packet.len());
        }
        match at {
            WireEnd::Switch { switch, port } => {
                self.world.arrive_at_switch(now, switch, port, packet);
            }
            WireEnd::Group { later } => match self.world.arrive_at_group(now + later, &packet) {
                Some((pipe, at)) => self.world.under_way.send(pipe, at, packet),
                None => self.world.pool.give(packet),
            },
            WireEnd::Host(host) => self.world.leave_host(now, host, packet),
            WireEnd::Collector { switch } => {
                self.world.arrive_at_collector(now, &packet);
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
        self.outbound().poll_transmit()
    }

    fn take_packet(&mut self) -> Packet {
        self.world.pool.take()
    }

    fn recycle(&mut self, packet: Packet) {
        self.world.pool.give(packet);
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

impl World {
    /// Runs in real time to `end`, or until every flow that will finish has finished when that is
    /// sooner and `until_complete` is set. Returns when it stopped.
    fn run_in_real_time(
        &mut self,
        path: &mut Path,
        end: Time,
        until_complete: bool,
        progress: &mut dyn FnMut(&Progress) -> Verdict,
    ) -> Result<Time, EngineError> {
        let mut drain_at = Time::ZERO;
        let mut node = WorldNode { world: self, error: None };
        loop {
            let now = path.turn(&mut node);
            if let Some(error) = node.error.take() {
                return Err(error);
            }
            let is_over = now >= end || (until_complete && node.world.is_complete());
            if now >= drain_at || is_over {
                drain_at = now + DRAIN;
                node.world.drain_records()?;
                node.world.progress.now = now;
                match progress(&node.world.progress) {
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
}

/// Where and how a run in real time goes.
pub struct RealTime<'a> {
    /// DPDK.
    pub eal: Eal,
    /// Memory for all packets.
    pub pool: Mempool,
    /// How the loop waits.
    pub idle: Idle,
    /// What of the world is in this process.
    pub devices: &'a Devices,
    /// Called when all is set up; the clock begins as it says, or at once.
    pub meet: &'a mut dyn FnMut(&mut Path) -> Result<Option<Start>, EngineError>,
    /// Called now and then.
    pub progress: &'a mut dyn FnMut(&Progress) -> Verdict,
}

/// Runs a plan in real time on this thread, or the part of it that is in this process, hosts with
/// `sockets` having ports of their own; otherwise as [`crate::run_with`].
///
/// # Errors
/// See [`EngineError`].
pub fn run(
    plan_json: &str,
    directory: &FilePath,
    ready: std::collections::BTreeMap<String, narrows_switch::Switch>,
    sockets: Sockets,
    real: RealTime<'_>,
) -> Result<Summary, EngineError> {
    let mut plan = crate::read_plan(plan_json)?;
    let (end, until_complete) = plan.end();
    let mut outbound = Outbound::new(&plan, real.devices)?;
    let mut wires = outbound.open(real.eal, real.pool, real.devices)?;
    outbound.add_hosts(&plan, &sockets, (real.eal, real.pool), &mut wires)?;
    for host in &mut plan.hosts {
        let mut writers = wires.iter().filter(|wire| wire.offloads().writes_checksums);
        host.config.leaves_checksums = writers.any(|wire| wire.name() == host.group);
    }
    let has_hosts =
        real.devices.is_empty() || plan.groups.iter().any(|g| real.devices.contains_key(g));
    plan.record.keep(outbound.has_switches(), has_hosts, outbound.has_collectors());
    let mut path = Path::new(Clock::start(real.eal), real.idle, wires);
    let mut world = World::build(plan, ready, sockets.clone(), directory)?;
    world.outbound = Some(outbound);
    world.arm();
    let start = (real.meet)(&mut path)?;
    sockets.begin(path.begin(real.eal, start));
    let stopped = world.run_in_real_time(&mut path, end, until_complete, real.progress);
    crate::finish(world, stopped, until_complete, Some(path.instrument()), directory)
}
