//! The wires of a network in real time: which are in this process, and the packets that leave by
//! them.

use std::collections::{BTreeMap, VecDeque};

use narrows_common::{Duration, Packet, Time};
use narrows_switch::Transmit;

use crate::error::EngineError;
use crate::plan::{CablePlan, EndPlan, Plan, PortName};

/// A packet to be sent by a wire.
#[derive(Debug)]
pub struct Departure {
    /// The wire.
    pub wire: usize,
    /// The start of its transmission.
    pub start: Time,
    /// The end of its transmission.
    pub end: Time,
    /// When to hand it to the device: `end` plus the wire's delay.
    pub at: Time,
    /// The packet.
    pub packet: Box<Packet>,
}

/// Device strings by wire name: `s1 port 1`, a group's name, `collector at s1`.
///
/// Without devices the whole network is in one process and its cables are pairs of rings. With
/// devices, only the nodes at the ends of these wires are in this process. A cable between two
/// switches is a pair of rings in the process of the switches.
/// two switches is a pair of rings where the switches are.
pub type Devices = BTreeMap<String, String>;

/// Where a wire ends.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WireEnd {
    Switch {
        switch: usize,
        port: u16,
    },
    /// Hosts. A packet reaches them this long after it arrives by the wire.
    Group {
        later: Duration,
    },
    /// A host with the kernel's stack.
    Host(usize),
    /// The collector at a switch.
    Collector {
        switch: usize,
    },
}

/// An end of a cable. The two ends have neighbouring numbers, the even one first.
#[derive(Debug)]
pub(crate) struct CableEnd {
    pub name: String,
    pub at: WireEnd,
    /// The data path's number for its wire; `None` if another process has it.
    pub wire: Option<usize>,
}

/// The ends of all cables, and the packets that leave by them.
#[derive(Debug)]
pub(crate) struct WireMap {
    departures: VecDeque<Departure>,
    ends: Vec<CableEnd>,
    /// The end at each switch port.
    at_port: Vec<Vec<Option<usize>>>,
    /// The number, in the data path, of each host's own wire.
    at_host: Vec<Option<usize>>,
    /// The end at each wire of the data path.
    by_wire: Vec<usize>,
}

impl WireMap {
    /// The wires of a plan's cables, of which some have devices.
    pub(crate) fn new(plan: &Plan, devices: &Devices) -> Result<WireMap, EngineError> {
        let mut wire_map = WireMap {
            departures: VecDeque::new(),
            ends: vec![],
            at_port: vec![vec![]; plan.switches.len()],
            at_host: vec![None; plan.hosts.len()],
            by_wire: vec![],
        };
        for cable in &plan.cables {
            wire_map.add(plan, cable)?;
        }
        let names: Vec<&str> = wire_map.ends.iter().map(|end| end.name.as_str()).collect();
        if let Some(wrong) = devices.keys().find(|name| !names.contains(&name.as_str())) {
            let what = format!("there is no wire '{wrong}'; expected {}", names.join(", "));
            return Err(EngineError::Plan(what));
        }
        let is_named = |end: &CableEnd| devices.contains_key(&end.name);
        let has_switches = wire_map.ends.iter().any(|end| end.is_at_a_switch() && is_named(end));
        for cable in wire_map.ends.chunks_mut(2) {
            let by_rings = match devices.is_empty() {
                true => true,
                false => has_switches && cable.iter().all(CableEnd::is_at_a_switch),
            };
            for end in cable {
                end.wire = (by_rings || is_named(end)).then_some(usize::MAX);
            }
        }
        for (number, end) in wire_map.ends.iter_mut().enumerate() {
            if let Some(wire) = &mut end.wire {
                *wire = wire_map.by_wire.len();
                wire_map.by_wire.push(number);
            }
        }
        Ok(wire_map)
    }

    fn add(&mut self, plan: &Plan, cable: &CablePlan) -> Result<(), EngineError> {
        let switch = self.add_port(plan, &cable.a)?;
        let (name, at) = match &cable.b {
            EndPlan::Switch(end) => return self.add_port(plan, end).map(drop),
            EndPlan::Group(end) => (end.group.clone(), WireEnd::Group { later: cable.arrival_ps }),
            EndPlan::Collector(_) => {
                (format!("collector at {}", cable.a.switch), WireEnd::Collector { switch })
            }
        };
        self.ends.push(CableEnd { name, at, wire: None });
        Ok(())
    }

