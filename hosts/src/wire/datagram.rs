//! Datagrams as bytes: UDP (RFC 768) in IPv4 packets.

use crate::wire::addr::{Endpoint, Mac};
use crate::wire::ip::{
    Discard, ETHERNET_BYTES, Ecn, IPV4_BYTES, IpEmitter, IpPacket, PROTOCOL_UDP, Payload, be16,
};
use core::net::Ipv4Addr;
use narrows_common::Packet;

/// UDP header in bytes.
pub const UDP_BYTES: usize = 8;

const UDP_AT: usize = ETHERNET_BYTES + IPV4_BYTES;
const HEADERS_BYTES: usize = UDP_AT + UDP_BYTES;
/// The longest payload of a datagram in an IPv4 packet.
pub const MOST_PAYLOAD_BYTES: u32 = 65_535 - IPV4_BYTES as u32 - UDP_BYTES as u32;

/// A parsed datagram.
#[derive(Clone, Copy, Debug)]
pub struct Datagram<'a> {
    /// Source and destination ports.
    pub ports: (u16, u16),
    /// The IP header's ECN field.
    pub ecn: Ecn,
    /// Payload.
    pub payload: Payload<'a>,
}

/// Parses the datagram in an IPv4 packet; verifies its length, and its checksum if it has one.
///
/// # Errors
/// Why the packet must be discarded.
pub fn parse_datagram<'a>(packet: &IpPacket<'a>) -> Result<Datagram<'a>, Discard> {
    let Payload { bytes: udp, zeros } = packet.payload;
    if udp.len() < UDP_BYTES {
        return Err(Discard::Truncated);
    }
    if u32::from(be16(udp, 4)) != packet.payload.len() {
        return Err(Discard::BadUdpHeader);
    }
    if be16(udp, 6) != 0 && !packet.is_checksum_right() {
        return Err(Discard::BadUdpChecksum);
    }
    Ok(Datagram {
        ports: (be16(udp, 0), be16(udp, 2)),
        ecn: packet.ecn(),
        payload: Payload { bytes: &udp[UDP_BYTES..], zeros },
    })
}

type Ip = IpEmitter<HEADERS_BYTES>;

/// Writes the datagrams of one end of a flow.
#[derive(Clone, Debug)]
pub struct Emitter {
    ip: Ip,
}

impl Emitter {
    /// A writer from this host's port to a peer.
    pub fn new(macs: (Mac, Mac), ip: Ipv4Addr, port: u16, peer: Endpoint) -> Self {
        let ports = (port, peer.port);
        Emitter { ip: IpEmitter::new(macs, (ip, peer.ip), PROTOCOL_UDP, ports) }
    }

    /// Changes the settings of the IP header: `emitter.with_ip(|ip| ip.with_ttl(2))`.
    #[must_use]
    pub fn with_ip(mut self, set: impl FnOnce(Ip) -> Ip) -> Self {
        self.ip = set(self.ip);
        self
    }

    /// Writes a datagram into an empty packet: these parts of its payload, then zeros.
    pub fn emit(&mut self, ecn: Ecn, parts: &[&[u8]], zeros: u32, packet: &mut Packet) {
        self.ip.begin(ecn, packet);
        for part in parts {
            packet.data.extend_from_slice(part);
        }
        packet.zeros = zeros;
        let length = (packet.len() - UDP_AT) as u16;
        let (headers, checksum) = self.ip.finish(length.into(), packet);
        headers[UDP_AT + 4..UDP_AT + 6].copy_from_slice(&length.to_be_bytes());
        // RFC 768: 0 would mean no checksum.
        let checksum = if checksum == 0 { 0xffff } else { checksum };
        headers[UDP_AT + 6..UDP_AT + 8].copy_from_slice(&checksum.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::ip;
    use narrows_common::Checksums;

    fn emitter() -> Emitter {
        let macs = (Mac([2, 0, 0, 0, 0, 1]), Mac([2, 0, 0, 0, 0, 2]));
        let peer = Endpoint { ip: [10, 0, 0, 2].into(), port: 0x0050 };
        Emitter::new(macs, [10, 0, 0, 1].into(), 0x1234, peer)
    }

    fn parsed(packet: &Packet) -> Result<Datagram<'_>, Discard> {
        parse_datagram(&ip::parse(packet)?)
    }

    #[test]
    fn udp_datagram_byte_by_byte() {
        let mut packet = Packet::default();
        emitter().emit(Ecn::NotEct, &[b"ab", b"c"], 1, &mut packet);
        #[rustfmt::skip]
        let expected = [
            2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0,
            // 4500 + 0020 + 4000 + 4011 + 0a00 + 0001 + 0a00 + 0002 = d934; its complement is 26cb.
            0x45, 0, 0, 32, 0, 0, 0x40, 0, 64, 17, 0x26, 0xcb, 10, 0, 0, 1, 10, 0, 0, 2,
            // 1234 + 0050 + 000c + 6162 + 6300, and 0a00 + 0001 + 0a00 + 0002 + 0011 + 000c:
            // d6f2 + 1420 = eb12; its complement is 14ed.
            0x12, 0x34, 0, 0x50, 0, 12, 0x14, 0xed, b'a', b'b', b'c', 0,
        ];
        assert_eq!(packet.to_bytes(), expected);
        let datagram = parsed(&packet).unwrap();
        assert_eq!((datagram.ports, datagram.payload.len()), ((0x1234, 0x50), 4));
    }

    #[test]
    fn a_checksum_left_to_the_device_is_the_pseudo_headers_sum() {
        let mut packet = Packet::default();
        let mut emitter = emitter().with_ip(|ip| ip.leaving_checksum(true));
        emitter.emit(Ecn::NotEct, &[b"abc"], 1, &mut packet);
        assert_eq!(packet.data[40..42], [0x14, 0x20], "the second sum above");
        assert_eq!(packet.checksums, Checksums::Left { protocol: 17 });
    }

    #[test]
    fn what_is_damaged_is_named_and_no_checksum_is_none_to_check() {
        let mut whole = Packet::default();
        emitter().emit(Ecn::NotEct, &[b"ab"], 0, &mut whole);
        let damaged = |at: usize, byte: u8| {
            let mut packet = whole.clone();
            packet.data[at] = byte;
            parsed(&packet).map(|_| ())
        };
        assert_eq!(damaged(42, b'b'), Err(Discard::BadUdpChecksum));
        assert_eq!(damaged(39, 11), Err(Discard::BadUdpHeader));
        let mut unchecked = whole.clone();
        unchecked.data[40..43].copy_from_slice(&[0, 0, b'x']);
        assert!(parsed(&unchecked).is_ok());
    }

    #[test]
    fn a_checksum_that_comes_to_zero_is_sent_as_ones() {
        // The sum above without the payload, with other lengths: 1234 + 0050 + 000a and 0a00 + 0001
        // + 0a00 + 0002 + 0011 + 000a = 26ac. d953 completes it to ffff; its complement is 0.
        let mut packet = Packet::default();
        emitter().emit(Ecn::NotEct, &[&[0xd9, 0x53]], 0, &mut packet);
        assert_eq!(packet.data[40..42], [0xff, 0xff]);
        assert!(parsed(&packet).is_ok());
    }
}
