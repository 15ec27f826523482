//! Writes IP packets.

use crate::wire::addr::Mac;
use crate::wire::checksum;
use crate::wire::ip::{
    ETHERNET_BYTES, ETHERTYPE_IPV4, ETHERTYPE_IPV6, Ecn, IPV4_BYTES, IPV6_BYTES,
};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use narrows_common::{Checksums, Packet};

/// Time to live, or hop limit.
const TTL: u8 = 64;
const DONT_FRAGMENT: u8 = 0x40;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    V4,
    V6,
}

/// Writes the headers of one flow's packets: Ethernet, IPv4 or IPv6, and the transport's fixed
/// header, which begins with its ports. They are `N` bytes with IPv6.
#[derive(Clone, Debug)]
pub struct IpEmitter<const N: usize> {
    /// With IPv4 the last 20 bytes are not used.
    template: [u8; N],
    version: Version,
    ip_sum: u64,
    pseudo_sum: u64,
    ports_sum: u64,
    ident: u16,
    leaves_checksum: bool,
}

impl<const N: usize> IpEmitter<N> {
    /// A writer from source to destination, with a transport's number and ports.
    ///
    /// # Panics
    /// If the addresses are of different versions.
    pub fn new(macs: (Mac, Mac), ips: (IpAddr, IpAddr), protocol: u8, ports: (u16, u16)) -> Self {
        let mut template = [0; N];
        template[0..6].copy_from_slice(&macs.1.0);
        template[6..12].copy_from_slice(&macs.0.0);
        let (version, addresses) = match ips {
            (IpAddr::V4(source), IpAddr::V4(destination)) => {
                (Version::V4, write_ipv4(&mut template, source, destination, protocol))
            }
            (IpAddr::V6(source), IpAddr::V6(destination)) => {
                (Version::V6, write_ipv6(&mut template, source, destination, protocol))
            }
            (source, destination) => panic!("{source} and {destination}: expected one version"),
        };
        let mut emitter = IpEmitter {
            ip_sum: 0,
            pseudo_sum: addresses + u64::from(protocol),
            ports_sum: u64::from(ports.0) + u64::from(ports.1),
            template,
            version,
            ident: 0,
            leaves_checksum: false,
        };
        let at = emitter.transport_at();
        let transport = &mut emitter.template[at..];
        transport[0..2].copy_from_slice(&ports.0.to_be_bytes());
        transport[2..4].copy_from_slice(&ports.1.to_be_bytes());
        emitter.summed()
    }

    /// Sets a time to live, or hop limit, other than 64.
    #[must_use]
    pub fn with_ttl(mut self, ttl: u8) -> Self {
        let at = match self.version {
            Version::V4 => 8,
            Version::V6 => 7,
        };
        self.template[ETHERNET_BYTES + at] = ttl;
        self.summed()
    }

    /// Sets a code point (DSCP) other than 0, below 64.
    #[must_use]
    pub fn with_dscp(mut self, dscp: u8) -> Self {
        let ip = &mut self.template[ETHERNET_BYTES..];
        match self.version {
            Version::V4 => ip[1] = dscp << 2,
            Version::V6 => [ip[0], ip[1]] = (0x6000 | u16::from(dscp) << 6).to_be_bytes(),
        }
        self.summed()
    }

    /// Sets whether the device writes the transport's checksum. With IPv6 it never does: the DPDK
    /// ports ask their devices for IPv4's only.
    #[must_use]
    pub fn leaving_checksum(mut self, leaves: bool) -> Self {
        self.leaves_checksum = leaves && self.version == Version::V4;
        self
    }

    /// Where the transport's header begins.
    #[inline]
    pub fn transport_at(&self) -> usize {
        match self.version {
            Version::V4 => ETHERNET_BYTES + IPV4_BYTES,
            Version::V6 => ETHERNET_BYTES + IPV6_BYTES,
        }
    }

    /// Writes the headers into an empty packet. Append options and payload, then call
    /// [`IpEmitter::finish`] to fill in lengths and checksum.
    #[inline(always)]
    pub fn begin(&self, ecn: Ecn, packet: &mut Packet) {
        packet.clear();
        match self.version {
            Version::V4 => {
                let (headers, _) = self.template.split_at(N - (IPV6_BYTES - IPV4_BYTES));
                packet.data.extend_from_slice(headers);
                packet.data[ETHERNET_BYTES + 1] |= ecn as u8;
            }
            Version::V6 => {
                packet.data.extend_from_slice(&self.template);
                packet.data[ETHERNET_BYTES + 1] |= (ecn as u8) << 4;
            }
        }
    }

