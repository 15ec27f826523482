//! ACK filtering: a TCP ACK that comes to a queue takes the place of the older ones that wait.
//!
//! Source: ns-2.35 PacketQueue/Semantic with `filteracks_`, after Balakrishnan, Padmanabhan and Katz,
//! MobiCom 1997 (RFC 3449 section 5.2.3): what a cumulative ACK says holds for all below it, so on
//! a path back that is too slow the older ones need not be sent. The new ACK keeps its place at
//! the tail. Only segments of nothing but an ACK count, and only those of the same connection and
//! direction with a lower number: duplicates stay.

use narrows_common::Packet;

/// A connection's direction: addresses, ports.
pub(crate) type Flow = [u8; 12];

/// The connection and the number of a segment that is nothing but an ACK; `None` for all others.
pub(crate) fn pure_ack(packet: &Packet) -> Option<(Flow, u32)> {
    const ETHERNET: usize = 14;
    const ONLY_ACK: u8 = 0x10;
    const ECN_FLAGS: u8 = 0xc0;
    let ip = packet.data.get(ETHERNET..)?;
    let is_ipv4 = packet.data[12..14] == [8, 0] && ip.first()? >> 4 == 4;
    let ip_bytes = usize::from(ip.first()? & 15) * 4;
    // TCP, and no fragment.
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

/// True when an ACK that waits says nothing beside a new one of its connection.
pub(crate) fn is_superseded(waiting: &Packet, (flow, ack): (Flow, u32)) -> bool {
    pure_ack(waiting).is_some_and(|(other, older)| {
        other == flow && older != ack && ack.wrapping_sub(older) < 1 << 31
    })
}
