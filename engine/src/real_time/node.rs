//! What a data path drives.

use narrows_common::{Packet, Time};

use crate::network::wire_map::Departure;

/// What a data path drives: an engine with its wires numbered from 0.
pub trait Node {
    /// A packet came in by a wire.
    fn handle_packet(&mut self, now: Time, wire: usize, packet: Packet);
    /// Does what is due at `now`.
    fn handle_timeout(&mut self, now: Time);
    /// When [`Node::handle_timeout`] is to be called; a call may find nothing to do.
    fn poll_timeout(&self) -> Option<Time>;
    /// The next packet to leave; those of one wire in the order of their instants.
    fn poll_transmit(&mut self) -> Option<Departure>;
    /// True while no packet is to be handled.
    fn is_paused(&self) -> bool {
        false
    }
    /// True while packets that come in are to wait in their ports.
    fn is_full(&self) -> bool {
        false
    }
    /// Handles the packets from other cores. Returns how many.
    fn receive_from_cores(&mut self) -> usize {
        0
    }
    /// An empty packet.
    fn take_packet(&mut self) -> Packet;
    /// Takes a packet back whose memory can serve again.
    fn recycle(&mut self, packet: Packet);
}
