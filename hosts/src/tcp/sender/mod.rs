//! The sending half of a connection: handles ACKs, and decides what to send.

mod acks;
mod build;
mod cuts;
mod new_data;
mod path;
mod rtt_samples;

use crate::api::{Class, Idle, IdleRestart, Need, Profile, Stage, bytes_per_sec};
use crate::cc::control::CongestionControl;
use crate::compat::ns2::burst::Burst;
use crate::config::Settings;
use crate::outstanding::scoreboard::Scoreboard;
use crate::recovery::rule::{NextSegment, Recovery};
use crate::report::{DELAY_PRECISION_BITS, SenderCounters};
use crate::rtt::RttEstimator;
use crate::tcp::rate::RateEstimator;
use crate::tcp::send_buffer::SendBuffer;
use build::{build_cc, build_recovery, initial_window_bytes};
use core::mem::offset_of;
use narrows_common::histogram::Histogram;
use narrows_common::prefetch::{prefetch, prefetch_slice};
use narrows_common::record::FlowRecord;
use narrows_common::{Duration, Time};

/// The first bytes of a sender, which most ACKs touch: up to its counters.
const HOT_BYTES: usize = offset_of!(Sender, last_rate);

/// The sending half. The fields that every ACK touches come first.
#[derive(Debug)]
#[repr(C)]
pub struct Sender {
    cc: Box<dyn CongestionControl>,
    recovery: Box<dyn Recovery>,
    pub(super) mss: u32,
    /// The scoreboard records each segment.
    keeps_segments: bool,
    /// The variant's model replaces rate reduction in recovery.
    is_model_based: bool,
    /// Congestion control gets each segment's round trip and path sample, even if only one segment
    /// at a time feeds the time-out.
    samples_segments: bool,
    /// Recovery gets each segment that arrives.
    follows_segments: bool,
    /// Recovery reads the peer's SACKs.
    pub(super) uses_sack: bool,
    /// The next new data carries CWR.
    pub(super) must_send_cwr: bool,
    /// The first position outside the peer's window.
    pub(super) window_edge: u64,
    /// The largest window that the peer has offered, in bytes.
    pub(super) max_window_bytes: u64,
    pub(super) board: Scoreboard,
    pub(super) rtt: RttEstimator,
    round: u64,
    round_end: u64,
    /// The end of the data outstanding when the window was last full.
    limited_to: u64,
    /// Echoed marks cut the window again only after this is acknowledged (RFC 3168 section 6.1.2).
    ecn_recover: u64,
    last_sent_at: Time,
    /// Pacing lets no segment leave before this.
    next_send_at: Time,
    /// Bytes considered lost so far.
    lost_bytes: u64,
    /// Bytes newly reported by the current ACK's SACK blocks, and the range that arrived twice.
    newly_sacked_bytes: u64,
    /// The left edge at the latest time-out.
    timed_out_at: Option<u64>,
    pub(super) duplicate: Option<(u64, u64)>,
    /// The departure of the segment whose timestamp the current ACK echoes, in whole milliseconds.
    pub(super) echoed_at: Option<Time>,
    /// The one-way delay plus a constant, by timestamps.
    pub(super) one_way: Option<Duration>,
    /// The departure of the segment that last advanced the left edge, if segments are recorded.
    edge_sent_at: Option<Time>,
    pub(super) buffer: SendBuffer,
    rate: RateEstimator,
    burst: Burst,
    pub(super) rtt_histogram: Histogram,
    pub(super) counters: SenderCounters,
    /// The latest delivery-rate sample: bytes and duration.
    last_rate: (u64, Duration),
    profile: Profile,
    /// Congestion control before the latest cut, if recovery may undo it.
    before_cut: Option<Box<dyn CongestionControl>>,
    seed: u64,
    /// If one segment is timed at a time: its end and its departure.
    timed: Option<(u64, Time)>,
}

impl Sender {
    /// The state before the handshake. `boot_phase` is the offset of ns-2's ticks.
    pub fn new(settings: &Settings, boot_phase: Duration) -> Self {
        let mut sender = Sender {
            profile: settings.profile,
            buffer: SendBuffer::new(1),
            board: Scoreboard::default(),
            rtt: RttEstimator::new(&settings.profile, boot_phase),
            counters: SenderCounters::default(),
            rtt_histogram: Histogram::new(DELAY_PRECISION_BITS),
            cc: build_cc(settings, settings.segment_bytes, false, None, boot_phase.as_ps()),
            recovery: build_recovery(settings, settings.segment_bytes, settings.profile.sack),
            before_cut: None,
            rate: RateEstimator::default(),
            last_rate: (0, Duration::ZERO),
            keeps_segments: settings.profile.times_every_segment
                || settings.needs(Need::SegmentTimes)
                || settings.max_burst.is_some(),
            burst: Burst::new(settings.max_burst),
            lost_bytes: 0,
            next_send_at: Time::ZERO,
            is_model_based: settings.variant.class == Class::ModelBased,
            seed: boot_phase.as_ps(),
            samples_segments: settings.variant.needs.contains(&Need::SegmentTimes)
                || settings.max_burst.is_some(),
            follows_segments: settings.recovery.needs.contains(&Need::SegmentTimes),
            newly_sacked_bytes: 0,
            duplicate: None,
            echoed_at: None,
            one_way: None,
            edge_sent_at: None,
            timed: None,
            uses_sack: false,
            mss: settings.segment_bytes,
            window_edge: 0,
            max_window_bytes: 0,
            last_sent_at: Time::ZERO,
            round: 0,
            round_end: 0,
            limited_to: 0,
            timed_out_at: None,
            ecn_recover: 0,
            must_send_cwr: false,
        };
        sender.board.on_sent(1);
        sender
    }

