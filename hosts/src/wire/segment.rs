//! Segments as bytes: TCP (RFC 9293 section 3.1) in IP packets.
//!
//! [`parse`] reads a packet without copying it. [`Emitter`] writes packets, from a header built
//! once per connection.

use crate::wire::addr::Mac;
use crate::wire::checksum;
pub use crate::wire::discard::Discard;
pub use crate::wire::ip::{ETHERNET_BYTES, Ecn, IPV4_BYTES, IPV6_BYTES, Payload};
use crate::wire::ip::{PROTOCOL_TCP, be16, be32};
use crate::wire::ip_emitter::IpEmitter;
use crate::wire::ip_packet::{self, IpPacket};
use crate::wire::options::Options;
use crate::wire::stamp;
use core::net::IpAddr;
use narrows_common::{Packet, Time};

/// TCP header without options in bytes.
pub const TCP_BYTES: usize = 20;

const HEADERS_BYTES: usize = ETHERNET_BYTES + IPV6_BYTES + TCP_BYTES;
const IPV4_HEADERS_BYTES: usize = ETHERNET_BYTES + IPV4_BYTES + TCP_BYTES;

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
    /// The acknowledgment field is valid.
    pub const ACK: Flags = Flags(0x10);
    /// ECN echo (RFC 3168).
    pub const ECE: Flags = Flags(0x40);
    /// Congestion window reduced (RFC 3168).
    pub const CWR: Flags = Flags(0x80);

    /// True if all of `flags` are set.
    pub const fn has(self, flags: Flags) -> bool {
        self.0 & flags.0 == flags.0
    }

    /// True if any of `flags` is set.
    pub const fn has_any(self, flags: Flags) -> bool {
        self.0 & flags.0 != 0
    }

    /// The union with `flags`.
    pub const fn with(self, flags: Flags) -> Flags {
        Flags(self.0 | flags.0)
    }
}

impl core::fmt::Debug for Flags {
    /// In tcpdump's notation: `S`, `S.`, `F.`, `.`.
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

/// A parsed segment, in wire numbers.
#[derive(Clone, Copy, Debug)]
pub struct Segment<'a> {
    /// IP source and destination.
    pub ips: (IpAddr, IpAddr),
    /// TCP source and destination ports.
    pub ports: (u16, u16),
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgment number; valid if [`Flags::ACK`] is set.
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

/// Parses a packet; verifies every length and both checksums.
///
/// # Errors
/// Why the packet must be discarded.
pub fn parse(packet: &Packet) -> Result<Segment<'_>, Discard> {
    parse_segment(&ip_packet::parse(packet)?)
}

/// Parses the segment in an IP packet; verifies every length and its checksum.
///
/// # Errors
/// Why the packet must be discarded.
#[inline(always)]
pub fn parse_segment<'a>(packet: &IpPacket<'a>) -> Result<Segment<'a>, Discard> {
    let (mut segment, options) = parse_fixed(packet)?;
    segment.read_options(options)?;
    Ok(segment)
}

/// Parses the segment in an IP packet except for its options, which it returns as bytes; verifies
/// every length and its checksum.
///
/// # Errors
/// Why the packet must be discarded.
#[inline(always)]
pub(crate) fn parse_fixed<'a>(packet: &IpPacket<'a>) -> Result<(Segment<'a>, &'a [u8]), Discard> {
    if packet.protocol() != PROTOCOL_TCP {
        return Err(Discard::UnknownProtocol);
    }
    let Payload { bytes, zeros } = packet.payload;
    let (tcp, rest) = bytes.split_first_chunk().ok_or(Discard::Truncated)?;
    let tcp: &[u8; TCP_BYTES] = tcp;
    let data_at = usize::from(tcp[12] >> 4) * 4;
    if data_at < TCP_BYTES || data_at > packet.payload.len() as usize {
        return Err(Discard::BadTcpHeader);
    }
    let (options, bytes) = rest.split_at_checked(data_at - TCP_BYTES).ok_or(Discard::Truncated)?;
    // The sum of a fixed length needs no loop.
    if !packet.is_checked && !packet.is_sum_right(checksum::sum(tcp) + checksum::sum(rest)) {
        return Err(Discard::BadTcpChecksum);
    }
    let segment = Segment {
        ips: (packet.source(), packet.destination()),
        ports: (be16(tcp, 0), be16(tcp, 2)),
        seq: be32(tcp, 4),
        ack: be32(tcp, 8),
        flags: Flags(tcp[13]),
        window: be16(tcp, 14),
        ecn: packet.ecn(),
        options: Options::NONE,
        payload: Payload { bytes, zeros },
    };
    Ok((segment, options))
}

impl Segment<'_> {
    /// Reads its options from their bytes.
    ///
    /// # Errors
    /// If a length is impossible.
    #[inline(always)]
    pub(crate) fn read_options(&mut self, bytes: &[u8]) -> Result<(), Discard> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.options.read(bytes).ok_or(Discard::BadTcpHeader)
    }
}

