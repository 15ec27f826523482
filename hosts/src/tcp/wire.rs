//! Segments as bytes: Ethernet II, IPv4 (RFC 791), TCP (RFC 9293 section 3.1).
//!
//! [`parse`] reads a packet without copying it; [`Emitter`] writes one, from a header made once
//! per connection. A payload is real bytes and then a length that stands for zeros.

use super::checksum;
use super::options::Options;
use crate::addr::Mac;
use core::net::Ipv4Addr;
use narrows_common::Packet;

/// Ethernet header in bytes.
pub const ETHERNET_BYTES: usize = 14;
/// IPv4 header without options in bytes.
pub const IPV4_BYTES: usize = 20;
/// TCP header without options in bytes.
pub const TCP_BYTES: usize = 20;
const HEADERS_BYTES: usize = ETHERNET_BYTES + IPV4_BYTES + TCP_BYTES;

const ETHERTYPE_IPV4: [u8; 2] = [0x08, 0x00];
const PROTOCOL_TCP: u8 = 6;
const TTL: u8 = 64;
const DONT_FRAGMENT: u8 = 0x40;

/// The TCP flags.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Flags(pub u8);

impl Flags {
    /// No more data from the sender.
    pub const FIN: Flags = Flags(0x01);
    /// Synchronize sequence numbers.
    pub const SYN: Flags = Flags(0x02);
    /// Reset the connection.
    pub const RST: Flags = Flags(0x04);
    /// Push.
    pub const PSH: Flags = Flags(0x08);
    /// The acknowledgment field counts.
    pub const ACK: Flags = Flags(0x10);
    /// ECN echo (RFC 3168).
    pub const ECE: Flags = Flags(0x40);
    /// Congestion window reduced (RFC 3168).
    pub const CWR: Flags = Flags(0x80);

    /// True when all of `flags` are set.
    pub const fn has(self, flags: Flags) -> bool {
        self.0 & flags.0 == flags.0
    }

    /// These and `flags`.
    pub const fn with(self, flags: Flags) -> Flags {
        Flags(self.0 | flags.0)
    }
}

impl core::fmt::Debug for Flags {
    /// As tcpdump writes them: `S`, `S.`, `F.`, `.`.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        for (flag, letter) in [
            (Flags::SYN, "S"),
            (Flags::FIN, "F"),
            (Flags::RST, "R"),
            (Flags::PSH, "P"),
            (Flags::ECE, "E"),
            (Flags::CWR, "W"),
            (Flags::ACK, "."),
        ] {
            if self.has(flag) {
                f.write_str(letter)?;
            }
        }
        Ok(())
    }
}

/// The ECN field of the IP header (RFC 3168 section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Ecn {
    /// The transport does not understand ECN.
    #[default]
    NotEct = 0,
    /// ECT(1).
    Ect1 = 1,
    /// ECT(0).
    Ect0 = 2,
    /// Congestion experienced.
    Ce = 3,
}

/// Why a host did not take a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Discard {
    /// Shorter than its headers say.
    Truncated,
    /// Addressed to another MAC or IP address.
    NotForUs,
    /// Not IPv4.
    NotIpv4,
    /// An IPv4 header that cannot be.
    BadIpHeader,
    /// The IPv4 header's checksum is wrong.
    BadIpChecksum,
    /// A fragment; reassembly is not implemented.
    Fragment,
    /// Not TCP.
    NotTcp,
    /// A TCP header or option that cannot be.
    BadTcpHeader,
    /// The TCP checksum is wrong.
    BadTcpChecksum,
    /// No connection has these addresses and ports; answered with a reset.
    NoConnection,
}

impl Discard {
    /// Every reason, in the order of their codes.
    pub const ALL: [Discard; 10] = [
        Discard::Truncated,
        Discard::NotForUs,
        Discard::NotIpv4,
        Discard::BadIpHeader,
        Discard::BadIpChecksum,
        Discard::Fragment,
        Discard::NotTcp,
        Discard::BadTcpHeader,
        Discard::BadTcpChecksum,
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
            Discard::NotTcp => "not-tcp",
            Discard::BadTcpHeader => "bad-tcp-header",
            Discard::BadTcpChecksum => "bad-tcp-checksum",
            Discard::NoConnection => "no-connection",
        }
    }
}

/// A payload: real bytes, then zeros.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Payload<'a> {
    /// The real bytes.
    pub bytes: &'a [u8],
    /// How many zeros follow them.
    pub zeros: u32,
}

impl Payload<'_> {
    /// Its length in bytes.
    pub fn len(&self) -> u32 {
        self.bytes.len() as u32 + self.zeros
    }

    /// True when it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A segment as parsed, in wire numbers.
