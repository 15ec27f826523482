//! The interface that a data path drives.

use narrows_common::{Packet, Time};

use crate::network::wire_map::Departure;

/// An engine that a data path drives; its wires are numbered from 0.
pub trait Node {
    /// A packet arrived by a wire.
    fn handle_packet(&mut self, now: Time, wire: usize, packet: Box<Packet>);
    /// Handles everything due at `now`.
    fn handle_timeout(&mut self, now: Time);
    /// When to call [`Node::handle_timeout`]; the call may find nothing to do.
    fn poll_timeout(&self) -> Option<Time>;
    /// The next packet to send; packets of one wire come in time order.
    fn poll_transmit(&mut self) -> Option<Departure>;
    /// True while the node must not get packets.
    fn is_paused(&self) -> bool {
        false
    }
    /// True while arriving packets must wait in their ports.
    fn is_full(&self) -> bool {
        false
    }
    /// Handles the packets from other cores. Returns their number.
    fn receive_from_cores(&mut self) -> usize {
        0
    }
    /// An empty packet.
    fn take_packet(&mut self) -> Box<Packet>;
    /// Takes a packet back for reuse of its memory.
    fn recycle(&mut self, packet: Box<Packet>);
}
