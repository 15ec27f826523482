//! The data path: one loop over ports and clock, run to completion on one thread.

use narrows_common::{Duration, Packet, Time};
use narrows_dpdk::{BURST, Clock, Eal, Idle, Mbuf, Start};

use super::Node;
use super::instrument::{Instrument, Polls};
use super::wire::Wire;

/// How often links are looked after.
const LOOK: Duration = Duration::from_ms(100);

/// Ports, clock, and what they were off by.
#[derive(Debug)]
pub struct Path {
    clock: Clock,
    idle: Idle,
    wires: Vec<Wire>,
    polls: Polls,
    received: Vec<Mbuf>,
    /// When links are looked after again.
    look_at: Time,
}

impl Path {
    /// A path over `wires`; its time begins with [`Path::begin`].
    pub fn new(clock: Clock, idle: Idle, wires: Vec<Wire>) -> Self {
        let (polls, received) = (Polls::new(), Vec::with_capacity(BURST));
        Path { clock, idle, wires, polls, received, look_at: Time::ZERO }
    }

    /// Looks after the wires' links; a wire whose link is down: its other end is not there.
    pub fn look(&mut self) -> Option<&Wire> {
        let up: Vec<bool> = self.wires.iter_mut().map(Wire::look).collect();
        up.iter().position(|up| !up).map(|down| &self.wires[down])
    }

    /// Whether nothing waits to leave.
    pub fn has_sent_all(&self) -> bool {
        self.wires.iter().all(|wire| wire.poll_timeout().is_none())
    }

    /// Its clock's rate, by which others can have the same ([`Start`]).
    pub fn clock_rate(&self) -> u64 {
        self.clock.rate()
    }

    /// Makes this thread the path's, and sets the clock to zero: at once, or as `start` says.
    /// Returns what `CLOCK_MONOTONIC_RAW` is at that instant, in nanoseconds.
    pub fn begin(&mut self, eal: Eal, start: Option<Start>) -> u64 {
        self.idle.begin(eal);
        match start {
            Some(start) => self.clock.restart_at(start),
            None => self.clock.restart(),
        }
    }

    /// One turn: takes in what has come, does what is due, sends what is due, and waits a little
    /// when there was nothing. Returns the time at its end, which nothing in it was after.
    pub fn turn(&mut self, node: &mut impl Node) -> Time {
        let now = self.clock.now();
        self.polls.add(now);
        if now >= self.look_at {
            self.look_at = now + LOOK;
            self.look();
        }
        let mut is_idle = true;
        if !node.is_paused() {
            for wire in 0..self.wires.len() {
                is_idle &= self.receive(node, wire) == 0;
            }
            node.handle_timeout(self.clock.now());
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
            self.idle.rest(now);
        }
        self.clock.now()
    }

    fn receive(&mut self, node: &mut impl Node, wire: usize) -> usize {
        let count = self.wires[wire].receive(&mut self.received);
        if count == 0 {
            return 0;
        }
        let now = self.clock.now();
        for mbuf in self.received.drain(..) {
            let mut packet: Packet = node.take_packet();
            packet.data.extend_from_slice(mbuf.data());
            node.handle_packet(now, wire, packet);
        }
        count
    }

    /// The path's error so far.
    pub fn instrument(&self) -> Instrument {
        Instrument {
            clock: "tsc",
            clock_error_ppm: self.clock.error_ppm(),
            clock_steps_back: self.clock.steps_back(),
            polls: self.polls.summary(),
            wires: self.wires.iter().map(Wire::summary).collect(),
        }
    }
}
