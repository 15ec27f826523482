//! Datagrams as bytes: UDP (RFC 768) in IP packets.

use crate::wire::addr::{Endpoint, Mac};
use crate::wire::discard::Discard;
use crate::wire::ip::{ETHERNET_BYTES, Ecn, IPV6_BYTES, PROTOCOL_UDP, Payload, be16};
use crate::wire::ip_emitter::IpEmitter;
use crate::wire::ip_packet::IpPacket;
use core::net::IpAddr;
use narrows_common::Packet;

/// UDP header in bytes.
pub const UDP_BYTES: usize = 8;

const HEADERS_BYTES: usize = ETHERNET_BYTES + IPV6_BYTES + UDP_BYTES;

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

/// Parses the datagram in an IP packet; verifies its length, and its checksum, which only IPv4 may
/// lack.
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
    let is_right = match be16(udp, 6) {
        0 => packet.may_lack_checksum(),
        _ => packet.is_checksum_right(),
    };
    if !is_right {
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
    pub fn new(macs: (Mac, Mac), ip: IpAddr, port: u16, peer: Endpoint) -> Self {
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
        let length = (packet.len() - self.ip.transport_at()) as u16;
        let (udp, checksum) = self.ip.finish(length.into(), packet);
        udp[4..6].copy_from_slice(&length.to_be_bytes());
        // RFC 768: 0 would mean no checksum.
        let checksum = if checksum == 0 { 0xffff } else { checksum };
        udp[6..8].copy_from_slice(&checksum.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::ip_packet;
    use narrows_common::Checksums;

    fn emitter() -> Emitter {
        let macs = (Mac([2, 0, 0, 0, 0, 1]), Mac([2, 0, 0, 0, 0, 2]));
        let peer = Endpoint { ip: [10, 0, 0, 2].into(), port: 0x0050 };
        Emitter::new(macs, [10, 0, 0, 1].into(), 0x1234, peer)
    }

    fn parsed(packet: &Packet) -> Result<Datagram<'_>, Discard> {
        parse_datagram(&ip_packet::parse(packet)?)
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
    fn udp_over_ipv6_byte_by_byte() {
        let macs = (Mac([2, 0, 0, 0, 0, 1]), Mac([2, 0, 0, 0, 0, 2]));
        let peer = Endpoint { ip: "fd00::2".parse().unwrap(), port: 0x0050 };
        let mut emitter = Emitter::new(macs, "fd00::1".parse().unwrap(), 0x1234, peer)
            .with_ip(|ip| ip.leaving_checksum(true).with_dscp(46).with_ttl(3));
        let mut packet = Packet::default();
        emitter.emit(Ecn::Ect0, &[b"ab", b"c"], 1, &mut packet);
        #[rustfmt::skip]
        let expected = [
            2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x86, 0xdd,
            // Traffic class b8 | 2.
            0x6b, 0xa0, 0, 0, 0, 12, 17, 3,
            0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,
            0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2,
            // 1234 + 0050 + 000c + 6162 + 6300, and fd00 + 0001 + fd00 + 0002 + 0011 + 000c:
            // d6f2 + 1 fa20 = 2 d112, folded d114; its complement is 2eeb.
            0x12, 0x34, 0, 0x50, 0, 12, 0x2e, 0xeb, b'a', b'b', b'c', 0,
        ];
        assert_eq!(packet.to_bytes(), expected);
        assert_eq!(packet.checksums, Checksums::Written, "no device writes IPv6's");
        let datagram = parsed(&packet).unwrap();
        assert_eq!((datagram.ports, datagram.payload.len()), ((0x1234, 0x50), 4));
        assert_eq!(datagram.ecn, Ecn::Ect0);
        packet.data[60..62].copy_from_slice(&[0, 0]);
        assert_eq!(parsed(&packet).map(|_| ()), Err(Discard::BadUdpChecksum));
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
