//! Parses telemetry reports: the layout of `p4/headers.p4`, Telemetry Report 2.0 over UDP. It is
//! fixed, and neither etherparse nor smoltcp knows it.

use core::net::{IpAddr, SocketAddr};
use thiserror::Error;

/// One telemetry report, as the switch wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// The report's number in its stream, 22 bits.
    pub sequence: u32,
    /// The reporting switch.
    pub node: u32,
    /// The packet's flow.
    pub flow: u32,
    /// The packet's TCP sequence number; 0 if it is not TCP.
    pub tcp_sequence: u32,
    /// The packet's length from its IP header on.
    pub ip_length_bytes: u16,
    /// The packet's length from its Ethernet header on.
    pub frame_length_bytes: u16,
    /// The port at which it arrived.
    pub ingress_port: u16,
    /// The port at which it left.
    pub egress_port: u16,
    /// Its priority queue there.
    pub queue: u8,
    /// Packets queued after it left.
    pub depth_packets: u32,
    /// Packets queued before it arrived.
    pub enqueue_depth_packets: u32,
    /// When ingress started.
    pub ingress_ns: u64,
    /// When its transmission started.
    pub egress_ns: u64,
    /// How long it was queued.
    pub queue_delay_ns: u32,
    /// From ingress to egress.
    pub hop_latency_ns: u32,
    /// Source address and transport port.
    pub source: SocketAddr,
    /// Destination address and transport port.
    pub destination: SocketAddr,
}

/// Why a packet at the collector is not a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ReportError {
    /// Fewer bytes than the headers need.
    #[error("a telemetry report needs {need} bytes, this packet has {got}")]
    Truncated {
        /// Bytes the layout needs.
        need: usize,
        /// Bytes present.
        got: usize,
    },
    /// A field that fixes the layout has an unexpected value.
    #[error("telemetry report: {field} is {got:#x}, expected {expected:#x}")]
    Field {
        /// The field's name in `p4/headers.p4`.
        field: &'static str,
        /// Its value.
        got: u32,
        /// The only supported value.
        expected: u32,
    },
    /// The packet in it is not IP.
    #[error("telemetry report: report_main.inner_type is {got:#x}, expected 0x4 or 0x5")]
    Inner {
        /// `report_main.inner_type`.
        got: u8,
    },
}

const UDP_PAYLOAD: usize = 14 + 20 + 8;
const MAIN: usize = UDP_PAYLOAD + 8;
const HOP: usize = MAIN + 12;
const FLOW: usize = HOP + 28;
const INNER: usize = FLOW + 20;
const INNER_IPV4: u8 = 4;
const INNER_IPV6: u8 = 5;
const IPV6_BYTES: usize = 40;

impl Report {
    /// Parses a report from a whole packet, which begins with its Ethernet header.
    ///
    /// # Errors
    /// If the packet is too short, or its metadata has another layout.
    pub fn parse(bytes: &[u8]) -> Result<Report, ReportError> {
        if bytes.len() < INNER + 20 {
            return Err(ReportError::Truncated { need: INNER + 20, got: bytes.len() });
        }
        let u16_at = |at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
        let u32_at = |at: usize| {
            u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        let u64_at = |at: usize| u64::from(u32_at(at)) << 32 | u64::from(u32_at(at + 4));
        let fixed = [
            ("report_group.version", u32::from(bytes[UDP_PAYLOAD] >> 4), 2),
            ("report_main.report_type", u32::from(bytes[MAIN] >> 4), 1),
            ("report_main.metadata_bits", u32::from(u16_at(MAIN + 4)), 0x7C00),
            ("report_main.domain_id", u32::from(u16_at(MAIN + 6)), 0x4E41),
            ("report_main.domain_bits", u32::from(u16_at(MAIN + 8)), 0xF800),
        ];
        for (field, got, expected) in fixed {
            if got != expected {
                return Err(ReportError::Field { field, got, expected });
            }
        }
        let (source, destination) = match bytes[MAIN] & 0xF {
            INNER_IPV4 => ipv4_ends(&bytes[INNER..]),
            INNER_IPV6 if bytes.len() >= INNER + IPV6_BYTES => ipv6_ends(&bytes[INNER..]),
            INNER_IPV6 => {
                let need = INNER + IPV6_BYTES;
                return Err(ReportError::Truncated { need, got: bytes.len() });
            }
            got => return Err(ReportError::Inner { got }),
        };
        Ok(Report {
            sequence: u32_at(UDP_PAYLOAD) & 0x3F_FFFF,
            node: u32_at(UDP_PAYLOAD + 4),
            ingress_port: u16_at(HOP),
            egress_port: u16_at(HOP + 2),
            hop_latency_ns: u32_at(HOP + 4),
            queue: bytes[HOP + 8],
            depth_packets: u32_at(HOP + 8) & 0xFF_FFFF,
            ingress_ns: u64_at(HOP + 12),
            egress_ns: u64_at(HOP + 20),
            flow: u32_at(FLOW),
            tcp_sequence: u32_at(FLOW + 4),
            ip_length_bytes: u16_at(FLOW + 8),
            frame_length_bytes: u16_at(FLOW + 10),
            queue_delay_ns: u32_at(FLOW + 12),
            enqueue_depth_packets: u32_at(FLOW + 16),
            source,
            destination,
        })
    }
}

/// Source and destination of a truncated packet with at least 20 bytes.
fn ipv4_ends(ip: &[u8]) -> (SocketAddr, SocketAddr) {
    let address = |at: usize| IpAddr::from([ip[at], ip[at + 1], ip[at + 2], ip[at + 3]]);
    let (from, to) = ports(ip, 4 * usize::from(ip[0] & 0xF));
    (SocketAddr::new(address(12), from), SocketAddr::new(address(16), to))
}

/// Source and destination of a truncated packet with a whole IPv6 header.
fn ipv6_ends(ip: &[u8]) -> (SocketAddr, SocketAddr) {
    let address = |at: usize| {
        let octets: &[u8; 16] = ip[at..].first_chunk().expect("in the header");
        IpAddr::from(*octets)
    };
    let (from, to) = ports(ip, IPV6_BYTES);
    (SocketAddr::new(address(8), from), SocketAddr::new(address(24), to))
}

/// The transport's ports behind the IP header, where the packet still has them; else 0.
fn ports(ip: &[u8], at: usize) -> (u16, u16) {
    let port = |at: usize| match ip.get(at..at + 2) {
        Some(&[high, low]) => u16::from_be_bytes([high, low]),
        _ => 0,
    };
    (port(at), port(at + 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_what_is_short_or_foreign() {
        assert_eq!(Report::parse(&[0; 60]), Err(ReportError::Truncated { need: 130, got: 60 }));
        let error = Report::parse(&[0; 150]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "telemetry report: report_group.version is 0x0, expected 0x2"
        );
    }
}
