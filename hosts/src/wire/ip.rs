//! Packets as bytes: Ethernet II, with IPv4 (RFC 791) or IPv6 (RFC 8200), for any transport.
//!
//! [`crate::wire::ip_packet`] reads a packet without copying it. [`crate::wire::ip_emitter`] writes
//! packets, from headers built once per flow. A payload is real bytes, followed by a count of
//! zeros. IPv6 has no extension headers here, and flow label 0.

use core::net::IpAddr;

/// Ethernet header in bytes.
pub const ETHERNET_BYTES: usize = 14;
/// IPv4 header without options in bytes.
pub const IPV4_BYTES: usize = 20;
/// IPv6 header in bytes.
pub const IPV6_BYTES: usize = 40;
/// TCP's protocol number.
pub const PROTOCOL_TCP: u8 = 6;
/// UDP's protocol number.
pub const PROTOCOL_UDP: u8 = 17;
/// The longest packet from its IP header on.
pub const MOST_PACKET_BYTES: u32 = 65_535;

pub(crate) const ETHERTYPE_IPV4: [u8; 2] = [0x08, 0x00];
pub(crate) const ETHERTYPE_IPV6: [u8; 2] = [0x86, 0xdd];

/// Bytes of the IP header, without options, of packets to this address.
pub const fn header_bytes(address: IpAddr) -> u32 {
    match address {
        IpAddr::V4(_) => IPV4_BYTES as u32,
        IpAddr::V6(_) => IPV6_BYTES as u32,
    }
}

/// How much less than with IPv4 a packet of the same length carries.
pub const fn beyond_ipv4_bytes(address: IpAddr) -> u32 {
    header_bytes(address) - IPV4_BYTES as u32
}

/// The ECN field of the IP header (RFC 3168 section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Ecn {
    /// The transport does not support ECN.
    #[default]
    NotEct = 0,
    /// ECT(1).
    Ect1 = 1,
    /// ECT(0).
    Ect0 = 2,
    /// Congestion experienced.
    Ce = 3,
}

impl Ecn {
    /// The code point in the lowest two bits.
    #[inline]
    pub(crate) fn from_bits(bits: u8) -> Self {
        match bits & 3 {
            0 => Ecn::NotEct,
            1 => Ecn::Ect1,
            2 => Ecn::Ect0,
            _ => Ecn::Ce,
        }
    }
}

/// A payload: real bytes, then zeros.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Payload<'a> {
    /// The real bytes.
    pub bytes: &'a [u8],
    /// The number of zeros after them.
    pub zeros: u32,
}

impl Payload<'_> {
    /// Its length in bytes.
    pub fn len(&self) -> u32 {
        self.bytes.len() as u32 + self.zeros
    }

    /// True if it is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[inline]
pub(crate) fn be16(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

#[inline]
pub(crate) fn be32(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}
