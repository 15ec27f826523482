//! Packets as bytes: Ethernet II and IPv4 (RFC 791), for any transport.
//!
//! [`parse`] reads a packet without copying it. [`IpEmitter`] writes packets, from headers built
//! once per flow. A payload is real bytes, followed by a count of zeros.

use crate::wire::addr::Mac;
use crate::wire::checksum;
use core::net::Ipv4Addr;
use narrows_common::{Checksums, Packet};

/// Ethernet header in bytes.
pub const ETHERNET_BYTES: usize = 14;
/// IPv4 header without options in bytes.
pub const IPV4_BYTES: usize = 20;
/// TCP's protocol number.
pub const PROTOCOL_TCP: u8 = 6;
/// UDP's protocol number.
pub const PROTOCOL_UDP: u8 = 17;

const HEADERS_BYTES: usize = ETHERNET_BYTES + IPV4_BYTES;
const ETHERTYPE_IPV4: [u8; 2] = [0x08, 0x00];
const TTL: u8 = 64;
const DONT_FRAGMENT: u8 = 0x40;

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

/// Why a host discarded a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Discard {
    /// Shorter than its headers say.
    Truncated,
    /// Addressed to another MAC or IP address.
    NotForUs,
    /// Not IPv4.
    NotIpv4,
    /// An invalid IPv4 header.
    BadIpHeader,
    /// The IPv4 header's checksum is wrong.
    BadIpChecksum,
    /// A fragment; reassembly is not implemented.
    Fragment,
    /// Neither TCP nor UDP.
    UnknownProtocol,
    /// An invalid TCP header or option.
    BadTcpHeader,
    /// The TCP checksum is wrong.
    BadTcpChecksum,
    /// An invalid UDP header.
    BadUdpHeader,
    /// The UDP checksum is wrong.
    BadUdpChecksum,
    /// A datagram without the header that its flow requires.
    BadDatagram,
    /// No flow has these addresses and ports; TCP answers with a reset.
    NoConnection,
}

impl Discard {
    /// All reasons, in the order of their codes.
    pub const ALL: [Discard; 13] = [
        Discard::Truncated,
        Discard::NotForUs,
        Discard::NotIpv4,
        Discard::BadIpHeader,
        Discard::BadIpChecksum,
        Discard::Fragment,
        Discard::UnknownProtocol,
        Discard::BadTcpHeader,
        Discard::BadTcpChecksum,
        Discard::BadUdpHeader,
        Discard::BadUdpChecksum,
        Discard::BadDatagram,
        Discard::NoConnection,
    ];

    /// The name in tables and summaries.
    pub const fn name(self) -> &'static str {
        match self {
            Discard::Truncated => "truncated",
            Discard::NotForUs => "not-for-us",
            Discard::NotIpv4 => "not-ipv4",
            Discard::BadIpHeader => "bad-ip-header",
            Discard::BadIpChecksum => "bad-ip-checksum",
            Discard::Fragment => "fragment",
            Discard::UnknownProtocol => "unknown-protocol",
            Discard::BadTcpHeader => "bad-tcp-header",
            Discard::BadTcpChecksum => "bad-tcp-checksum",
            Discard::BadUdpHeader => "bad-udp-header",
            Discard::BadUdpChecksum => "bad-udp-checksum",
            Discard::BadDatagram => "bad-datagram",
            Discard::NoConnection => "no-connection",
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

/// An IPv4 packet with verified lengths, as a view of its bytes.
#[derive(Clone, Copy, Debug)]
pub struct IpPacket<'a> {
    headers: &'a [u8; HEADERS_BYTES],
    /// The transport's header and everything after it.
    pub payload: Payload<'a>,
    /// Whether a device has verified the transport's checksum, or will write it.
    pub is_checked: bool,
}

impl<'a> IpPacket<'a> {
    fn ip(&self) -> &'a [u8] {
        &self.headers[ETHERNET_BYTES..]
    }

    /// The destination of the frame.
    #[inline]
    pub fn destination_mac(&self) -> Mac {
        Mac::from_slice(self.headers)
    }

    /// The source of the packet.
    #[inline]
    pub fn source(&self) -> Ipv4Addr {
        Ipv4Addr::from_bits(be32(self.ip(), 12))
    }

    /// The destination of the packet.
    #[inline]
    pub fn destination(&self) -> Ipv4Addr {
        Ipv4Addr::from_bits(be32(self.ip(), 16))
    }

    /// The ECN field.
    #[inline]
    pub fn ecn(&self) -> Ecn {
        match self.ip()[1] & 3 {
            0 => Ecn::NotEct,
            1 => Ecn::Ect1,
            2 => Ecn::Ect0,
            _ => Ecn::Ce,
        }
    }

    /// The transport's protocol number.
    #[inline]
    pub fn protocol(&self) -> u8 {
        self.ip()[9]
    }

    /// True if the sum over pseudo-header and payload is correct (RFC 9293 section 3.1, RFC 768).
    #[inline]
    pub fn is_checksum_right(&self) -> bool {
        if self.is_checked {
            return true;
        }
        let addresses = checksum::sum(&self.ip()[12..20]);
        let pseudo = addresses + u64::from(self.protocol()) + u64::from(self.payload.len());
        checksum::fold(pseudo + checksum::sum(self.payload.bytes)) == 0xffff
    }
}

