//! Parses telemetry reports: the layout of `p4/headers.p4`, Telemetry Report 2.0 over UDP. It is
//! fixed, and neither etherparse nor smoltcp knows it.

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
    /// The packet's length from its IPv4 header on.
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
    pub source: ([u8; 4], u16),
    /// Destination address and transport port.
    pub destination: ([u8; 4], u16),
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
}

const UDP_PAYLOAD: usize = 14 + 20 + 8;
const MAIN: usize = UDP_PAYLOAD + 8;
const HOP: usize = MAIN + 12;
const FLOW: usize = HOP + 28;
const INNER: usize = FLOW + 20;

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
            ("report_main.inner_type", u32::from(bytes[MAIN] & 0xF), 4),
            ("report_main.metadata_bits", u32::from(u16_at(MAIN + 4)), 0x7C00),
            ("report_main.domain_id", u32::from(u16_at(MAIN + 6)), 0x4E41),
            ("report_main.domain_bits", u32::from(u16_at(MAIN + 8)), 0xF800),
        ];
        for (field, got, expected) in fixed {
            if got != expected {
                return Err(ReportError::Field { field, got, expected });
            }
        }
        // After truncation the transport ports still follow the inner IPv4 header.
        let transport = INNER + 4 * usize::from(bytes[INNER] & 0xF);
        let port_at = |at: usize| if at + 2 <= bytes.len() { u16_at(at) } else { 0 };
        let address_at = |at: usize| [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
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
            source: (address_at(INNER + 12), port_at(transport)),
            destination: (address_at(INNER + 16), port_at(transport + 2)),
        })
    }
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