    /// Asks for the memory that an ACK touches: one arrives soon.
    pub fn prefetch(&self) {
        prefetch_slice(core::slice::from_ref(self), HOT_BYTES);
    }

    /// The same of what it points to.
    pub fn prefetch_parts(&self) {
        prefetch(&*self.cc);
        prefetch(&*self.recovery);
        self.board.prefetch();
        self.buffer.prefetch();
        self.rtt_histogram.prefetch_bucket();
    }

    /// The handshake is complete: the segment size and the peer's options are known.
    pub fn establish(&mut self, settings: &Settings, mss: u32, has_sack: bool, lost_syn: bool) {
        self.mss = mss;
        let handshake_rtt = self.rtt.has_sample().then(|| self.rtt.srtt());
        self.cc = build_cc(settings, mss, lost_syn, handshake_rtt, self.seed);
        self.recovery = build_recovery(settings, mss, has_sack);
        self.uses_sack = has_sack && settings.recovery.needs.contains(&Need::Sack);
        self.round_end = self.board.nxt();
        if lost_syn {
            self.rtt.on_syn_lost();
        }
    }

    /// The congestion window in bytes.
    pub fn cwnd_bytes(&self) -> u64 {
        self.cc.cwnd_bytes()
    }

    /// The stage of loss recovery.
    pub fn stage(&self) -> Stage {
        self.recovery.stage()
    }

    /// The SYN was acknowledged `rtt` after it left; `None` if that is ambiguous.
    pub fn on_syn_acked(&mut self, now: Time, rtt: Option<Duration>) {
        self.board.on_cumulative_ack(1);
        self.board.sent.on_cumulative_ack(1, |_, _| ());
        if let Some(rtt) = rtt {
            self.take_sample(now, rtt);
        }
    }

    /// `[start, end)` was retransmitted.
    pub fn on_retransmitted(&mut self, now: Time, payload_bytes: u32, start: u64, end: u64) {
        self.counters.segments_sent += 1;
        self.counters.bytes_sent += u64::from(payload_bytes);
        self.counters.retransmits += 1;
        self.last_sent_at = now;
        if self.keeps_segments {
            let departure = self.departure(now, end - start, self.board.flight_bytes());
            let is_lost = !self.recovery.marks_losses();
            self.board.sent.on_retransmitted(start, end, now, departure, is_lost);
            self.tell_losses(now);
        }
        self.pace(now, end - start);
        if !self.profile.times_every_segment {
            self.timed = None;
        }
        self.counters.loss_probes += u64::from(self.is_probing());
        self.tell_sent(now, start, end);
        self.recovery.on_retransmitted(&mut self.board, start, end);
    }

    /// What to send next. `has_new`: new data waits that the peer's window admits.
    pub fn poll_send(&mut self, has_new: bool) -> NextSegment {
        let send = self.recovery.poll_send(&self.board, self.cc.cwnd_bytes(), has_new);
        if let NextSegment::New { room_bytes } = send {
            if has_new && room_bytes < self.mss.into() {
                self.limited_to = self.board.nxt();
            }
        }
        send
    }

    /// If there is data to send: an idle time longer than the time-out restarts with a small
    /// window.
    pub fn check_idle(&mut self, now: Time) {
        let is_idle = self.board.flight_bytes() == 0
            && now.saturating_since(self.last_sent_at) > self.rtt.rto();
        if is_idle && self.counters.segments_sent > 0 {
            self.limit_window(match self.profile.idle_restart {
                IdleRestart::InitialWindow => initial_window_bytes(&self.profile, self.mss),
                IdleRestart::OneSegment => self.mss.into(),
            });
        }
    }

    fn limit_window(&mut self, restart_window_bytes: u64) {
        let offered_bytes = self.window_edge.saturating_sub(self.board.una());
        let srtt = self.rtt.srtt();
        self.cc.on_idle(&Idle { restart_window_bytes, offered_bytes, srtt });
    }

    /// When to call [`Sender::handle_timeout`].
    pub fn poll_timeout(&self) -> Option<Time> {
        self.recovery.poll_timeout()
    }

    /// Handles recovery's timers at `now`; returns whether the retransmission timer restarts.
    pub fn handle_timeout(&mut self, now: Time) -> bool {
        if self.recovery.poll_timeout().is_none_or(|at| at > now) {
            return false;
        }
        let outcome = self.recovery.handle_timeout(&mut self.board, now);
        self.tell_losses(now);
        self.act_on(now, outcome);
        outcome.restarts_timer
    }

    /// A row of the sender's state.
    pub fn record(&self, now: Time, flow: u32) -> FlowRecord {
        let (cwnd_bytes, ssthresh_bytes) = (self.cc.cwnd_bytes(), self.cc.ssthresh_bytes());
        let delivery_rate = bytes_per_sec(self.last_rate.0, self.last_rate.1);
        FlowRecord {
            at: now,
            flow,
            cwnd_bytes,
            ssthresh_bytes,
            in_flight_bytes: self.recovery.pipe_bytes(&self.board),
            srtt: self.rtt.srtt(),
            rtt: self.rtt.sample_at(now),
            rto: self.rtt.rto(),
            acked_bytes: self.acked_bytes(),
            retransmits: self.counters.retransmits,
            timeouts: self.counters.timeouts,
            delivery_rate_bps: delivery_rate.map(|rate| rate.saturating_mul(8)),
            round: self.round,
            phase: self.recovery.stage().phase(cwnd_bytes, ssthresh_bytes),
        }
    }

    /// Application bytes acknowledged in sequence.
    pub fn acked_bytes(&self) -> u64 {
        self.board.una().min(self.buffer.end()).saturating_sub(1)
    }
}
