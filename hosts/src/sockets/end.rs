//! One end of a flow at a socket: its user, its stream, and what is recorded of it.

use super::info::{CongestionState, TcpInfo};
use super::stream::SocketStream;
use crate::config::{FlowConfig, Recording};
use crate::report::FlowReport;
use crate::tcp::receiver::ReceiverCounters;
use crate::tcp::sender::SenderCounters;
use crate::tcp::{DELAY_PRECISION_BITS, State};
use crate::user::{End, Stream, User};
use narrows_common::histogram::Histogram;
use narrows_common::record::{FlowRecord, MessageRecord, Phase};
use narrows_common::{Duration, Time};
use std::collections::VecDeque;

/// Bytes whose way is being timed at most; the oldest make way.
const PROBES: usize = 256;

/// An end of a flow.
#[derive(Debug)]
pub struct SocketEnd {
    flow: u32,
    user: User,
    stream: SocketStream,
    starts_at: Time,
    recording: Recording,
    /// The last row.
    recorded: Option<FlowRecord>,
    info: TcpInfo,
    fast_recoveries: u64,
    round: u64,
    round_end_bytes: u64,
    rtt: Histogram,
    /// Bytes on their way here.
    probes: VecDeque<Probe>,
    one_way_delay: Histogram,
    established_at: Option<Time>,
    completed_at: Option<Time>,
    last_arrival: Time,
    was_reset: bool,
    /// It has been counted as complete.
    is_counted: bool,
}

/// A byte of the stream by its number, when it left the sender's kernel, and when it was read here.
#[derive(Debug)]
struct Probe {
    byte: u64,
    departed: Option<Time>,
    arrived: Option<Time>,
}

impl End for SocketEnd {
    fn parts(&mut self) -> Option<(&mut User, &mut dyn Stream)> {
        Some((&mut self.user, &mut self.stream))
    }
}

impl SocketEnd {
    pub(super) fn new(flow: &FlowConfig, is_sender: bool, traffic_seed: u64) -> Self {
        SocketEnd {
            flow: flow.id,
            user: User::new(flow, is_sender, traffic_seed),
            stream: SocketStream::new(flow.app.has_messages()),
            starts_at: flow.start,
            recording: if is_sender { flow.record } else { Recording::Off },
            recorded: None,
            info: TcpInfo::parse(&[]),
            fast_recoveries: 0,
            round: 0,
            round_end_bytes: 0,
            rtt: Histogram::new(DELAY_PRECISION_BITS),
            probes: VecDeque::new(),
            one_way_delay: Histogram::new(DELAY_PRECISION_BITS),
            established_at: None,
            completed_at: None,
            last_arrival: Time::ZERO,
            was_reset: false,
            is_counted: !is_sender,
        }
    }

    /// The flow's number.
    pub fn flow(&self) -> u32 {
        self.flow
    }

    /// The stream between user and socket.
    pub fn stream(&mut self) -> &mut SocketStream {
        &mut self.stream
    }

    /// True while there is something for the socket, or its sending direction is to be shut down.
    pub(super) fn is_ready(&self) -> bool {
        self.stream.is_open && (self.stream.has_to_send() || self.stream.must_shut_down())
    }

    pub(super) fn handle_open(&mut self, now: Time) {
        self.stream.is_open = true;
        self.established_at.get_or_insert(now);
        if self.user.is_sender() {
            self.user.handle_timeout(now, &mut self.stream);
        }
    }

    pub(super) fn handle_arrived(
        &mut self,
        now: Time,
        bytes: &[u8],
        records: &mut Vec<MessageRecord>,
    ) {
        self.stream.handle_arrived(bytes);
        if !bytes.is_empty() {
            self.last_arrival = now;
        }
        let delivered_bytes = self.stream.delivered_bytes;
        for probe in self.probes.iter_mut().filter(|probe| probe.byte < delivered_bytes) {
            probe.arrived.get_or_insert(now);
        }
        self.settle_probes();
        self.user.handle_readable(now, &mut self.stream, records);
        if !self.user.is_sender() && self.stream.is_read_to_end() {
            self.completed_at.get_or_insert(self.last_arrival);
        }
    }

    pub(super) fn handle_reset(&mut self) {
        self.was_reset = true;
        self.stream.is_open = false;
    }

    /// The byte of this number will be told of when it leaves ([`SocketEnd::handle_departure`]), unless
    /// the kernel joined it with what was written after it.
    pub fn watch(&mut self, byte: u64) {
        if self.probes.len() == PROBES {
            self.probes.pop_front();
        }
        self.probes.push_back(Probe { byte, departed: None, arrived: None });
    }

    /// A watched byte left the sender's kernel for its interface. `key` is the lower half of its
    /// number. Of a byte that is sent again the last departure before its arrival counts.
    pub fn handle_departure(&mut self, at: Time, key: u32) {
        let found = self.probes.iter_mut().find(|probe| probe.byte as u32 == key);
        if let Some(probe) = found.filter(|probe| probe.arrived.is_none_or(|then| at <= then)) {
            probe.departed = Some(at);
            self.settle_probes();
        }
    }

    /// Takes the delays of the bytes that have departed and arrived.
    fn settle_probes(&mut self) {
        let one_way_delay = &mut self.one_way_delay;
        self.probes.retain(|probe| match (probe.departed, probe.arrived) {
            (Some(departed), Some(arrived)) => {
                one_way_delay.add(arrived.since(departed));
                false
            }
            _ => true,
        });
    }

    /// What the kernel knows now. Returns a row where one is due: at a change, or once an interval.
    pub(super) fn handle_info(&mut self, now: Time, info: &TcpInfo) -> Option<FlowRecord> {
        // The SYN and the FIN count among the kernel's bytes.
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
        let all_acked = self.stream.is_sent_to_end() && acked_bytes == self.stream.sent_bytes;
        if self.user.is_sender() && all_acked {
            self.completed_at.get_or_insert(now);
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
            // Linux does not tell it.
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

    pub(super) fn handle_timeout(&mut self, now: Time) {
        if self.stream.is_open && self.user.is_sender() {
            self.user.handle_timeout(now, &mut self.stream);
        }
    }

    pub(super) fn poll_timeout(&self) -> Option<Time> {
        self.user.poll_timeout().filter(|_| self.stream.is_open)
    }

    /// When the flow begins.
    pub fn starts_at(&self) -> Time {
        self.starts_at
    }

    /// True once: when a sending flow has completed, or was reset.
    pub(super) fn poll_completed(&mut self) -> bool {
        let is_complete = self.completed_at.is_some() || self.was_reset;
        is_complete && !core::mem::replace(&mut self.is_counted, true)
    }

    pub(super) fn report(&self) -> FlowReport {
        let info = &self.info;
        FlowReport {
            flow: self.flow,
            state: if self.stream.is_open { State::Established } else { State::Closed },
            was_reset: self.was_reset,
            established_at: self.established_at,
            completed_at: self.completed_at,
            acked_bytes: self.stream.acked_bytes,
            sent: SenderCounters {
                segments_sent: info.data_segs_out.into(),
                bytes_sent: info.bytes_sent,
                retransmits: info.total_retrans.into(),
                timeouts: info.total_rto.into(),
                fast_recoveries: self.fast_recoveries,
                ..SenderCounters::default()
            },
            received: ReceiverCounters {
                delivered_bytes: self.stream.delivered_bytes,
                ..ReceiverCounters::default()
            },
            messages: self.user.messages(),
            skipped_messages: self.user.skipped_messages(),
            rtt: self.rtt.summary(),
            one_way_delay: self.one_way_delay.summary(),
            datagrams: None,
        }
    }
}
