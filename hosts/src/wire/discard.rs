//! The reasons for which a host discards packets.

/// Why a host discarded a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Discard {
    /// Shorter than its headers say.
    Truncated,
    /// Addressed to another MAC or IP address.
    NotForUs,
    /// Neither IPv4 nor IPv6.
    NotIp,
    /// An invalid IP header.
    BadIpHeader,
    /// The IPv4 header's checksum is wrong.
    BadIpChecksum,
    /// A fragment; reassembly is not implemented.
    Fragment,
    /// Neither TCP nor UDP; an IPv6 extension header, too.
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
        Discard::NotIp,
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
            Discard::NotIp => "not-ip",
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
