//! BBR version 3: version 1's model, plus bounds that losses set, and bandwidth probes that leave
//! headroom for other flows.
//!
//! Source: draft-ietf-ccwg-bbr as of August 2026 (commit 4ce5e87). The code uses its names:
//! `*_longterm` was `*_hi`, `*_shortterm` was `*_lo`. Each state has a file ([`startup`],
//! [`probe_bw`], [`probe_rtt`]); [`model`] is the path's model, [`control`] derives rate and window
//! from it.
//!
//! Constants come from section 2 and the state table of section 5.6.1, and stand next to their use.
//! Rates are bytes per second and volumes are bytes, both in integers; gains are f64 factors of one
//! product, rounded down.

mod control;
mod model;
mod probe_bw;
mod probe_rtt;
mod startup;

use crate::api::{Class, Congestion, Departing, LostSegment, Need, PathSample, Stage};
use crate::cc::control::{CongestionControl, Setup, Variant};
use crate::cc::parts::period_max::PeriodMax;
use crate::cc::parts::rates::initial_pacing;
use narrows_common::{Duration, Rng, Time};

/// Section 2.4: the loss rate per round that probing tolerates.
const LOSS_THRESHOLD: f64 = 0.02;
/// Section 2.4: the factor by which a round with loss reduces the bounds.
const BETA: f64 = 0.7;
/// Section 2.4: MinPipeCwnd in segments.
const LEAST_WINDOW_SEGMENTS: u64 = 4;
/// No bound.
const UNBOUNDED: u64 = u64::MAX;

