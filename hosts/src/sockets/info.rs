//! Linux's report on a connection: `struct tcp_info`, as returned by `getsockopt(TCP_INFO)`.
//!
//! The layout is that of linux/tcp.h (uapi), in the machine's byte order. A kernel without a field
//! returns fewer bytes, and the field is then 0.

use narrows_common::Duration;

/// Linux's TCP_INFINITE_SSTHRESH: no loss so far.
const NO_SSTHRESH: u32 = 0x7fff_ffff;

/// Linux's congestion states (enum tcp_ca_state).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CongestionState {
    /// No loss or reordering.
    Open,
    /// Duplicates or SACKs, but no segment considered lost.
    Disorder,
    /// The window was cut by marks or by a local drop.
    Cwr,
    /// Losses are being repaired without a time-out.
    Recovery,
    /// Losses are being repaired after a time-out.
    Loss,
}

/// The recorded fields, with Linux's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpInfo {
    /// `tcpi_ca_state`.
    pub ca_state: CongestionState,
    /// `tcpi_rto`.
    pub rto: Duration,
    /// `tcpi_snd_mss`.
    pub snd_mss: u32,
    /// `tcpi_unacked`, segments sent but not acknowledged.
    pub unacked: u32,
    /// `tcpi_sacked`, segments of these reported by SACK.
    pub sacked: u32,
    /// `tcpi_lost`, segments of these considered lost.
    pub lost: u32,
    /// `tcpi_retrans`, segments of these retransmitted.
    pub retrans: u32,
    /// `tcpi_rtt`, smoothed; zero before a sample.
    pub rtt: Duration,
    /// `tcpi_snd_ssthresh` in segments; `None` before a loss.
    pub snd_ssthresh: Option<u32>,
    /// `tcpi_snd_cwnd` in segments.
    pub snd_cwnd: u32,
    /// `tcpi_total_retrans`.
    pub total_retrans: u32,
    /// `tcpi_bytes_acked`.
    pub bytes_acked: u64,
    /// `tcpi_data_segs_out`.
    pub data_segs_out: u32,
    /// `tcpi_delivery_rate` in bytes per second; `None` before a sample.
    pub delivery_rate: Option<u64>,
    /// `tcpi_bytes_sent`, including retransmissions.
    pub bytes_sent: u64,
    /// `tcpi_total_rto`, Linux 6.7 and later.
    pub total_rto: u16,
}

impl TcpInfo {
    /// Parses these bytes; fields beyond their end are 0.
    pub fn parse(bytes: &[u8]) -> TcpInfo {
        let info = Fields(bytes);
        TcpInfo {
            ca_state: match info.bytes::<1>(1)[0] {
                1 => CongestionState::Disorder,
                2 => CongestionState::Cwr,
                3 => CongestionState::Recovery,
                4 => CongestionState::Loss,
                _ => CongestionState::Open,
            },
            rto: Duration::from_us(info.u32(8).into()),
            snd_mss: info.u32(16),
            unacked: info.u32(24),
            sacked: info.u32(28),
            lost: info.u32(32),
            retrans: info.u32(36),
            rtt: Duration::from_us(info.u32(68).into()),
            snd_ssthresh: Some(info.u32(76)).filter(|&segments| segments < NO_SSTHRESH),
            snd_cwnd: info.u32(80),
            total_retrans: info.u32(100),
            bytes_acked: info.u64(120),
            data_segs_out: info.u32(156),
            delivery_rate: Some(info.u64(160)).filter(|&rate| rate > 0),
            bytes_sent: info.u64(200),
            total_rto: u16::from_ne_bytes(info.bytes(240)),
        }
    }

    /// Segments in flight, as Linux counts them (`tcp_packets_in_flight`).
    pub fn in_flight(&self) -> u32 {
        (self.unacked + self.retrans).saturating_sub(self.sacked + self.lost)
    }
}

struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn bytes<const N: usize>(&self, at: usize) -> [u8; N] {
        let found = self.0.get(at..at + N).and_then(|bytes| bytes.try_into().ok());
        found.unwrap_or([0; N])
    }

    fn u32(&self, at: usize) -> u32 {
        u32::from_ne_bytes(self.bytes(at))
    }

    fn u64(&self, at: usize) -> u64 {
        u64::from_ne_bytes(self.bytes(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_kernels_shorter_answer_is_read_as_far_as_it_goes() {
        let mut bytes = [0; 104];
        bytes[1] = 3;
        bytes[16..20].copy_from_slice(&1448u32.to_ne_bytes());
        bytes[68..72].copy_from_slice(&20_000u32.to_ne_bytes());
        bytes[76..80].copy_from_slice(&0x7fff_ffffu32.to_ne_bytes());
        bytes[80..84].copy_from_slice(&10u32.to_ne_bytes());
        bytes[100..104].copy_from_slice(&7u32.to_ne_bytes());
        let info = TcpInfo::parse(&bytes);
        assert_eq!(info.ca_state, CongestionState::Recovery);
        assert_eq!((info.snd_mss, info.snd_cwnd, info.total_retrans), (1448, 10, 7));
        assert_eq!((info.rtt, info.snd_ssthresh), (Duration::from_ms(20), None));
        assert_eq!((info.bytes_acked, info.total_rto, info.delivery_rate), (0, 0, None));
        assert_eq!(TcpInfo::parse(&[]).snd_cwnd, 0);
    }

    #[test]
    fn what_is_in_flight_leaves_out_what_arrived_and_what_is_lost() {
        let info = TcpInfo { unacked: 20, sacked: 6, lost: 3, retrans: 2, ..TcpInfo::parse(&[]) };
        assert_eq!(info.in_flight(), 13);
    }
}
