//! Reads IP packets.

use crate::wire::addr::Mac;
use crate::wire::checksum;
use crate::wire::discard::Discard;
use crate::wire::ip::{
    ETHERNET_BYTES, ETHERTYPE_IPV4, ETHERTYPE_IPV6, Ecn, IPV4_BYTES, IPV6_BYTES, Payload, be16,
    be32,
};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use narrows_common::{Checksums, Packet};

const V4_BYTES: usize = ETHERNET_BYTES + IPV4_BYTES;
const V6_BYTES: usize = ETHERNET_BYTES + IPV6_BYTES;
const FRAGMENT_HEADER: u8 = 44;

/// Ethernet and IP header.
#[derive(Clone, Copy, Debug)]
enum Headers<'a> {
    V4(&'a [u8; V4_BYTES]),
    V6(&'a [u8; V6_BYTES]),
}

/// An IP packet with verified lengths, as a view of its bytes.
#[derive(Clone, Copy, Debug)]
pub struct IpPacket<'a> {
    headers: Headers<'a>,
    /// The transport's header and everything after it.
    pub payload: Payload<'a>,
    /// Whether a device has verified the transport's checksum, or will write it.
    pub is_checked: bool,
}

impl IpPacket<'_> {
    /// The destination of the frame.
    #[inline]
    pub fn destination_mac(&self) -> Mac {
        match self.headers {
            Headers::V4(headers) => Mac::from_slice(headers),
            Headers::V6(headers) => Mac::from_slice(headers),
        }
    }

    /// The source of the packet.
    #[inline]
    pub fn source(&self) -> IpAddr {
        match self.headers {
            Headers::V4(headers) => v4(headers, ETHERNET_BYTES + 12),
            Headers::V6(headers) => v6(headers, ETHERNET_BYTES + 8),
        }
    }

    /// The destination of the packet.
    #[inline]
    pub fn destination(&self) -> IpAddr {
        match self.headers {
            Headers::V4(headers) => v4(headers, ETHERNET_BYTES + 16),
            Headers::V6(headers) => v6(headers, ETHERNET_BYTES + 24),
        }
    }

    /// The ECN field: in IPv6 of the traffic class.
    #[inline]
    pub fn ecn(&self) -> Ecn {
        match self.headers {
            Headers::V4(headers) => Ecn::from_bits(headers[ETHERNET_BYTES + 1]),
            Headers::V6(headers) => Ecn::from_bits(headers[ETHERNET_BYTES + 1] >> 4),
        }
    }

    /// The transport's protocol number.
    #[inline]
    pub fn protocol(&self) -> u8 {
        match self.headers {
            Headers::V4(headers) => headers[ETHERNET_BYTES + 9],
            Headers::V6(headers) => headers[ETHERNET_BYTES + 6],
        }
    }

    /// True if a datagram may have no checksum (RFC 768): not in IPv6 (RFC 8200 section 8.1).
    #[inline]
    pub fn may_lack_checksum(&self) -> bool {
        matches!(self.headers, Headers::V4(_))
    }

    /// True if the sum over pseudo-header and payload is correct (RFC 9293 section 3.1, RFC 768,
    /// RFC 8200 section 8.1).
    #[inline]
    pub fn is_checksum_right(&self) -> bool {
        self.is_checked || self.is_sum_right(checksum::sum(self.payload.bytes))
    }

    /// True if the sum over pseudo-header and payload is correct, given the payload's.
    #[inline(always)]
    pub fn is_sum_right(&self, payload_sum: u64) -> bool {
        let addresses = match self.headers {
            Headers::V4(headers) => checksum::sum(&headers[ETHERNET_BYTES + 12..V4_BYTES]),
            Headers::V6(headers) => checksum::sum(&headers[ETHERNET_BYTES + 8..V6_BYTES]),
        };
        let pseudo = addresses + u64::from(self.protocol()) + u64::from(self.payload.len());
        checksum::fold(pseudo + payload_sum) == 0xffff
    }
}

#[inline]
fn v4(headers: &[u8; V4_BYTES], at: usize) -> IpAddr {
    Ipv4Addr::from_bits(be32(headers, at)).into()
}

