//! One switch, or one pipeline of it, on a data path: `narrows switch` with live ports.

use narrows_common::{Duration, Packet, Time};

use super::inter_core_rings::InterCoreRings;
use super::node::Node;
use crate::network::managed_switch::ManagedSwitch;
use crate::network::wire_map::Departure;

/// A switch whose ports are wires, or one of its pipelines with the wires of its ports.
pub struct SwitchNode {
    switch: Box<ManagedSwitch>,
    /// Port numbers, indexed by wire, then by remote queue.
    ports: Vec<u16>,
    /// The wire of each port, indexed by port number.
    wires: Vec<Option<usize>>,
    /// The delay of each wire.
    delays: Vec<Duration>,
    /// The rings to the other pipelines, if any.
    rings: Option<InterCoreRings>,
}

impl SwitchNode {
    /// Creates a node from a switch and, for each wire, its port number and cable delay.
    pub fn new(switch: Box<ManagedSwitch>, ports: &[(u16, Duration)]) -> Self {
        let most = ports.iter().map(|&(port, _)| usize::from(port) + 1).max().unwrap_or(0);
        let mut wires = vec![None; most];
        for (wire, &(port, _)) in ports.iter().enumerate() {
            wires[usize::from(port)] = Some(wire);
        }
        SwitchNode {
            switch,
            ports: ports.iter().map(|&(port, _)| port).collect(),
            wires,
            delays: ports.iter().map(|&(_, delay)| delay).collect(),
            rings: None,
        }
    }

    /// Makes it one of several pipelines.
    #[must_use]
    pub fn with_rings(mut self, rings: Option<InterCoreRings>) -> Self {
        self.rings = rings;
        self
    }

    /// Adds the port numbers of its path's remote receive queues
    /// ([`super::DataPath::with_remote_queues`]).
    #[must_use]
    pub fn with_remote_queues(mut self, ports: &[u16]) -> Self {
        self.ports.extend(ports);
        self
    }

    /// The switch, for its controllers.
    pub fn managed(&mut self) -> &mut ManagedSwitch {
        &mut self.switch
    }

    /// Returns the switch.
    pub fn into_managed(self) -> ManagedSwitch {
        *self.switch
    }
}

impl Node for SwitchNode {
    fn handle_packet(&mut self, now: Time, wire: usize, packet: Box<Packet>) {
        self.switch.receive(now, self.ports[wire], packet);
    }

    fn handle_timeout(&mut self, now: Time) {
        self.switch.handle_timeout(now);
        if let Some(rings) = &mut self.rings {
            rings.send(&mut self.switch);
        }
    }

    fn receive_from_cores(&mut self) -> usize {
        self.rings.as_mut().map_or(0, |rings| rings.take_in(&mut self.switch))
    }

    fn poll_timeout(&self) -> Option<Time> {
        if self.is_full() { Some(Time::ZERO) } else { self.switch.poll_timeout() }
    }

    fn is_full(&self) -> bool {
        self.rings.as_ref().is_some_and(InterCoreRings::is_full)
    }

    #[inline]
    fn poll_transmit(&mut self) -> Option<Departure> {
        loop {
            let transmit = self.switch.sent.pop_front()?;
            let (start, end, packet) = (transmit.start, transmit.end, transmit.packet);
            match self.wires.get(usize::from(transmit.port)).copied().flatten() {
                Some(wire) => {
                    let at = end + self.delays[wire];
                    return Some(Departure { wire, start, end, at, packet });
                }
                // The port has no cable.
                None => self.recycle(packet),
            }
        }
    }

    fn is_paused(&self) -> bool {
        self.switch.paused > 0
    }

    fn take_packet(&mut self) -> Box<Packet> {
        match &mut self.switch.switch {
            Some(switch) => switch.take_packet(),
            None => Box::default(),
        }
    }

    fn recycle(&mut self, packet: Box<Packet>) {
        if let Some(switch) = &mut self.switch.switch {
            switch.recycle(packet);
        }
    }
}