/// Parses a packet; verifies every length, and the header's checksum unless a device has.
///
/// # Errors
/// Why the packet must be discarded.
#[inline(always)]
pub fn parse(packet: &Packet) -> Result<IpPacket<'_>, Discard> {
    let (headers, behind) = packet.data.split_first_chunk().ok_or(Discard::Truncated)?;
    let headers: &[u8; HEADERS_BYTES] = headers;
    if headers[12..14] != ETHERTYPE_IPV4 {
        return Err(Discard::NotIpv4);
    }
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
    if !is_checked && checksum::fold(checksum::sum(ip) + checksum::sum(options)) != 0xffff {
        return Err(Discard::BadIpChecksum);
    }
    if be16(ip, 6) & 0x3fff != 0 {
        return Err(Discard::Fragment);
    }
    // Bytes after the IP packet are Ethernet padding.
    let payload_bytes = total_bytes - header_bytes;
    let bytes = &bytes[..bytes.len().min(payload_bytes)];
    let zeros = (payload_bytes - bytes.len()) as u32;
    Ok(IpPacket { headers, payload: Payload { bytes, zeros }, is_checked })
}

/// Writes the headers of one flow's packets, together `N` bytes: Ethernet, IPv4, and the
/// transport's fixed header, which begins with its ports.
#[derive(Clone, Debug)]
pub struct IpEmitter<const N: usize> {
    template: [u8; N],
    ip_sum: u64,
    pseudo_sum: u64,
    ports_sum: u64,
    ident: u16,
    leaves_checksum: bool,
}

impl<const N: usize> IpEmitter<N> {
    /// A writer from source to destination, with a transport's number and ports.
    pub fn new(
        macs: (Mac, Mac),
        ips: (Ipv4Addr, Ipv4Addr),
        protocol: u8,
        ports: (u16, u16),
    ) -> Self {
        let mut template = [0; N];
        template[0..6].copy_from_slice(&macs.1.0);
        template[6..12].copy_from_slice(&macs.0.0);
        template[12..14].copy_from_slice(&ETHERTYPE_IPV4);
        let (ip, transport) = template[ETHERNET_BYTES..].split_at_mut(IPV4_BYTES);
        ip[0] = 0x45;
        ip[6] = DONT_FRAGMENT;
        ip[8] = TTL;
        ip[9] = protocol;
        ip[12..16].copy_from_slice(&ips.0.octets());
        ip[16..20].copy_from_slice(&ips.1.octets());
        transport[0..2].copy_from_slice(&ports.0.to_be_bytes());
        transport[2..4].copy_from_slice(&ports.1.to_be_bytes());
        IpEmitter {
            ip_sum: checksum::sum(ip),
            pseudo_sum: checksum::sum(&ip[12..20]) + u64::from(protocol),
            ports_sum: u64::from(ports.0) + u64::from(ports.1),
            template,
            ident: 0,
            leaves_checksum: false,
        }
    }

    /// Sets a time to live other than 64.
    #[must_use]
    pub fn with_ttl(mut self, ttl: u8) -> Self {
        self.template[ETHERNET_BYTES + 8] = ttl;
        self.ip_sum = checksum::sum(&self.template[ETHERNET_BYTES..HEADERS_BYTES]);
        self
    }

    /// Sets a code point (DSCP) other than 0, below 64.
    #[must_use]
    pub fn with_dscp(mut self, dscp: u8) -> Self {
        self.template[ETHERNET_BYTES + 1] = dscp << 2;
        self.ip_sum = checksum::sum(&self.template[ETHERNET_BYTES..HEADERS_BYTES]);
        self
    }

    /// Sets whether the device writes the transport's checksum.
    #[must_use]
    pub fn leaving_checksum(mut self, leaves: bool) -> Self {
        self.leaves_checksum = leaves;
        self
    }

    /// Writes the headers into an empty packet. Append options and payload, then call
    /// [`IpEmitter::finish`] to fill in lengths and checksum.
    pub fn begin(&self, ecn: Ecn, packet: &mut Packet) {
        packet.clear();
        packet.data.extend_from_slice(&self.template);
        packet.data[ETHERNET_BYTES + 1] |= ecn as u8;
    }

    /// Fills in the fields that depend on the whole packet. `fields_sum` is the sum of the
    /// transport's header fields except the ports. Returns the headers and the transport's
    /// checksum.
    pub fn finish<'a>(
        &mut self,
        fields_sum: u64,
        packet: &'a mut Packet,
    ) -> (&'a mut [u8; N], u16) {
        let total_bytes = (packet.len() - ETHERNET_BYTES) as u16;
        let (headers, rest) =
            packet.data.split_first_chunk_mut::<N>().expect("what `begin` has written");
        let ip = &mut headers[ETHERNET_BYTES..];
        ip[2..4].copy_from_slice(&total_bytes.to_be_bytes());
        ip[4..6].copy_from_slice(&self.ident.to_be_bytes());
        let ecn = u64::from(ip[1] & 3);
        let varying = ecn + u64::from(total_bytes) + u64::from(self.ident);
        let ip_checksum = !checksum::fold(self.ip_sum + varying);
        ip[10..12].copy_from_slice(&ip_checksum.to_be_bytes());
        self.ident = self.ident.wrapping_add(1);
        let length = u64::from(total_bytes) - IPV4_BYTES as u64;
        let pseudo_sum = self.pseudo_sum + length;
        let checksum = if self.leaves_checksum {
            packet.checksums = Checksums::Left { protocol: ip[9] };
            checksum::fold(pseudo_sum)
        } else {
            !checksum::fold(pseudo_sum + self.ports_sum + fields_sum + checksum::sum(rest))
        };
        (headers, checksum)
    }
}