/// Replaces the acknowledgment number of a segment that [`parse`] accepts (RFC 1624 equation 3).
pub fn set_ack(packet: &mut Packet, ack: u32) {
    let first = packet.data[ETHERNET_BYTES];
    let ip_bytes = if first >> 4 == 4 { usize::from(first & 0xf) * 4 } else { IPV6_BYTES };
    let tcp_at = ETHERNET_BYTES + ip_bytes;
    let tcp = &mut packet.data[tcp_at..];
    let inverse = |bytes: &[u8]| checksum::sum(&bytes.iter().map(|byte| !byte).collect::<Vec<_>>());
    let rest = inverse(&tcp[16..18]) + inverse(&tcp[8..12]);
    tcp[8..12].copy_from_slice(&ack.to_be_bytes());
    let sum = !checksum::fold(rest + checksum::sum(&tcp[8..12]));
    tcp[16..18].copy_from_slice(&sum.to_be_bytes());
}

/// The fields that change from one segment of a connection to the next.
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

type Ip = IpEmitter<HEADERS_BYTES>;

/// Writes the segments of one connection.
#[derive(Clone, Debug)]
pub struct Emitter {
    ip: Ip,
    /// The sum of the current header's fields.
    fields_sum: u64,
}

impl Emitter {
    /// A writer from source to destination.
    pub fn new(macs: (Mac, Mac), ips: (IpAddr, IpAddr), ports: (u16, u16)) -> Self {
        Emitter { ip: IpEmitter::new(macs, ips, PROTOCOL_TCP, ports), fields_sum: 0 }
    }

    /// Changes the settings of the IP header: `emitter.with_ip(|ip| ip.with_ttl(2))`.
    #[must_use]
    pub fn with_ip(mut self, set: impl FnOnce(Ip) -> Ip) -> Self {
        self.ip = set(self.ip);
        self
    }

    /// Writes the headers into an empty packet. Append the payload, then call [`Emitter::finish`]
    /// to fill in lengths and checksums.
    ///
    /// # Panics
    /// If the payload would not begin at a multiple of 4 bytes, because the options are padded
    /// wrongly.
    pub fn begin(&mut self, header: &Header, packet: &mut Packet) {
        self.ip.begin(header.ecn, packet);
        header.options.emit(&mut packet.data);
        let tcp = &mut packet.data[self.ip.transport_at()..];
        let header_bytes = tcp.len();
        assert!(header_bytes % 4 == 0 && header_bytes <= 60, "TCP header of {header_bytes} bytes");
        let tcp: &mut [u8; TCP_BYTES] = tcp.first_chunk_mut().expect("the template");
        self.fields_sum = header.write_fields(header_bytes, tcp);
    }

    /// Fills in the fields that depend on the whole packet.
    pub fn finish(&mut self, packet: &mut Packet) {
        let (tcp, checksum) = self.ip.finish(self.fields_sum, packet);
        tcp[16..18].copy_from_slice(&checksum.to_be_bytes());
    }

    /// Writes a whole segment into an empty packet: its payload is zeros, which begin with a stamp
    /// if there is room ([`stamp::append`]). The bytes are those of `begin` and `finish`. The sums
    /// are of what is written, not of what is read back.
    #[inline(always)]
    pub fn emit_zeros(
        &mut self,
        header: &Header,
        zeros: u32,
        (flow, now): (u32, Time),
        packet: &mut Packet,
    ) {
        if !self.ip.is_summed_ipv4() {
            return self.emit_zeros_in_turn(header, zeros, (flow, now), packet);
        }
        self.ip.begin(header.ecn, packet);
        header.options.emit(&mut packet.data);
        let options = packet.data.get(IPV4_HEADERS_BYTES..).unwrap_or_default();
        let header_bytes = TCP_BYTES + options.len();
        let mut sum = if options.is_empty() { 0 } else { checksum::sum(options) };
        if stamp::append(zeros, flow, now, packet) {
            sum += stamp::sum(flow, now);
        }
        let headers: &mut [u8; IPV4_HEADERS_BYTES] =
            packet.data.first_chunk_mut().expect("the template");
        let (ip, tcp) = headers.split_at_mut(ETHERNET_BYTES + IPV4_BYTES);
        let tcp: &mut [u8; TCP_BYTES] = tcp.first_chunk_mut().expect("the template");
        sum += header.write_fields(header_bytes, tcp);
        let checksum = self.ip.finish_summed_ipv4(header_bytes + zeros as usize, sum, ip);
        tcp[16..18].copy_from_slice(&checksum.to_be_bytes());
    }

    /// Like `emit_zeros`, by `begin` and `finish`.
    #[inline(never)]
    fn emit_zeros_in_turn(
        &mut self,
        header: &Header,
        zeros: u32,
        (flow, now): (u32, Time),
        packet: &mut Packet,
    ) {
        self.begin(header, packet);
        stamp::append(zeros, flow, now, packet);
        self.finish(packet);
    }
}

impl Header {
    /// Writes the fields of a TCP header of so many bytes, except the ports and the checksum.
    /// Returns their sum, of 32-bit words.
    #[inline(always)]
    fn write_fields(&self, header_bytes: usize, tcp: &mut [u8; TCP_BYTES]) -> u64 {
        let rest = u32::from_be_bytes([(header_bytes as u8 / 4) << 4, self.flags.0, 0, 0])
            | u32::from(self.window);
        tcp[4..8].copy_from_slice(&self.seq.to_be_bytes());
        tcp[8..12].copy_from_slice(&self.ack.to_be_bytes());
        tcp[12..16].copy_from_slice(&rest.to_be_bytes());
        u64::from(self.seq) + u64::from(self.ack) + u64::from(rest)
    }
}

#[cfg(test)]
#[path = "segment_tests.rs"]
mod tests;
