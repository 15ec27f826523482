//! A switch of its own on a path, or a pipe of one: `narrows switch` with live ports.

use narrows_common::{Duration, Packet, Time};

use super::{Crossing, Departure, Node};
use crate::network::managed_switch::Controlled;

/// A switch whose ports are wires, or one of its pipes with the wires of its ports.
pub struct SwitchNode {
    switch: Box<Controlled>,
    /// The ports' numbers, by wire and then by side.
    ports: Vec<u16>,
    /// The wire of a port by its number.
    wires: Vec<Option<usize>>,
    /// What a wire delays.
    delays: Vec<Duration>,
    /// To the other pipes, where there are some.
    crossing: Option<Crossing>,
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
            crossing: None,
        }
    }

    /// The same as one of several pipes.
    #[must_use]
    pub fn with_crossing(mut self, crossing: Option<Crossing>) -> Self {
        self.crossing = crossing;
        self
    }

    /// The same with the numbers of the ports that its path has receive queues of
    /// ([`super::Path::with_sides`]).
    #[must_use]
    pub fn with_sides(mut self, ports: &[u16]) -> Self {
        self.ports.extend(ports);
        self
    }

    /// The switch, for its controllers.
    pub fn controlled(&mut self) -> &mut Controlled {
        &mut self.switch
    }

    /// Gives the switch back.
    pub fn into_controlled(self) -> Controlled {
        *self.switch
    }
}

impl Node for SwitchNode {
    fn handle_packet(&mut self, now: Time, wire: usize, packet: Packet) {
        self.switch.handle_packet(now, self.ports[wire], packet);
    }

    fn handle_timeout(&mut self, now: Time) {
        self.switch.handle_timeout(now);
        if let Some(crossing) = &mut self.crossing {
            crossing.send(&mut self.switch);
        }
    }

    fn take_over(&mut self) -> usize {
        self.crossing.as_mut().map_or(0, |crossing| crossing.take_in(&mut self.switch))
    }

    fn poll_timeout(&self) -> Option<Time> {
        if self.is_full() { Some(Time::ZERO) } else { self.switch.poll_timeout() }
    }

    fn is_full(&self) -> bool {
        self.crossing.as_ref().is_some_and(Crossing::is_full)
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