    /// Fills in the fields that depend on the whole packet. `fields_sum` is the sum of the
    /// transport's header fields except the ports. Returns the transport's header and its checksum.
    #[inline]
    pub fn finish<'a>(&mut self, fields_sum: u64, packet: &'a mut Packet) -> (&'a mut [u8], u16) {
        let length = packet.len() - self.transport_at();
        match self.version {
            Version::V4 => self.finish_ipv4(length, &mut packet.data),
            Version::V6 => {
                let at = ETHERNET_BYTES + 4;
                packet.data[at..at + 2].copy_from_slice(&(length as u16).to_be_bytes());
            }
        }
        let fixed_bytes = N - (ETHERNET_BYTES + IPV6_BYTES);
        let (transport, rest) = packet.data[self.transport_at()..].split_at_mut(fixed_bytes);
        let checksum = if self.leaves_checksum {
            packet.checksums = Checksums::Left { protocol: self.template[ETHERNET_BYTES + 9] };
            checksum::fold(self.pseudo_sum + length as u64)
        } else {
            self.checksum(length, fields_sum + checksum::sum(rest))
        };
        (transport, checksum)
    }

    /// True if a packet's checksums can be written before its payload: with IPv4, unless the device
    /// writes the transport's.
    #[inline]
    pub fn is_summed_ipv4(&self) -> bool {
        self.version == Version::V4 && !self.leaves_checksum
    }

    /// Like [`IpEmitter::finish`] for [`IpEmitter::is_summed_ipv4`], in a packet's first bytes. The
    /// transport's header and payload have `length` bytes, and this sum except for the ports.
    #[inline]
    pub fn finish_summed_ipv4(&mut self, length: usize, sum: u64, headers: &mut [u8]) -> u16 {
        self.finish_ipv4(length, headers);
        self.checksum(length, sum)
    }

    /// The transport's checksum, if header and payload have `length` bytes, and this sum except for
    /// the ports.
    #[inline]
    fn checksum(&self, length: usize, sum: u64) -> u16 {
        !checksum::fold(self.pseudo_sum + length as u64 + self.ports_sum + sum)
    }

    /// The length, the number and the header's checksum of a packet with so long a payload.
    #[inline(always)]
    fn finish_ipv4(&mut self, payload_bytes: usize, data: &mut [u8]) {
        let ip: &mut [u8; IPV4_BYTES] =
            data[ETHERNET_BYTES..].first_chunk_mut().expect("what `begin` has written");
        let total_bytes = (payload_bytes + IPV4_BYTES) as u16;
        ip[2..4].copy_from_slice(&total_bytes.to_be_bytes());
        ip[4..6].copy_from_slice(&self.ident.to_be_bytes());
        let ecn = u64::from(ip[1] & 3);
        let varying = ecn + u64::from(total_bytes) + u64::from(self.ident);
        ip[10..12].copy_from_slice(&(!checksum::fold(self.ip_sum + varying)).to_be_bytes());
        self.ident = self.ident.wrapping_add(1);
    }

    fn summed(mut self) -> Self {
        self.ip_sum = checksum::sum(&self.template[ETHERNET_BYTES..][..IPV4_BYTES]);
        self
    }
}

/// Writes the constant fields of an IPv4 header. Returns the sum of the addresses.
fn write_ipv4(template: &mut [u8], source: Ipv4Addr, destination: Ipv4Addr, protocol: u8) -> u64 {
    template[12..14].copy_from_slice(&ETHERTYPE_IPV4);
    let ip = &mut template[ETHERNET_BYTES..][..IPV4_BYTES];
    ip[0] = 0x45;
    ip[6] = DONT_FRAGMENT;
    ip[8] = TTL;
    ip[9] = protocol;
    ip[12..16].copy_from_slice(&source.octets());
    ip[16..20].copy_from_slice(&destination.octets());
    checksum::sum(&ip[12..20])
}

/// Writes the constant fields of an IPv6 header. Returns the sum of the addresses.
fn write_ipv6(template: &mut [u8], source: Ipv6Addr, destination: Ipv6Addr, protocol: u8) -> u64 {
    template[12..14].copy_from_slice(&ETHERTYPE_IPV6);
    let ip = &mut template[ETHERNET_BYTES..][..IPV6_BYTES];
    ip[0] = 0x60;
    ip[6] = protocol;
    ip[7] = TTL;
    ip[8..24].copy_from_slice(&source.octets());
    ip[24..40].copy_from_slice(&destination.octets());
    checksum::sum(&ip[8..40])
}