/// The variant's entry in the list.
pub const VARIANT: Variant = Variant {
    name: "bbr3",
    title: "BBR version 3: bounds by loss, gentler probes",
    reference: "draft-ietf-ccwg-bbr (August 2026)",
    class: Class::ModelBased,
    needs: &[Need::SegmentTimes, Need::Pacing],
    parameters: &[],
    not_implemented: &[
        "bursts of segmentation offload: each segment is paced separately",
        "explicit congestion notification (not in the draft either; it is in Google's Linux branch)",
    ],
    build: |setup| Box::new(Bbr3::new(setup)),
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

impl State {
    fn is_probe_bw(self) -> bool {
        matches!(self, State::Down | State::Cruise | State::Refill | State::Up)
    }

    /// IsProbingBW.
    fn is_accelerating(self) -> bool {
        matches!(self, State::Startup | State::Refill | State::Up)
    }

    /// The table of section 5.6.1.
    fn pacing_gain(self) -> f64 {
        match self {
            State::Startup => 2.77,
            State::Drain => 0.5,
            State::Down => 0.90,
            State::Up => 1.25,
            State::Cruise | State::Refill | State::ProbeRtt => 1.0,
        }
    }

    /// The table of section 5.6.1.
    fn cwnd_gain(self) -> f64 {
        match self {
            State::Up => 2.25,
            State::ProbeRtt => 0.5,
            _ => 2.0,
        }
    }
}

/// The feedback of the current probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AckPhase {
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

/// The state of a BBRv3 sender.
#[derive(Clone, Debug)]
pub struct Bbr3 {
    rng: Rng,
    mss: u64,
    initial_window_bytes: u64,
    cwnd_bytes: u64,
    prior_cwnd_bytes: u64,
    pacing_bytes_per_sec: u64,
    state: State,
    stage: Stage,
    // Rounds.
    round: u64,
    round_ends_at: u64,
    is_round_start: bool,
    // Bandwidth.
    max_bw: PeriodMax<2>,
    cycle: u64,
    bw: u64,
    bw_shortterm: u64,
    bw_latest: u64,
    full_bw: u64,
    full_bw_count: u32,
    full_bw_now: bool,
    full_bw_reached: bool,
    // Volume.
    inflight_longterm: u64,
    inflight_shortterm: u64,
    inflight_latest: u64,
    extra_acked: PeriodMax<10>,
    extra_acked_began_at: Time,
    extra_acked_delivered: u64,
    // Round trips.
    min_rtt: Duration,
    min_rtt_at: Time,
    probe_rtt_min: Duration,
    probe_rtt_min_at: Time,
    probe_rtt_expired: bool,
    probe_rtt_ends_at: Option<Time>,
    probe_rtt_round_done: bool,
    // Loss.
    loss_round_delivered: u64,
    is_loss_round_start: bool,
    is_loss_in_round: bool,
    loss_ranges_in_round: u32,
    recovery_round: u64,
    undo: Undo,
    // Probing.
    drain_start_round: u64,
    rounds_since_probe_up: u64,
    probe_wait: Duration,
    cycle_began_at: Time,
    ack_phase: AckPhase,
    is_probe_sample: bool,
    prev_probe_too_high: bool,
    prev_probe_precautionary: bool,
    probe_up_rounds: u32,
    probe_up_acked: u64,
    probe_up_acked_per_inc: u64,
    is_idle_restart: bool,
}

/// The state that a spurious loss restores (section 5.5.11).
#[derive(Clone, Copy, Debug)]
struct Undo {
    state: Option<State>,
    bw_shortterm: u64,
    inflight_shortterm: u64,
    inflight_longterm: u64,
}

impl Bbr3 {
    fn new(setup: &Setup) -> Self {
        Bbr3 {
            rng: Rng::from_seed(setup.seed),
            mss: setup.mss.into(),
            initial_window_bytes: setup.initial_window_bytes,
            cwnd_bytes: setup.initial_window_bytes,
            prior_cwnd_bytes: 0,
            pacing_bytes_per_sec: initial_pacing(setup, State::Startup.pacing_gain()),
            state: State::Startup,
            stage: Stage::Open,
            round: 0,
            round_ends_at: 0,
            is_round_start: false,
            max_bw: PeriodMax::default(),
            cycle: 0,
            bw: 0,
            bw_shortterm: UNBOUNDED,
            bw_latest: 0,
            full_bw: 0,
            full_bw_count: 0,
            full_bw_now: false,
            full_bw_reached: false,
            inflight_longterm: UNBOUNDED,
            inflight_shortterm: UNBOUNDED,
            inflight_latest: 0,
            extra_acked: PeriodMax::default(),
            extra_acked_began_at: Time::ZERO,
            extra_acked_delivered: 0,
            min_rtt: setup.handshake_rtt.unwrap_or(Duration::MAX),
            min_rtt_at: Time::ZERO,
            probe_rtt_min: setup.handshake_rtt.unwrap_or(Duration::MAX),
            probe_rtt_min_at: Time::ZERO,
            probe_rtt_expired: false,
            probe_rtt_ends_at: None,
            probe_rtt_round_done: false,
            loss_round_delivered: 0,
            is_loss_round_start: false,
            is_loss_in_round: false,
            loss_ranges_in_round: 0,
            recovery_round: 0,
            undo: Undo {
                state: None,
                bw_shortterm: UNBOUNDED,
                inflight_shortterm: UNBOUNDED,
                inflight_longterm: UNBOUNDED,
            },
            drain_start_round: 0,
            rounds_since_probe_up: 0,
            probe_wait: Duration::ZERO,
            cycle_began_at: Time::ZERO,
            ack_phase: AckPhase::Init,
            is_probe_sample: false,
            prev_probe_too_high: false,
            prev_probe_precautionary: false,
            probe_up_rounds: 0,
            probe_up_acked: 0,
            probe_up_acked_per_inc: UNBOUNDED,
            is_idle_restart: false,
        }
    }

    /// UpdateModelAndState (section 5.2.3).
    fn update_model_and_state(&mut self, sample: &PathSample) {
        self.update_latest_delivery_signals(sample);
        self.update_congestion_signals(sample);
        self.update_ack_aggregation(sample);
        self.check_full_bw_reached(sample);
        self.check_startup_done(sample);
        self.check_drain_done(sample);
        self.update_probe_bw_cycle_phase(sample);
        self.update_min_rtt(sample);
        self.check_probe_rtt(sample);
        self.advance_latest_delivery_signals(sample);
        self.bw = self.max_bw.get().min(self.bw_shortterm);
    }
}

impl CongestionControl for Bbr3 {
    fn cwnd_bytes(&self) -> u64 {
        self.cwnd_bytes
    }

    fn ssthresh_bytes(&self) -> u64 {
        u64::MAX
    }

    fn pacing_bytes_per_sec(&self) -> Option<u64> {
        Some(self.pacing_bytes_per_sec)
    }

    fn limits_itself(&self) -> bool {
        self.state == State::ProbeRtt
    }

    /// HandleRestartFromIdle (section 5.4.1).
    fn on_departure(&mut self, departing: &Departing) {
        if departing.flight_bytes > 0 || !departing.is_app_limited {
            return;
        }
        self.is_idle_restart = true;
        self.extra_acked_began_at = departing.now;
        if self.state.is_probe_bw() {
            self.set_pacing(1.0);
        } else if self.state == State::ProbeRtt {
            self.check_probe_rtt_done(departing.now, departing.delivered_bytes);
        }
    }

    fn on_path_sample(&mut self, sample: &PathSample) {
        self.follow_recovery(sample);
        self.update_model_and_state(sample);
        self.set_pacing(self.state.pacing_gain());
        self.set_cwnd(sample);
    }

    fn on_segment_lost(&mut self, lost: &LostSegment) {
        self.handle_lost_segment(lost);
    }

    /// OnEnterFastRecovery (section 5.6.4.4); the model still sets the window.
    fn on_congestion(&mut self, _congestion: &Congestion) {
        self.save_cwnd();
        self.save_state_upon_loss();
        self.recovery_round = self.round;
    }

    fn on_ecn(&mut self, _congestion: &Congestion) {}

    /// OnEnterRTO: packets in flight plus one segment; the host adds the packets in flight.
    fn on_rto(&mut self, congestion: &Congestion) {
        self.save_cwnd();
        self.save_state_upon_loss();
        self.stage = Stage::Loss;
        self.cwnd_bytes = congestion.mss.into();
    }

    /// HandleSpuriousLossDetection (section 5.5.11).
    fn on_undo(
        &mut self,
        _before: Box<dyn CongestionControl>,
    ) -> Option<Box<dyn CongestionControl>> {
        self.restore_cwnd();
        self.is_loss_in_round = false;
        self.reset_full_bw();
        let undo = self.undo;
        self.bw_shortterm = self.bw_shortterm.max(undo.bw_shortterm);
        self.inflight_shortterm = self.inflight_shortterm.max(undo.inflight_shortterm);
        self.inflight_longterm = self.inflight_longterm.max(undo.inflight_longterm);
        match undo.state {
            Some(State::Startup) if self.state != State::Startup => {
                self.full_bw_reached = false;
                if self.state != State::ProbeRtt {
                    self.state = State::Startup;
                }
            }
            Some(State::Up) if !matches!(self.state, State::Up | State::ProbeRtt) => {
                // The round starts at the next sample.
                self.start_refill(self.round_ends_at);
            }
            _ => {}
        }
        self.undo.state = None;
        None
    }
}
