//! Real time: the engines under the clock of the time-stamp counter, their packets on DPDK ports.
//!
//! The engines are the same and know nothing of it: a [`Node`] takes packets in and says what
//! leaves when, exactly; a [`DataPath`] polls ports and clock, and sends each packet as soon after its
//! instant as it can. A late poll makes a late packet, never a late schedule: what was to leave
//! when is worked out from the instants at which packets came. How late is in the [`Instrument`].
//!
//! ```text
//! port ─▶ handle_packet(now) ─┐                       ┌─▶ wire: waits for its instant ─▶ port
//!                            Node ── poll_transmit ───┤
//! clock ─▶ handle_timeout(now)┘                       └─▶ ...
//! ```

pub mod cores;
mod data_path;
mod device_clock;
mod generator;
mod inlet;
mod instrument;
mod inter_core_rings;
mod network_node;
mod switch_node;
mod wire;
mod wire_map;

use narrows_common::{Packet, Time};

pub use data_path::DataPath;
pub use generator::{Generated, Generator, Stream, generate};
pub use inlet::RemoteQueue;
pub use instrument::{Executor, Instrument, PollSummary, WireSummary};
pub use inter_core_rings::{InterCoreRings, inter_core_rings};
pub use network_node::{RealTime, Verdict, run};
pub use switch_node::SwitchNode;
pub use wire::Wire;
pub use wire_map::Devices;
pub(crate) use wire_map::WireMap;

/// A packet that is to leave by a wire.
#[derive(Debug)]
pub struct Departure {
    /// By which wire.
    pub wire: usize,
    /// When its transmission began.
    pub start: Time,
    /// When its last bit left.
    pub end: Time,
    /// When it is to be handed to the device: after `end` by what the wire delays.
    pub at: Time,
    /// The packet.
    pub packet: Packet,
}

/// What a path drives: an engine with its wires numbered from 0.
pub trait Node {
    /// A packet came in by a wire.
    fn handle_packet(&mut self, now: Time, wire: usize, packet: Packet);
    /// Does what is due at `now`.
    fn handle_timeout(&mut self, now: Time);
    /// When [`Node::handle_timeout`] is to be called; a call may find nothing to do.
    fn poll_timeout(&self) -> Option<Time>;
    /// The next packet to leave; those of one wire in the order of their instants.
    fn poll_transmit(&mut self) -> Option<Departure>;
    /// True while nothing is to go on.
    fn is_paused(&self) -> bool {
        false
    }
    /// True while packets that come in are to wait in their ports.
    fn is_full(&self) -> bool {
        false
    }
    /// Takes in what comes from other cores. Returns how many packets that is.
    fn take_over(&mut self) -> usize {
        0
    }
    /// An empty packet.
    fn take_packet(&mut self) -> Packet;
    /// Takes a packet back whose memory can serve again.
    fn recycle(&mut self, packet: Packet);
}
