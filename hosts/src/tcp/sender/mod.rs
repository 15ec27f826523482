//! The sending half of a connection: what an ACK means, and what may be sent now.

mod build;
mod new_data;
mod path;

use crate::cc::control::CongestionControl;
use crate::compat::ns2::burst::Burst;
use crate::config::Settings;
use crate::recovery::rule::{NextSegment, Outcome, Recovery};
use crate::report::{DELAY_PRECISION_BITS, SenderCounters};
use crate::tcp::api::{
    Ack, Class, Congestion, Cut, Delivery, Growth, Idle, IdleRestart, Need, Profile, Stage,
    bytes_per_sec,
};
use crate::tcp::outstanding::scoreboard::Scoreboard;
use crate::tcp::outstanding::sent_segments::Acked;
use crate::tcp::rate::RateEstimator;
use crate::tcp::rtt::RttEstimator;
use crate::tcp::send_buffer::SendBuffer;
use build::{build_cc, build_recovery, initial_window_bytes};
use narrows_common::histogram::Histogram;
use narrows_common::record::FlowRecord;
use narrows_common::{Duration, Time};

/// The sending half. What every ACK touches lies in front.
#[derive(Debug)]
#[repr(C)]
pub struct Sender {
    cc: Box<dyn CongestionControl>,
    recovery: Box<dyn Recovery>,
    pub(super) mss: u32,
    /// The scoreboard keeps each segment.
    keeps_segments: bool,
    /// The variant's model takes the place of rate reduction in recovery.
    is_model_based: bool,
    /// Congestion control hears of each segment: its round trip, though one at a time makes the
    /// time-out, and what it says of the path.
    samples_segments: bool,
    /// Recovery hears of each segment that arrives.
    follows_segments: bool,
    /// Recovery reads the peer's SACKs.
    pub(super) uses_sack: bool,
    /// CWR goes out with the next new data.
    pub(super) must_send_cwr: bool,
    /// The first position that the peer's window does not admit.
    pub(super) window_edge: u64,
    /// The widest window that the peer has offered, in bytes.
    pub(super) max_window_bytes: u64,
    pub(super) board: Scoreboard,
    pub(super) rtt: RttEstimator,
    round: u64,
    round_end: u64,
    /// What was outstanding when the window was last full ends here.
    limited_to: u64,
    /// No second cut by echoed marks before this is acknowledged (RFC 3168 section 6.1.2).
    ecn_recover: u64,
    last_sent_at: Time,
    /// Before this, pacing lets no segment leave.
    next_send_at: Time,
    /// Bytes held lost so far.
    lost_bytes: u64,
    /// What the SACK blocks of the present ACK newly reported, and what arrived twice.
    newly_sacked_bytes: u64,
    /// The left edge when the latest time-out expired.
    timed_out_at: Option<u64>,
    pub(super) duplicate: Option<(u64, u64)>,
    /// When the segment left whose timestamp the present ACK echoes, in whole milliseconds.
    pub(super) echoed_at: Option<Time>,
    /// The delay one way by timestamps, but for a constant.
    pub(super) one_way: Option<Duration>,
    /// When the segment left that last moved the left edge, where segments are kept.
    edge_sent_at: Option<Time>,
    pub(super) buffer: SendBuffer,
    rate: RateEstimator,
    burst: Burst,
    pub(super) rtt_histogram: Histogram,
    pub(super) counters: SenderCounters,
    /// The latest sample of the delivery rate: bytes, and the time that they took.
    last_rate: (u64, Duration),
    profile: Profile,
    /// Congestion control before the latest cut, where recovery may take it back.
    before_cut: Option<Box<dyn CongestionControl>>,
    seed: u64,
    /// With one segment timed at a time: its end, and when it left.
    timed: Option<(u64, Time)>,
}

impl Sender {
    /// Before the handshake. `boot_phase` is where ns-2's ticks begin.
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

    /// The handshake is done: the segment size and what the peer can do are known.
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

    /// What it is doing about loss.
    pub fn stage(&self) -> Stage {
        self.recovery.stage()
    }

    /// The SYN was acknowledged `rtt` after it left, or after an ambiguous time.
    pub fn on_syn_acked(&mut self, now: Time, rtt: Option<Duration>) {
        self.board.on_acked(1);
        self.board.sent.on_acked(1, |_, _| ());
        if let Some(rtt) = rtt {
            self.take_sample(now, rtt);
        }
    }

    /// The segment that ends at `end` was selectively acknowledged for the first time: as good a
    /// sample as any when every segment is timed (Linux; RFC 6298 section 3 asks only for Karn).
    pub fn on_segment_sacked(&mut self, now: Time, end: u64) {
        let sent_at = self.board.sent.sent_at(end);
        if let Some(sent_at) = sent_at.filter(|_| self.profile.times_every_segment) {
            self.take_sample(now, now.since(sent_at));
        }
    }