    /// Adds the end at a switch's port; returns the switch's index.
    fn add_port(&mut self, plan: &Plan, end: &PortName) -> Result<usize, EngineError> {
        let found = plan.switches.iter().position(|switch| switch.name == end.switch);
        let switch = found.ok_or_else(|| {
            EngineError::Plan(format!("plan: there is no switch '{}'", end.switch))
        })?;
        let (ends, port) = (&mut self.at_port[switch], usize::from(end.port));
        ends.resize(ends.len().max(port + 1), None);
        ends[port] = Some(self.ends.len());
        let name = format!("{} port {}", end.switch, end.port);
        let at = WireEnd::Switch { switch, port: end.port };
        self.ends.push(CableEnd { name, at, wire: None });
        Ok(switch)
    }

    /// The cables, each as its two ends.
    pub(crate) fn cables(&self) -> impl Iterator<Item = &[CableEnd]> {
        self.ends.chunks(2)
    }

    /// Adds the wire of a host with the kernel's stack after all others. Returns its number.
    pub(crate) fn add_host(&mut self, host: usize, name: &str) -> usize {
        let wire = self.by_wire.len();
        self.at_host[host] = Some(wire);
        self.by_wire.push(self.ends.len());
        let at = WireEnd::Host(host);
        self.ends.push(CableEnd { name: name.to_owned(), at, wire: Some(wire) });
        wire
    }

    /// The end of a wire of the data path.
    pub(crate) fn end_of(&self, wire: usize) -> WireEnd {
        self.ends[self.by_wire[wire]].at
    }

    /// Whether the switches are in this process.
    pub(crate) fn has_switches(&self) -> bool {
        self.ends.iter().any(|end| end.is_at_a_switch() && end.wire.is_some())
    }

    /// Whether collectors are in this process.
    pub(crate) fn has_collectors(&self) -> bool {
        let mut ends = self.ends.iter();
        ends.any(|end| matches!(end.at, WireEnd::Collector { .. }) && end.wire.is_some())
    }

    /// Whether the hosts at a switch's port are in this process.
    pub(crate) fn has_hosts(&self, switch: usize, port: u16) -> bool {
        self.ends[self.end(switch, port) ^ 1].wire.is_some()
    }

    fn end(&self, switch: usize, port: u16) -> usize {
        self.at_port[switch][usize::from(port)].expect("a cable has two ends")
    }

    /// A transmission began at a switch. Returns the packet if the port has no cable.
    pub(crate) fn leave_switch(
        &mut self,
        switch: usize,
        transmit: Transmit,
        delay: Duration,
    ) -> Option<Box<Packet>> {
        let Transmit { port, start, end, packet } = transmit;
        let Some(wire) = self.ends[self.end(switch, port)].wire else { return Some(packet) };
        self.departures.push_back(Departure { wire, start, end, at: end + delay, packet });
        None
    }

    /// A host's packet is due at the switch port of its group's cable.
    pub(crate) fn leave_hosts(&mut self, at: Time, switch: usize, port: u16, packet: Box<Packet>) {
        let wire = self.ends[self.end(switch, port) ^ 1].wire.expect("its host is here");
        self.departures.push_back(Departure { wire, start: at, end: at, at, packet });
    }

    /// A packet is due at a host with the kernel's stack.
    pub(crate) fn leave_access(&mut self, at: Time, host: usize, packet: Box<Packet>) {
        let wire = self.at_host[host].expect("such a host has a wire");
        self.departures.push_back(Departure { wire, start: at, end: at, at, packet });
    }

    /// The next packet to leave.
    pub(crate) fn poll_transmit(&mut self) -> Option<Departure> {
        self.departures.pop_front()
    }
}

impl CableEnd {
    fn is_at_a_switch(&self) -> bool {
        matches!(self.at, WireEnd::Switch { .. })
    }
}
