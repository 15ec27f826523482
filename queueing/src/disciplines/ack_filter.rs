//! ACK filtering: an arriving TCP ACK replaces older ACKs in the queue.
//!
//! Source: ns-2.35 PacketQueue/Semantic with `filteracks_`, after Balakrishnan, Padmanabhan and
//! Katz, MobiCom 1997 (RFC 3449 section 5.2.3). A cumulative ACK includes all lower ones, so a slow
//! return path need not carry those. The new ACK goes to the tail. Only pure ACKs count, and only
//! those of the same connection and direction with a lower number: duplicates stay. Headers are
//! read without etherparse or smoltcp, for the reasons of `flow_hash.rs`.

use crate::discipline::{QueueDiscipline, Room, Setup};
use crate::outcomes::{DropReason, Outcomes, Reason};
use crate::queued::{Backlog, Fifo, Queued, QueuedPacket};
use crate::record::Record;
use narrows_common::{Packet, Time};

/// The discipline's entry in the list.
pub const RECORD: Record = Record {
    name: "ack-filter",
    title: "DropTail; a new ACK replaces older ACKs of its connection",
    reference: "RFC 3449 section 5.2.3; ns-2.35 PacketQueue/Semantic with filteracks_",
    parameters: &[],
    drops: &[Reason {
        name: "ack-filter",
        meaning: "a later ACK of the packet's connection arrived at the queue",
    }],
    marks: &[],
    is_fifo: true,
    not_implemented: &["segments that carry data with the ACK (ns-2 does not filter them either)"],
};

/// A filtering queue.
#[derive(Debug)]
pub struct AckFilter<P> {
    fifo: Fifo<P>,
    superseded: DropReason,
}

impl<P> AckFilter<P> {
    /// An empty queue.
    pub(super) fn new(setup: &Setup) -> Self {
        AckFilter { fifo: Fifo::default(), superseded: setup.drop_reason(0) }
    }
}

impl<P: QueuedPacket> QueueDiscipline<P> for AckFilter<P> {
    fn enqueue(&mut self, packet: Queued<P>, _now: Time, room: &Room, out: &mut Outcomes<P>) {
        if !room.admits(self.fifo.backlog(), packet.label.length) {
            return out.refuse(packet, DropReason::QUEUE_FULL);
        }
        if let Some(ack) = pure_ack(packet.packet.packet()) {
            let is_superseded = |waiting: &P| is_superseded(waiting.packet(), ack);
            while let Some(older) = self.fifo.remove_first(is_superseded) {
                out.discard(older, self.superseded);
            }
        }
        self.fifo.push(packet);
    }

    fn dequeue(&mut self, _now: Time, _out: &mut Outcomes<P>) -> Option<Queued<P>> {
        self.fifo.pop()
    }

    one_fifo!();
}

/// A connection's direction: addresses, ports.
type Flow = [u8; 12];

/// The connection and the number of a pure ACK; `None` for all other packets.
fn pure_ack(packet: &Packet) -> Option<(Flow, u32)> {
    const ETHERNET: usize = 14;
    const ONLY_ACK: u8 = 0x10;
    const ECN_FLAGS: u8 = 0xc0;
    let ip = packet.data.get(ETHERNET..)?;
    let is_ipv4 = packet.data[12..14] == [8, 0] && ip.first()? >> 4 == 4;
    let ip_bytes = usize::from(ip.first()? & 15) * 4;
    // Only TCP, and only unfragmented packets.
    if !is_ipv4 || ip.get(9)? != &6 || ip[6] & 0x3f != 0 || ip[7] != 0 {
        return None;
    }
    let total = usize::from(u16::from_be_bytes([ip[2], ip[3]]));
    let tcp = ip.get(ip_bytes..)?;
    let tcp_bytes = usize::from(tcp.get(12)? >> 4) * 4;
    if tcp.get(13)? & !ECN_FLAGS != ONLY_ACK || total != ip_bytes + tcp_bytes {
        return None;
    }
    let mut flow = [0; 12];
    flow[..8].copy_from_slice(ip.get(12..20)?);
    flow[8..].copy_from_slice(&tcp[..4]);
    Some((flow, u32::from_be_bytes(tcp[8..12].try_into().ok()?)))
}

/// True if a new ACK of the same connection makes a queued one redundant.
fn is_superseded(waiting: &Packet, (flow, ack): (Flow, u32)) -> bool {
    pure_ack(waiting).is_some_and(|(other, older)| {
        other == flow && older != ack && ack.wrapping_sub(older) < 1 << 31
    })
}