    fn take_sample(&mut self, now: Time, rtt: Duration) {
        self.rtt.on_sample(now, rtt);
        self.rtt_histogram.add(rtt);
    }

    /// `[start, end)` left again.
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

    /// What to send next. `has_new` says whether new data waits that the peer's window admits.
    pub fn poll_send(&mut self, has_new: bool) -> NextSegment {
        let send = self.recovery.poll_send(&self.board, self.cc.cwnd_bytes(), has_new);
        if let NextSegment::New { room_bytes } = send {
            if has_new && room_bytes < self.mss.into() {
                self.limited_to = self.board.nxt();
            }
        }
        send
    }

    /// With something to send: an idle time longer than the time-out restarts from a small window.
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

    /// The ACK moves the left edge to `ack`. `echoed` is what the peer's timestamp says of the
    /// round trip; with `echoes_mark` the window does not grow (RFC 3168 section 6.1.2). Returns
    /// whether the retransmission timer starts again.
    pub fn on_ack(
        &mut self,
        now: Time,
        ack: u64,
        echoed: Option<Duration>,
        echoes_mark: bool,
    ) -> bool {
        let was_limited = self.board.una() < self.limited_to;
        let acked_bytes = ack - self.board.una();
        let had_sacked = self.board.sacked_bytes() > 0;
        let delivered_bytes = acked_bytes - self.board.on_acked(ack);
        self.buffer.release(ack);
        self.timed_out_at = None;
        let rtt = self.sample(now, ack, had_sacked, echoed);
        self.burst.on_event(rtt);
        if ack >= self.round_end {
            self.round += 1;
            self.round_end = self.board.nxt();
        }
        self.tell_delivery(now, acked_bytes, delivered_bytes);
        let outcome = self.recovery.on_ack(&mut self.board, acked_bytes);
        self.take_back(now, outcome);
        let credit_bytes = self.credit_bytes(acked_bytes, delivered_bytes);
        let event = Ack { echoes_mark, ..self.ack(now, acked_bytes, credit_bytes, rtt) };
        self.cc.on_measurement(&event);
        if self.recovery.stage() == Stage::Recovery && !outcome.may_grow {
            self.cc.on_recovery_ack(&event);
        } else if outcome.may_grow
            && (!echoes_mark || self.profile.growth == Growth::EachSegment)
            && (was_limited || !self.profile.grows_only_when_limited)
        {
            self.grow(&event);
        }
        if outcome.clears_backoff {
            self.rtt.clear_backoff();
        }
        self.act_on(now, outcome);
        self.tell_path(now, was_limited);
        outcome.restarts_timer
    }

    /// A SACK block `[start, end)`; returns how many bytes it newly reports.
    pub fn on_sack_block(&mut self, now: Time, start: u64, end: u64) -> u64 {
        let Sender { board, recovery, rate, follows_segments, .. } = self;
        let newly = board.on_sacked_with(start, end, &mut |start, sent| {
            if *follows_segments {
                recovery.on_segment_delivered(now, start, sent);
            }
            rate.on_delivered(now, sent, sent.end - start);
        });
        self.newly_sacked_bytes += newly;
        newly
    }

    /// Tells recovery what the present ACK says as a whole.
    fn tell_delivery(&mut self, now: Time, acked_bytes: u64, cumulative_bytes: u64) {
        let sacked_bytes = core::mem::take(&mut self.newly_sacked_bytes);
        let (duplicate, echoed_at) = (self.duplicate.take(), self.echoed_at.take());
        if self.follows_segments {
            let delivery = Delivery {
                now,
                delivered_bytes: cumulative_bytes + sacked_bytes,
                sacked_bytes,
                acked_bytes,
                duplicate,
                echoed_at,
                srtt: self.rtt.srtt(),
                min_rtt: self.rtt.min_rtt(),
                rto: self.rtt.rto(),
                cwnd_bytes: self.cc.cwnd_bytes(),
                ssthresh_bytes: self.cc.ssthresh_bytes(),
            };
            self.recovery.on_delivered(&mut self.board, &delivery);
        }
        self.tell_losses(now);
    }

    /// A repair is over, or was for nothing.
    fn take_back(&mut self, now: Time, outcome: Outcome) {
        if outcome.is_repaired {
            self.cc.on_recovery_exit(now);
        }
        if let Some(bytes) = outcome.most_window_bytes {
            self.limit_window(bytes);
        }
        if let Some(before) = self.before_cut.take_if(|_| outcome.is_spurious) {
            self.counters.undone_cuts += 1;
            if let Some(before) = self.cc.on_undo(before) {
                self.cc = before;
            }
        }
    }