#[inline]
fn v6(headers: &[u8; V6_BYTES], at: usize) -> IpAddr {
    let octets: &[u8; 16] = headers[at..].first_chunk().expect("an address in the header");
    Ipv6Addr::from(*octets).into()
}

/// Parses a packet; verifies every length, and IPv4's checksum unless a device has.
///
/// # Errors
/// Why the packet must be discarded.
#[inline(always)]
pub fn parse(packet: &Packet) -> Result<IpPacket<'_>, Discard> {
    if is_ipv4(packet) { parse_ipv4(packet) } else { parse_ipv6(packet) }
}

/// True for a packet that [`parse_ipv4`] parses; otherwise [`parse_ipv6`] does.
#[inline(always)]
pub fn is_ipv4(packet: &Packet) -> bool {
    packet.data.get(12..14).is_some_and(|ethertype| *ethertype == ETHERTYPE_IPV4)
}

/// Parses an IPv4 packet.
///
/// # Errors
/// Why the packet must be discarded.
#[inline(always)]
pub fn parse_ipv4(packet: &Packet) -> Result<IpPacket<'_>, Discard> {
    let (headers, behind) = packet.data.split_first_chunk().ok_or(Discard::Truncated)?;
    let headers: &[u8; V4_BYTES] = headers;
    let ip = &headers[ETHERNET_BYTES..];
    let (header_bytes, total_bytes) = (usize::from(ip[0] & 0xf) * 4, usize::from(be16(ip, 2)));
    if ip[0] >> 4 != 4 || header_bytes < IPV4_BYTES || total_bytes < header_bytes {
        return Err(Discard::BadIpHeader);
    }
    if total_bytes > packet.len() - ETHERNET_BYTES {
        return Err(Discard::Truncated);
    }
    let (options, bytes) =
        behind.split_at_checked(header_bytes - IPV4_BYTES).ok_or(Discard::Truncated)?;
    let is_checked = packet.checksums != Checksums::Written;
    let options_sum = || if options.is_empty() { 0 } else { checksum::sum(options) };
    if !is_checked && checksum::fold(checksum::sum(ip) + options_sum()) != 0xffff {
        return Err(Discard::BadIpChecksum);
    }
    if be16(ip, 6) & 0x3fff != 0 {
        return Err(Discard::Fragment);
    }
    let payload = payload(bytes, total_bytes - header_bytes);
    Ok(IpPacket { headers: Headers::V4(headers), payload, is_checked })
}

/// Parses a packet that is not IPv4. Apart, so that the path of IPv4 stays short.
///
/// # Errors
/// Why the packet must be discarded.
#[inline(never)]
pub fn parse_ipv6(packet: &Packet) -> Result<IpPacket<'_>, Discard> {
    if packet.data.len() < V4_BYTES {
        return Err(Discard::Truncated);
    }
    if packet.data[12..14] != ETHERTYPE_IPV6 {
        return Err(Discard::NotIp);
    }
    let (headers, bytes) = packet.data.split_first_chunk().ok_or(Discard::Truncated)?;
    let headers: &[u8; V6_BYTES] = headers;
    let ip = &headers[ETHERNET_BYTES..];
    if ip[0] >> 4 != 6 {
        return Err(Discard::BadIpHeader);
    }
    let payload_bytes = usize::from(be16(ip, 4));
    if payload_bytes > packet.len() - V6_BYTES {
        return Err(Discard::Truncated);
    }
    if ip[6] == FRAGMENT_HEADER {
        return Err(Discard::Fragment);
    }
    Ok(IpPacket {
        headers: Headers::V6(headers),
        payload: payload(bytes, payload_bytes),
        is_checked: packet.checksums != Checksums::Written,
    })
}

/// The payload of this length; bytes after it are Ethernet padding.
#[inline(always)]
fn payload(bytes: &[u8], payload_bytes: usize) -> Payload<'_> {
    let bytes = &bytes[..bytes.len().min(payload_bytes)];
    Payload { bytes, zeros: (payload_bytes - bytes.len()) as u32 }
}
