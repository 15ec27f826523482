//! The ECN field of a packet (RFC 3168 section 5), in IPv4 and IPv6. Read without etherparse or
//! smoltcp, for the reasons of `flow_hash.rs`.

use narrows_common::Packet;

/// An ECN codepoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ecn {
    /// The transport does not understand marks, or the packet is not IP.
    NotCapable,
    /// ECT(1): a scalable transport (RFC 9331).
    Ect1,
    /// ECT(0): a classic transport.
    Ect0,
    /// Congestion experienced.
    Ce,
}

const ETHERNET: usize = 14;
const CODEPOINT: u8 = 3;

/// The ECN codepoint of a packet.
#[inline]
pub fn ecn(packet: &Packet) -> Ecn {
    EcnBytes::of(packet).codepoint()
}

/// Where a packet has its ECN field: the EtherType, and the second byte behind it.
///
/// Equal before and after a program, they say that it did not mark the packet. The byte between
/// them is left out: where a program has just written some of several bytes, a processor waits
/// before it can read them together.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct EcnBytes(Option<([u8; 2], u8)>);

impl EcnBytes {
    /// Of a packet now.
    #[inline]
    pub fn of(packet: &Packet) -> Self {
        let bytes = packet.data.get(12..16);
        EcnBytes(bytes.map(|bytes| ([bytes[0], bytes[1]], bytes[3])))
    }

    /// The codepoint.
    #[inline]
    pub fn codepoint(self) -> Ecn {
        let bits = match self.0 {
            Some(([8, 0], tos)) => tos & CODEPOINT,
            Some(([0x86, 0xdd], class)) => class >> 4 & CODEPOINT,
            _ => 0,
        };
        [Ecn::NotCapable, Ecn::Ect1, Ecn::Ect0, Ecn::Ce][usize::from(bits)]
    }
}

/// Sets the congestion-experienced codepoint and brings IPv4's checksum up to date
/// (RFC 1624, eqn. 3). A packet without the field stays as it is.
pub fn mark_ce(packet: &mut Packet) {
    let data = &mut packet.data;
    match data.get(12..ETHERNET + 2) {
        Some([8, 0, ..]) if data.len() >= ETHERNET + 12 => {
            let (before, at) = (data[ETHERNET + 1], ETHERNET + 10);
            data[ETHERNET + 1] |= CODEPOINT;
            let checksum = u16::from_be_bytes([data[at], data[at + 1]]);
            let added = u32::from(data[ETHERNET + 1] - before);
            // The sum grows by what the field grew; ones' complement carries around.
            let sum = u32::from(!checksum) + added;
            let folded = (sum & 0xffff) + (sum >> 16);
            data[at..at + 2].copy_from_slice(&(!(folded as u16)).to_be_bytes());
        }
        Some([0x86, 0xdd, ..]) => data[ETHERNET + 1] |= CODEPOINT << 4,
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An IPv4 header of 20 bytes with a type-of-service byte and its checksum, summed here.
    fn ipv4(tos: u8) -> Packet {
        let mut data = vec![0; 34];
        data[12..14].copy_from_slice(&[8, 0]);
        data[14..26].copy_from_slice(&[0x45, tos, 5, 0xdc, 0xab, 0xcd, 0, 0, 64, 6, 0, 0]);
        data[26..34].copy_from_slice(&[10, 0, 1, 1, 10, 0, 2, 1]);
        let sum: u32 = data[14..].chunks(2).map(|w| u32::from(w[0]) << 8 | u32::from(w[1])).sum();
        let sum = (sum & 0xffff) + (sum >> 16);
        data[24..26].copy_from_slice(&(!(sum as u16)).to_be_bytes());
        Packet { data, ..Packet::default() }
    }

    #[test]
    fn codepoints_are_read_from_ipv4_and_ipv6() {
        let expected = [Ecn::NotCapable, Ecn::Ect1, Ecn::Ect0, Ecn::Ce];
        for (bits, expected) in (0u8..).zip(expected) {
            assert_eq!(ecn(&ipv4(0xb8 | bits)), expected);
            let mut ipv6 = Packet { data: vec![0; 54], ..Packet::default() };
            ipv6.data[12..16].copy_from_slice(&[0x86, 0xdd, 0x6b, bits << 4 | 0x0f]);
            assert_eq!(ecn(&ipv6), expected);
        }
        assert_eq!(ecn(&Packet::from_bytes(&[0; 15])), Ecn::NotCapable);
    }

    #[test]
    fn a_mark_leaves_a_right_checksum() {
        for tos in [1, 2, 3, 0xb9, 0xfe] {
            let mut packet = ipv4(tos);
            mark_ce(&mut packet);
            assert_eq!(packet, ipv4(tos | 3), "type of service {tos:#x}");
        }
        let mut ipv6 = Packet { data: vec![0; 54], ..Packet::default() };
        ipv6.data[12..16].copy_from_slice(&[0x86, 0xdd, 0x60, 0x25]);
        mark_ce(&mut ipv6);
        assert_eq!(ipv6.data[12..16], [0x86, 0xdd, 0x60, 0x35]);
    }

    #[test]
    fn what_is_no_ip_stays_as_it_is() {
        for bytes in [&[0xffu8; 60][..], &[0; 3], &[]] {
            let mut packet = Packet::from_bytes(bytes);
            mark_ce(&mut packet);
            assert_eq!(packet, Packet::from_bytes(bytes));
        }
    }
}