    /// The window grows by an ACK: at once, or segment by segment.
    fn grow(&mut self, event: &Ack) {
        let mss = u64::from(self.mss);
        let times = match self.profile.growth {
            Growth::EachSegment => event.acked_bytes.div_ceil(mss).max(1),
            _ => 1,
        };
        for _ in 0..times {
            self.cc.on_growth(event);
        }
    }

    /// An ACK that moves nothing while data is outstanding; its SACKs told of
    /// `newly_sacked_bytes`. Returns whether the retransmission timer starts again.
    pub fn on_duplicate_ack(&mut self, now: Time, newly_sacked_bytes: u64) -> bool {
        self.burst.on_event(None);
        if self.recovery.samples_every_ack(&self.board) {
            self.sample_edge(now);
        }
        self.tell_delivery(now, 0, 0);
        let outcome = self.recovery.on_duplicate_ack(&mut self.board, newly_sacked_bytes);
        self.take_back(now, outcome);
        if outcome.may_grow {
            let credit_bytes = self.credit_bytes(newly_sacked_bytes, newly_sacked_bytes).max(1);
            let event = self.ack(now, newly_sacked_bytes, credit_bytes, None);
            self.cc.on_growth(&event);
        }
        self.act_on(now, outcome);
        self.tell_path(now, self.board.una() < self.limited_to);
        outcome.restarts_timer
    }

    fn ack(&self, now: Time, acked_bytes: u64, credit_bytes: u64, rtt: Option<Duration>) -> Ack {
        Ack {
            now,
            acked_bytes,
            credit_bytes,
            mss: self.mss,
            flight_bytes: self.board.flight_bytes(),
            rtt,
            srtt: self.rtt.srtt(),
            min_rtt: self.rtt.min_rtt(),
            delivered_bytes: self.board.una() + self.board.sacked_bytes(),
            round: self.round,
            echoes_mark: false,
            one_way: self.one_way,
        }
    }

    fn act_on(&mut self, now: Time, outcome: Outcome) {
        if outcome.backs_off {
            self.rtt.on_timeout();
        }
        if outcome.is_loss_found {
            self.counters.fast_recoveries += 1;
            self.timed = None;
            let mut congestion = self.congestion(now, outcome.was_retransmitted);
            if outcome.is_overdamped {
                congestion.window_bytes = congestion.window_bytes.min(self.cc.cwnd_bytes() / 2);
            }
            if outcome.restarts_window {
                self.cc.on_rto(&congestion);
            } else {
                self.remember_window();
                self.cut(|cc| cc.on_congestion(&congestion));
            }
        }
    }

    fn remember_window(&mut self) {
        self.before_cut = self.recovery.can_take_back().then(|| self.cc.clone_box());
    }

    /// Cuts the window, and has recovery bring down to it what is in flight.
    fn cut(&mut self, cut: impl FnOnce(&mut dyn CongestionControl)) {
        let before_bytes = self.cc.cwnd_bytes();
        cut(&mut *self.cc);
        if !self.is_model_based {
            self.recovery.on_window_cut(&self.board, before_bytes, self.cc.cwnd_bytes());
        }
    }

    /// When [`Sender::handle_timeout`] is to be called.
    pub fn poll_timeout(&self) -> Option<Time> {
        self.recovery.poll_timeout()
    }

    /// Does what recovery has due at `now`; returns whether the retransmission timer starts again.
    pub fn handle_timeout(&mut self, now: Time) -> bool {
        if self.recovery.poll_timeout().is_none_or(|at| at > now) {
            return false;
        }
        let outcome = self.recovery.handle_timeout(&mut self.board, now);
        self.tell_losses(now);
        self.act_on(now, outcome);
        outcome.restarts_timer
    }

    /// The peer echoed a congestion mark.
    pub fn on_ecn_echo(&mut self, now: Time) {
        if self.board.una() >= self.ecn_recover && self.recovery.stage() == Stage::Open {
            self.ecn_recover = self.board.nxt();
            self.must_send_cwr = true;
            self.counters.ecn_cuts += 1;
            let congestion = self.congestion(now, false);
            self.cut(|cc| cc.on_ecn(&congestion));
        }
    }