#[derive(Clone, Copy, Debug)]
pub struct Segment<'a> {
    /// Ethernet source and destination.
    pub macs: (Mac, Mac),
    /// IP source and destination.
    pub ips: (Ipv4Addr, Ipv4Addr),
    /// TCP source and destination ports.
    pub ports: (u16, u16),
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgment number; counts when [`Flags::ACK`] is set.
    pub ack: u32,
    /// Flags.
    pub flags: Flags,
    /// Window field, not scaled.
    pub window: u16,
    /// The IP header's ECN field.
    pub ecn: Ecn,
    /// Options.
    pub options: Options,
    /// Payload.
    pub payload: Payload<'a>,
}

fn be16(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn be32(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// Reads a packet; checks every length and both checksums.
///
/// # Errors
/// Why the packet is to be discarded.
pub fn parse(packet: &Packet) -> Result<Segment<'_>, Discard> {
    let frame = packet.data.as_slice();
    if frame.len() < ETHERNET_BYTES + IPV4_BYTES {
        return Err(Discard::Truncated);
    }
    if frame[12..14] != ETHERTYPE_IPV4 {
        return Err(Discard::NotIpv4);
    }
    let ip = &frame[ETHERNET_BYTES..];
    let (header_bytes, total_bytes) = (usize::from(ip[0] & 0xf) * 4, usize::from(be16(ip, 2)));
    if ip[0] >> 4 != 4 || header_bytes < IPV4_BYTES || total_bytes < header_bytes {
        return Err(Discard::BadIpHeader);
    }
    if total_bytes > packet.len() - ETHERNET_BYTES || header_bytes > ip.len() {
        return Err(Discard::Truncated);
    }
    if checksum::fold(checksum::sum(&ip[..header_bytes])) != 0xffff {
        return Err(Discard::BadIpChecksum);
    }
    if be16(ip, 6) & 0x3fff != 0 {
        return Err(Discard::Fragment);
    }
    if ip[9] != PROTOCOL_TCP {
        return Err(Discard::NotTcp);
    }
    // What stands behind the IP packet is Ethernet padding.
    let tcp = &ip[header_bytes..ip.len().min(total_bytes)];
    let tcp_bytes = total_bytes - header_bytes;
    if tcp.len() < TCP_BYTES {
        return Err(Discard::Truncated);
    }
    let data_at = usize::from(tcp[12] >> 4) * 4;
    if data_at < TCP_BYTES || data_at > tcp_bytes {
        return Err(Discard::BadTcpHeader);
    }
    if data_at > tcp.len() {
        return Err(Discard::Truncated);
    }
    let pseudo = checksum::sum(&ip[12..20]) + u64::from(PROTOCOL_TCP) + tcp_bytes as u64;
    if checksum::fold(pseudo + checksum::sum(tcp)) != 0xffff {
        return Err(Discard::BadTcpChecksum);
    }
    let options = match data_at {
        TCP_BYTES => Options::default(),
        _ => Options::parse(&tcp[TCP_BYTES..data_at]).ok_or(Discard::BadTcpHeader)?,
    };
    Ok(Segment {
        macs: (Mac::from_slice(&frame[6..12]), Mac::from_slice(&frame[0..6])),
        ips: (Ipv4Addr::from_bits(be32(ip, 12)), Ipv4Addr::from_bits(be32(ip, 16))),
        ports: (be16(tcp, 0), be16(tcp, 2)),
        seq: be32(tcp, 4),
        ack: be32(tcp, 8),
        flags: Flags(tcp[13]),
        window: be16(tcp, 14),
        ecn: match ip[1] & 3 {
            0 => Ecn::NotEct,
            1 => Ecn::Ect1,
            2 => Ecn::Ect0,
            _ => Ecn::Ce,
        },
        options,
        payload: Payload { bytes: &tcp[data_at..], zeros: (tcp_bytes - tcp.len()) as u32 },
    })
}

/// Gives a segment that [`parse`] has taken another acknowledgment number (RFC 1624 equation 3).
pub fn set_ack(packet: &mut Packet, ack: u32) {
    let tcp_at = ETHERNET_BYTES + usize::from(packet.data[ETHERNET_BYTES] & 0xf) * 4;
    let tcp = &mut packet.data[tcp_at..];
    let inverse = |bytes: &[u8]| checksum::sum(&bytes.iter().map(|byte| !byte).collect::<Vec<_>>());
    let rest = inverse(&tcp[16..18]) + inverse(&tcp[8..12]);
    tcp[8..12].copy_from_slice(&ack.to_be_bytes());
    let sum = !checksum::fold(rest + checksum::sum(&tcp[8..12]));
    tcp[16..18].copy_from_slice(&sum.to_be_bytes());
}

/// What changes from one segment of a connection to the next.
#[derive(Clone, Copy, Debug, Default)]
pub struct Header {
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgment number.
    pub ack: u32,
    /// Flags.
    pub flags: Flags,
    /// Window field.
    pub window: u16,
    /// The IP header's ECN field.
    pub ecn: Ecn,
    /// Options.
    pub options: Options,
}

/// Writes the segments of one connection: its addresses and what they add to the checksums.
#[derive(Clone, Debug)]
pub struct Emitter {
    template: [u8; HEADERS_BYTES],
    ip_sum: u64,
    pseudo_sum: u64,
    ident: u16,
}

impl Emitter {
    /// A writer from source to destination.
    pub fn new(macs: (Mac, Mac), ips: (Ipv4Addr, Ipv4Addr), ports: (u16, u16)) -> Self {
        let mut template = [0; HEADERS_BYTES];
        template[0..6].copy_from_slice(&macs.1.0);
        template[6..12].copy_from_slice(&macs.0.0);
        template[12..14].copy_from_slice(&ETHERTYPE_IPV4);
        let ip = &mut template[ETHERNET_BYTES..];
        ip[0] = 0x45;
        ip[6] = DONT_FRAGMENT;
        ip[8] = TTL;
        ip[9] = PROTOCOL_TCP;
        ip[12..16].copy_from_slice(&ips.0.octets());
        ip[16..20].copy_from_slice(&ips.1.octets());
        ip[20..22].copy_from_slice(&ports.0.to_be_bytes());
        ip[22..24].copy_from_slice(&ports.1.to_be_bytes());
        let ip_sum = checksum::sum(&ip[..IPV4_BYTES]);
        let pseudo_sum = checksum::sum(&ip[12..20]) + u64::from(PROTOCOL_TCP);
        Emitter { template, ip_sum, pseudo_sum, ident: 0 }
    }

    /// The same writer with another time to live than 64.
    #[must_use]
    pub fn with_ttl(mut self, ttl: u8) -> Self {
        let ip = &mut self.template[ETHERNET_BYTES..];
        ip[8] = ttl;
        self.ip_sum = checksum::sum(&ip[..IPV4_BYTES]);
        self
    }

    /// Writes the headers into an emptied packet; the payload is appended behind them, and
    /// [`Emitter::finish`] then fills in lengths and checksums.
    ///
    /// # Panics
    /// When the payload begins at no multiple of 4 bytes: the options are padded wrongly.
    pub fn begin(&self, header: &Header, packet: &mut Packet) {
        packet.clear();
        packet.data.extend_from_slice(&self.template);
        header.options.emit(&mut packet.data);
        let header_bytes = packet.data.len() - ETHERNET_BYTES - IPV4_BYTES;
        assert!(header_bytes % 4 == 0 && header_bytes <= 60, "TCP header of {header_bytes} bytes");
        packet.data[ETHERNET_BYTES + 1] = header.ecn as u8;
        let tcp = &mut packet.data[ETHERNET_BYTES + IPV4_BYTES..];
        tcp[4..8].copy_from_slice(&header.seq.to_be_bytes());
        tcp[8..12].copy_from_slice(&header.ack.to_be_bytes());
        tcp[12] = (header_bytes as u8 / 4) << 4;
        tcp[13] = header.flags.0;
        tcp[14..16].copy_from_slice(&header.window.to_be_bytes());
    }

    /// Fills in what depends on the whole packet.
    pub fn finish(&mut self, packet: &mut Packet) {
        let total_bytes = (packet.len() - ETHERNET_BYTES) as u16;
        let ip = &mut packet.data[ETHERNET_BYTES..];
        ip[2..4].copy_from_slice(&total_bytes.to_be_bytes());
        ip[4..6].copy_from_slice(&self.ident.to_be_bytes());
        let varying = u64::from(ip[1]) + u64::from(total_bytes) + u64::from(self.ident);
        let ip_checksum = !checksum::fold(self.ip_sum + varying);
        ip[10..12].copy_from_slice(&ip_checksum.to_be_bytes());
        self.ident = self.ident.wrapping_add(1);
        let tcp = &mut ip[IPV4_BYTES..];
        let tcp_bytes = u64::from(total_bytes) - IPV4_BYTES as u64;
        let tcp_checksum = !checksum::fold(self.pseudo_sum + tcp_bytes + checksum::sum(tcp));
        tcp[16..18].copy_from_slice(&tcp_checksum.to_be_bytes());
    }
}

#[cfg(test)]
#[path = "wire_tests.rs"]
mod tests;
