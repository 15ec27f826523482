//! Ports on other cores. Each core receives and sends by ports of its own; the first one also has
//! the program and the traffic manager, so that there is one pipeline, with one order of packets.
//!
//! ```text
//! port ─▶ Path of a Relay ── arrivals, with their instants ─▶ Link ─▶ Path of the switch
//! port ◀─ Path of a Relay ◀─ departures, with their instants ─ Link ◀─┘
//! ```
//!
//! Of `n` cores the `k`th has every `n`th wire from its own number on, so a wire's number says
//! where it is. A packet's instant of arrival is the one at which its own core found it.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, Sender, SyncSender, TrySendError, channel, sync_channel};

use narrows_common::{Packet, Time};

use super::{Departure, Node};

/// Packets that may be on their way to the switch's core; others wait in their ports.
const ARRIVALS: usize = 1024;
/// Packets that the switch's core takes from a link at a time.
const MOST: usize = 256;
/// Emptied packets that a relay keeps.
const SPARE_MAX: usize = 4096;

/// A packet that came.
#[derive(Debug)]
pub(crate) struct Arrival {
    pub(crate) at: Time,
    pub(crate) wire: usize,
    pub(crate) packet: Packet,
}

/// The switch's end.
#[derive(Debug)]
pub struct Link {
    arrivals: Receiver<Arrival>,
    departures: Sender<Departure>,
}

/// The other end: what a path on another core drives.
#[derive(Debug)]
pub struct Relay {
    arrivals: SyncSender<Arrival>,
    departures: Receiver<Departure>,
    /// What the switch's core has not taken yet.
    waiting: VecDeque<Arrival>,
    spare: Vec<Packet>,
}

/// A link and its relay.
pub fn link() -> (Link, Relay) {
    let (to_switch, arrivals) = sync_channel(ARRIVALS);
    let (departures, from_switch) = channel();
    let relay = Relay {
        arrivals: to_switch,
        departures: from_switch,
        waiting: VecDeque::new(),
        spare: vec![],
    };
    (Link { arrivals, departures }, relay)
}

impl Link {
    /// What has come, by the relay's own numbers of wires.
    pub(crate) fn receive(&self) -> impl Iterator<Item = Arrival> {
        self.arrivals.try_iter().take(MOST)
    }

    /// A packet is to leave.
    pub(crate) fn send(&self, departure: Departure) {
        // A relay ends after the switch's core does.
        let _ = self.departures.send(departure);
    }
}

impl Relay {
    fn flush(&mut self) {
        while let Some(arrival) = self.waiting.pop_front() {
            match self.arrivals.try_send(arrival) {
                Ok(()) | Err(TrySendError::Disconnected(_)) => {}
                Err(TrySendError::Full(arrival)) => {
                    self.waiting.push_front(arrival);
                    break;
                }
            }
        }
    }
}

impl Node for Relay {
    fn handle_packet(&mut self, at: Time, wire: usize, packet: Packet) {
        self.waiting.push_back(Arrival { at, wire, packet });
    }

    fn handle_timeout(&mut self, _: Time) {}

    fn poll_timeout(&self) -> Option<Time> {
        None
    }

    fn poll_transmit(&mut self) -> Option<Departure> {
        self.flush();
        self.departures.try_recv().ok()
    }

    fn is_paused(&self) -> bool {
        !self.waiting.is_empty()
    }

    fn take_packet(&mut self) -> Packet {
        self.spare.pop().unwrap_or_default()
    }

    fn recycle(&mut self, mut packet: Packet) {
        if self.spare.len() < SPARE_MAX {
            packet.clear();
            self.spare.push(packet);
        }
    }
}
