//! A switch of its own on a path: `narrows switch` with live ports.

use narrows_common::{Duration, Packet, Time};

use super::{Departure, Node};
use crate::controlled::Controlled;

/// A switch whose ports are wires.
pub struct SwitchNode {
    switch: Box<Controlled>,
    /// The ports' numbers, by wire.
    ports: Vec<u16>,
    /// The wire of a port by its number.
    wires: Vec<Option<usize>>,
    /// What a wire delays.
    delays: Vec<Duration>,
}

impl SwitchNode {
    /// A switch and, wire by wire, the number of its port and the delay of the cable there.
    pub fn new(switch: Box<Controlled>, ports: &[(u16, Duration)]) -> Self {
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
        }
    }

    /// The switch, for its controllers.
    pub fn controlled(&mut self) -> &mut Controlled {
        &mut self.switch
    }

    /// Gives the switch back.
    pub fn into_controlled(self) -> Box<Controlled> {
        self.switch
    }
}

impl Node for SwitchNode {
    fn handle_packet(&mut self, now: Time, wire: usize, packet: Packet) {
        self.switch.handle_packet(now, self.ports[wire], packet);
    }

    fn handle_timeout(&mut self, now: Time) {
        self.switch.handle_timeout(now);
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.switch.poll_timeout()
    }

    fn poll_transmit(&mut self) -> Option<Departure> {
        loop {
            let transmit = self.switch.sent.pop_front()?;
            let (start, end, packet) = (transmit.start, transmit.end, transmit.packet);
            match self.wires.get(usize::from(transmit.port)).copied().flatten() {
                Some(wire) => {
                    let at = end + self.delays[wire];
                    return Some(Departure { wire, start, end, at, packet });
                }
                // A port without a cable.
                None => self.recycle(packet),
            }
        }
    }

    fn is_paused(&self) -> bool {
        self.switch.paused > 0
    }

    fn take_packet(&mut self) -> Packet {
        match &mut self.switch.switch {
            Some(switch) => switch.take_packet(),
            None => Packet::default(),
        }
    }

    fn recycle(&mut self, packet: Packet) {
        if let Some(switch) = &mut self.switch.switch {
            switch.recycle(packet);
        }
    }
}