    /// The retransmission time-out expired with data outstanding.
    pub fn on_timeout(&mut self, now: Time) {
        self.counters.timeouts += 1;
        self.burst.on_event(None);
        self.timed = None;
        let has_cut_before = self.recovery.has_cut_before(&self.board);
        let is_repeated = has_cut_before || self.timed_out_at == Some(self.board.una());
        self.timed_out_at = Some(self.board.una());
        if !is_repeated {
            self.remember_window();
        }
        let congestion = self.congestion(now, is_repeated);
        self.cc.on_rto(&congestion);
        self.recovery.on_timeout(&mut self.board, now);
        self.tell_losses(now);
        self.rtt.on_timeout();
    }

    fn congestion(&self, now: Time, is_repeated: bool) -> Congestion {
        let (cwnd, mss) = (self.cc.cwnd_bytes(), u64::from(self.mss));
        let cwnd_or_offered = cwnd.min(self.window_edge.saturating_sub(self.board.una()));
        let window_bytes = match self.profile.cut {
            // What limited transmit sent lies beyond cwnd and does not count (RFC 5681 section
            // 3.2 step 2).
            Cut::Flight => self.board.flight_bytes().min(cwnd),
            Cut::Cwnd => cwnd,
            Cut::CwndOrOffered => cwnd_or_offered,
            Cut::WholeCwndOrOffered => cwnd_or_offered - cwnd_or_offered % (2 * mss),
            Cut::WholeCwnd => cwnd - cwnd % mss,
        };
        let whole_segments = !matches!(self.profile.cut, Cut::Flight | Cut::Cwnd);
        Congestion { now, window_bytes, mss: self.mss, whole_segments, is_repeated }
    }

    fn credit_bytes(&self, acked_bytes: u64, delivered_bytes: u64) -> u64 {
        match self.profile.growth {
            Growth::BytesUpToSegment => acked_bytes.min(self.mss.into()),
            // What had been SACKed has been delivered before: when a retransmission closes a hole
            // the ACK jumps by all that lies behind it, and the window must not.
            Growth::Bytes => delivered_bytes,
            Growth::Segment | Growth::EachSegment => self.mss.into(),
        }
    }

    /// Takes a round-trip sample where the ACK admits one.
    fn sample(
        &mut self,
        now: Time,
        ack: u64,
        had_sacked: bool,
        echoed: Option<Duration>,
    ) -> Option<Duration> {
        let Sender { board, recovery, rate, follows_segments, .. } = self;
        let Acked { oldest_at, newest_at, is_ambiguous, newest_is_ambiguous } =
            board.sent.on_acked(ack, |start, sent| {
                if *follows_segments {
                    recovery.on_segment_delivered(now, start, sent);
                }
                rate.on_delivered(now, sent, sent.end - start);
            });
        self.edge_sent_at = oldest_at.or(self.edge_sent_at);
        if self.recovery.samples_every_ack(&self.board) {
            self.timed = self.timed.filter(|&(end, _)| ack < end);
            return self.sample_edge(now);
        }
        if !self.profile.times_every_segment {
            // What was SACKed before arrived before.
            let is_sample = self.samples_segments && !newest_is_ambiguous && !had_sacked;
            let newest_at = newest_at.filter(|_| is_sample);
            let newest = newest_at.map(|sent_at| now.since(sent_at));
            let Some((_, sent_at)) = self.timed.filter(|&(end, _)| ack >= end) else {
                return newest;
            };
            self.timed = None;
            let rtt = now.since(sent_at);
            self.take_sample(now, rtt);
            return Some(newest.unwrap_or(rtt));
        }
        let oldest = oldest_at.filter(|_| !is_ambiguous).map(|sent_at| now.since(sent_at));
        if let Some(rtt) = oldest.or(echoed) {
            self.take_sample(now, rtt);
        }
        // What was SACKed before arrived before: only the oldest was just received.
        if had_sacked { oldest } else { oldest.and(newest_at).map(|sent_at| now.since(sent_at)) }
    }

    /// What a timestamp that the peer goes on echoing says of the round trip.
    fn sample_edge(&mut self, now: Time) -> Option<Duration> {
        let rtt = now.since(self.edge_sent_at?);
        self.take_sample(now, rtt);
        Some(rtt)
    }

    /// A row of what the sender knows.
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
            rtt: self.rtt.latest(),
            rto: self.rtt.rto(),
            acked_bytes: self.acked_bytes(),
            retransmits: self.counters.retransmits,
            timeouts: self.counters.timeouts,
            delivery_rate_bps: delivery_rate.map(|rate| rate.saturating_mul(8)),
            round: self.round,
            phase: self.recovery.stage().phase(cwnd_bytes, ssthresh_bytes),
        }
    }

    /// Bytes of the application acknowledged in sequence.
    pub fn acked_bytes(&self) -> u64 {
        self.board.una().min(self.buffer.end()).saturating_sub(1)
    }
}
