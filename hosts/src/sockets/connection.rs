//! A connection of the kernel: its stream, and the reports of `tcp_info`.

use crate::config::{FlowConfig, Recording};
use crate::report::{DELAY_PRECISION_BITS, ReceiverCounters, SenderCounters};
use crate::sockets::info::{CongestionState, TcpInfo};
use crate::sockets::stream::SocketStream;
use narrows_common::histogram::{Histogram, Summary};
use narrows_common::record::{FlowRecord, Phase};
use narrows_common::{Duration, Time};

/// Either end of a connection.
#[derive(Debug)]
pub(super) struct SocketConnection {
    flow: u32,
    pub(super) stream: SocketStream,
    recording: Recording,
    /// The last row.
    recorded: Option<FlowRecord>,
    info: TcpInfo,
    fast_recoveries: u64,
    round: u64,
    round_end_bytes: u64,
    rtt: Histogram,
}

impl SocketConnection {
    pub(super) fn new(flow: &FlowConfig, is_sender: bool) -> Self {
        SocketConnection {
            flow: flow.id,
            stream: SocketStream::new(flow.app.has_messages()),
            recording: if is_sender { flow.record } else { Recording::Off },
            recorded: None,
            info: TcpInfo::parse(&[]),
            fast_recoveries: 0,
            round: 0,
            round_end_bytes: 0,
            rtt: Histogram::new(DELAY_PRECISION_BITS),
        }
    }

    /// Handles a report of the kernel. Returns a row if one is due: at a change, or once per
    /// interval.
    pub(super) fn handle_info(&mut self, now: Time, info: &TcpInfo) -> Option<FlowRecord> {
        // The kernel's bytes include the SYN and the FIN.
        let acked_bytes = info.bytes_acked.saturating_sub(1).min(self.stream.sent_bytes);
        let has_progressed = acked_bytes > self.stream.acked_bytes;
        self.stream.acked_bytes = acked_bytes;
        let was_in_recovery = self.info.ca_state == CongestionState::Recovery;
        if info.ca_state == CongestionState::Recovery && !was_in_recovery {
            self.fast_recoveries += 1;
        }
        self.info = *info;
        if has_progressed && acked_bytes >= self.round_end_bytes {
            self.round += 1;
            self.round_end_bytes = acked_bytes + u64::from(info.in_flight() * info.snd_mss);
        }
        if has_progressed && info.rtt > Duration::ZERO {
            self.rtt.add(info.rtt);
        }
        let record = self.record(now);
        let is_due = match (self.recording, &self.recorded) {
            (Recording::Off, _) => false,
            (_, None) => true,
            (Recording::Ack, Some(last)) => FlowRecord { at: last.at, ..record } != *last,
            (Recording::IntervalPs(interval), Some(last)) => {
                let interval_ps = interval.as_ps().max(1);
                now.as_ps() / interval_ps > last.at.as_ps() / interval_ps
            }
        };
        if is_due {
            self.recorded = Some(record);
        }
        is_due.then_some(record)
    }

    fn record(&self, now: Time) -> FlowRecord {
        let info = &self.info;
        let bytes = |segments: u32| u64::from(segments) * u64::from(info.snd_mss);
        let (cwnd_bytes, ssthresh_bytes) =
            (bytes(info.snd_cwnd), info.snd_ssthresh.map_or(u64::MAX, bytes));
        FlowRecord {
            at: now,
            flow: self.flow,
            cwnd_bytes,
            ssthresh_bytes,
            in_flight_bytes: bytes(info.in_flight()),
            srtt: info.rtt,
            // Linux does not report it.
            rtt: Duration::ZERO,
            rto: info.rto,
            acked_bytes: self.stream.acked_bytes,
            retransmits: info.total_retrans.into(),
            timeouts: info.total_rto.into(),
            delivery_rate_bps: info.delivery_rate.map(|bytes| bytes.saturating_mul(8)),
            round: self.round,
            phase: match info.ca_state {
                CongestionState::Recovery => Phase::FastRecovery,
                CongestionState::Loss => Phase::Loss,
                _ if cwnd_bytes < ssthresh_bytes => Phase::SlowStart,
                _ => Phase::CongestionAvoidance,
            },
        }
    }

    /// True if everything that the application has written is acknowledged, and it has finished.
    pub(super) fn is_all_acked(&self) -> bool {
        self.stream.is_sent_to_end() && self.stream.acked_bytes == self.stream.sent_bytes
    }

    /// Counts of sent data.
    pub(super) fn counters(&self) -> SenderCounters {
        SenderCounters {
            segments_sent: self.info.data_segs_out.into(),
            bytes_sent: self.info.bytes_sent,
            retransmits: self.info.total_retrans.into(),
            timeouts: self.info.total_rto.into(),
            fast_recoveries: self.fast_recoveries,
            ..SenderCounters::default()
        }
    }

    /// Counts of received data.
    pub(super) fn received(&self) -> ReceiverCounters {
        let delivered_bytes = self.stream.delivered_bytes;
        ReceiverCounters { delivered_bytes, ..ReceiverCounters::default() }
    }

    /// Round trips, smoothed by the kernel.
    pub(super) fn rtt(&self) -> Summary {
        self.rtt.summary()
    }
}
