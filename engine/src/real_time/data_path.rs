//! The data path: one loop over ports and clock, run to completion on one thread.

use narrows_common::{Duration, Packet, Time};
use narrows_dpdk::{BURST, Clock, Eal, Idle, Mbuf, Start};

use super::inlet::{Inlet, RemoteQueue};
use super::meters::Polls;
use super::node::Node;
use super::wire::Wire;
use crate::record::instrument::Instrument;

/// How often to check links.
const LINK_CHECK: Duration = Duration::from_ms(100);

/// A received packet.
#[derive(Debug)]
struct Arrival {
    at: Time,
    wire: usize,
    packet: Box<Packet>,
}

/// Ports, clock, and their measured errors.
#[derive(Debug)]
pub struct DataPath {
    clock: Clock,
    idle: Idle,
    wires: Vec<Wire>,
    /// Numbered after the wires.
    remote_queues: Vec<RemoteQueue>,
    polls: Polls,
    received: Vec<Mbuf>,
    /// Mbufs of packets that were copied.
    free: Vec<Mbuf>,
    arrived: Vec<Arrival>,
    /// The latest time passed to the node.
    node_time: Time,
    /// When to check links next.
    link_check_at: Time,
}

impl DataPath {
    /// A path over `wires`; its time begins with [`DataPath::begin`].
    pub fn new(clock: Clock, idle: Idle, wires: Vec<Wire>) -> Self {
        DataPath {
            clock,
            idle,
            wires,
            remote_queues: vec![],
            polls: Polls::new(),
            received: Vec::with_capacity(BURST),
            free: Vec::with_capacity(BURST),
            arrived: vec![],
            node_time: Time::ZERO,
            link_check_at: Time::ZERO,
        }
    }

    /// Adds receive queues of other paths' wires. Their packets carry the numbers after those of
    /// its own wires.
    #[must_use]
    pub fn with_remote_queues(mut self, remote_queues: Vec<RemoteQueue>) -> Self {
        self.remote_queues = remote_queues;
        self
    }

    /// Its wires.
    pub fn wires(&self) -> &[Wire] {
        &self.wires
    }

    /// Checks the wires' links. Returns a wire whose link is down and has no other end.
    pub fn check_links(&mut self) -> Option<&Wire> {
        let up: Vec<bool> = self.wires.iter_mut().map(Wire::check_link).collect();
        up.iter().position(|up| !up).map(|down| &self.wires[down])
    }

    /// Whether no packet waits to leave.
    pub fn has_sent_all(&self) -> bool {
        self.wires.iter().all(|wire| wire.poll_timeout().is_none())
    }

    /// Its clock's rate, which other processes can adopt ([`Start`]).
    pub fn clock_rate(&self) -> u64 {
        self.clock.rate()
    }

    /// Binds the path to this thread and sets the clock to zero: immediately, or as `start` says.
    /// Returns `CLOCK_MONOTONIC_RAW` at that instant, in nanoseconds.
    pub fn begin(&mut self, eal: Eal, start: Option<Start>) -> u64 {
        self.idle.begin(eal);
        match start {
            Some(start) => self.clock.restart_at(start),
            None => self.clock.restart(),
        }
    }

    /// One turn: receives packets, handles what is due, sends what is due, and waits briefly if
    /// there was nothing. Returns the time at its end; nothing in the turn was later.
    pub fn turn(&mut self, node: &mut impl Node) -> Time {
        let now = self.clock.now();
        self.polls.add(now);
        if now >= self.link_check_at {
            self.link_check_at = now + LINK_CHECK;
            self.check_links();
            self.wires.iter_mut().for_each(|wire| wire.read_device_clock(&mut self.clock));
            self.remote_queues.iter_mut().for_each(|side| side.read_device_clock(&mut self.clock));
        }
        let mut is_idle = true;
        if !node.is_paused() {
            is_idle = node.receive_from_cores() == 0;
            if !node.is_full() {
                self.receive(node);
            }
            is_idle &= self.arrived.is_empty();
            for Arrival { at, wire, packet } in self.arrived.drain(..) {
                // A packet found late can't change what was done before.
                self.node_time = self.node_time.max(at);
                node.handle_packet(self.node_time, wire, packet);
            }
            self.node_time = self.clock.now();
            node.handle_timeout(self.node_time);
        }
        while let Some(departure) = node.poll_transmit() {
            self.wires[departure.wire].send(departure);
        }
        for wire in &mut self.wires {
            is_idle &= wire.transmit_due(&mut self.clock, node) == 0;
        }
        if is_idle {
            let wires = self.wires.iter().filter_map(Wire::poll_timeout);
            let next = wires.chain(node.poll_timeout()).min().unwrap_or(Time::MAX);
            let now = self.clock.now();
            self.idle.wait(now, next.saturating_since(now));
        } else {
            self.idle.rest(self.clock.now());
        }
        self.clock.now()
    }

    /// Receives packets and handles them in the order of their arrival.
    fn receive(&mut self, node: &mut impl Node) {
        for number in 0..self.wires.len() {
            if self.wires[number].receive(&mut self.received) > 0 {
                self.unpack(node, number);
            }
        }
        for number in 0..self.remote_queues.len() {
            if self.remote_queues[number].receive(&mut self.received) > 0 {
                self.unpack(node, self.wires.len() + number);
            }
        }
        self.arrived.sort_by_key(|arrival| arrival.at);
    }

    /// Converts the mbufs of a wire or remote queue to packets.
    fn unpack(&mut self, node: &mut impl Node, wire: usize) {
        let inlet: &mut Inlet = match self.wires.len() {
            wires if wire < wires => self.wires[wire].inlet(),
            wires => &mut self.remote_queues[wire - wires].inlet,
        };
        let (now, is_short) = (self.clock.now(), inlet.is_short());
        for mbuf in self.received.drain(..) {
            let mut packet = node.take_packet();
            let (at, free) = inlet.unpack(now, mbuf, is_short, &mut packet);
            self.free.extend(free);
            self.arrived.push(Arrival { at, wire, packet });
        }
        Mbuf::free_all(&mut self.free);
    }

    /// The path's measured error so far.
    pub fn instrument(&self) -> Instrument {
        Instrument {
            clock: "tsc",
            clock_error_ppm: self.clock.error_ppm(),
            clock_steps_back: self.clock.steps_back(),
            polls: self.polls.summary(self.idle.standing()),
            wires: self.wires.iter().map(Wire::summary).collect(),
            remote_queues: self.remote_queues.iter().map(RemoteQueue::summary).collect(),
        }
    }
}
