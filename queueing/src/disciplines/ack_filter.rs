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

/// A connection's direction: addresses, of IPv4 followed by zeros, and ports.
type Flow = [u8; 36];

/// The connection and the number of a pure ACK; `None` for all other packets.
fn pure_ack(packet: &Packet) -> Option<(Flow, u32)> {
    const ETHERNET: usize = 14;
    const IPV6_BYTES: usize = 40;
    const TCP: u8 = 6;
    const ONLY_ACK: u8 = 0x10;
    const ECN_FLAGS: u8 = 0xc0;
    let ip = packet.data.get(ETHERNET..)?;
    let length = |at: usize| Some(usize::from(u16::from_be_bytes(*ip.get(at..)?.first_chunk()?)));
    let (addresses, protocol, total, ip_bytes) = match (&packet.data[12..14], ip.first()? >> 4) {
        ([8, 0], 4) => {
            let is_fragment = ip.get(6)? & 0x3f != 0 || ip.get(7)? != &0;
            let protocol = ip.get(9).filter(|_| !is_fragment)?;
            (ip.get(12..20)?, protocol, length(2)?, usize::from(ip[0] & 15) * 4)
        }
        ([0x86, 0xdd], 6) => (ip.get(8..40)?, ip.get(6)?, IPV6_BYTES + length(4)?, IPV6_BYTES),
        _ => return None,
    };
    let tcp = ip.get(ip_bytes..)?;
    let tcp_bytes = usize::from(tcp.get(12)? >> 4) * 4;
    let is_ack = tcp.get(13)? & !ECN_FLAGS == ONLY_ACK;
    if *protocol != TCP || !is_ack || total != ip_bytes + tcp_bytes {
        return None;
    }
    let mut flow = [0; 36];
    flow[..addresses.len()].copy_from_slice(addresses);
    flow[32..].copy_from_slice(&tcp[..4]);
    Some((flow, u32::from_be_bytes(tcp[8..12].try_into().ok()?)))
}

/// True if a new ACK of the same connection makes a queued one redundant.
fn is_superseded(waiting: &Packet, (flow, ack): (Flow, u32)) -> bool {
    pure_ack(waiting).is_some_and(|(other, older)| {
        other == flow && older != ack && ack.wrapping_sub(older) < 1 << 31
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame of these IP bytes, and a TCP header with these flags.
    fn frame(ethertype: [u8; 2], ip: &[u8], flags: u8) -> Packet {
        let mut data = [&[0; 12][..], &ethertype, ip].concat();
        data.extend([0x12, 0x34, 0, 80, 0, 0, 0, 1, 0, 0, 0, 7, 0x50, flags, 1, 0, 0, 0, 0, 0]);
        Packet { data, ..Packet::default() }
    }

    fn ipv6(length: u8, next_header: u8) -> Vec<u8> {
        let mut ip = vec![0; 40];
        (ip[0], ip[5], ip[6], ip[23], ip[39]) = (0x60, length, next_header, 1, 2);
        ip
    }

    #[test]
    fn pure_acks_are_known_in_ipv4_and_ipv6() {
        let ipv4 = [0x45, 0, 0, 40, 0, 0, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        let (flow, ack) = pure_ack(&frame([8, 0], &ipv4, 0x10)).unwrap();
        assert_eq!(
            (ack, &flow[..9], &flow[31..]),
            (7, &[10, 0, 0, 1, 10, 0, 0, 2, 0][..], &[0, 0x12, 0x34, 0, 80][..])
        );
        let (flow, ack) = pure_ack(&frame([0x86, 0xdd], &ipv6(20, 6), 0x10)).unwrap();
        assert_eq!((ack, flow[15], &flow[31..]), (7, 1, &[2, 0x12, 0x34, 0, 80][..]));
    }

    #[test]
    fn other_packets_over_ipv6_are_none() {
        for (length, next_header, flags) in
            [(21, 6, 0x10), (20, 17, 0x10), (20, 0, 0x10), (20, 6, 0x12)]
        {
            assert_eq!(pure_ack(&frame([0x86, 0xdd], &ipv6(length, next_header), flags)), None);
        }
        let mut short = frame([0x86, 0xdd], &ipv6(20, 6), 0x10);
        short.data.truncate(60);
        assert_eq!(pure_ack(&short), None);
    }
}
