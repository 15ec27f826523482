//! ProbeBW (section 5.3.3): Down leaves headroom, Cruise holds it, Refill lasts a round, Up ends at
//! a loss or a plateau.
//!
//! Constants: a probe starts after a random 2 to 3 s, or after the rounds that a Reno flow needs to
//! grow by the bandwidth-delay product, at most 63 (section 5.3.3.5). Headroom is 0.15.

use crate::cc::bbr3::model::is_too_high;
use crate::cc::bbr3::{AckPhase, Bbr3, LEAST_WINDOW_SEGMENTS, PathSample, State, UNBOUNDED};
use crate::cc::parts::rates::scaled;
use narrows_common::{Duration, Time};

const PROBE_WAIT: Duration = Duration::from_secs(2);
const PROBE_WAIT_SPREAD: Duration = Duration::from_secs(1);
const RENO_ROUNDS: u64 = 63;
const HEADROOM: f64 = 0.15;
const MOST_UP_ROUNDS: u32 = 30;

impl Bbr3 {
    /// StartProbeBW_DOWN at a sample.
    pub(super) fn start_down(&mut self, sample: &PathSample) {
        self.enter_down(sample.now, sample.delivered_bytes);
    }

    pub(super) fn enter_down(&mut self, now: Time, delivered_bytes: u64) {
        self.reset_congestion_signals();
        self.probe_up_acked_per_inc = UNBOUNDED;
        self.rounds_since_probe_up = self.rng.range(0, 1);
        let spread_ps = self.rng.range(0, PROBE_WAIT_SPREAD.as_ps());
        self.probe_wait = PROBE_WAIT + Duration::from_ps(spread_ps);
        self.cycle_began_at = now;
        self.ack_phase = AckPhase::ProbeStopping;
        self.round_ends_at = delivered_bytes;
        self.state = State::Down;
    }

    pub(super) fn start_refill(&mut self, delivered_bytes: u64) {
        self.reset_shortterm_model();
        (self.probe_up_rounds, self.probe_up_acked) = (0, 0);
        self.prev_probe_precautionary = false;
        self.ack_phase = AckPhase::Refilling;
        self.round_ends_at = delivered_bytes;
        self.state = State::Refill;
    }

    fn start_up(&mut self, sample: &PathSample) {
        self.ack_phase = AckPhase::ProbeStarting;
        self.round_ends_at = sample.delivered_bytes;
        self.reset_full_bw();
        self.full_bw = sample.rate.bytes_per_sec().unwrap_or(0);
        self.state = State::Up;
        self.raise_longterm_slope();
    }

    pub(super) fn update_probe_bw_cycle_phase(&mut self, sample: &PathSample) {
        if !self.full_bw_reached || self.adapt_longterm_model(sample) {
            return;
        }
        let state = self.state;
        match state {
            State::Down if self.is_time_to_probe(sample) => {
                self.start_refill(sample.delivered_bytes)
            }
            State::Down if self.is_time_to_cruise(sample) => self.state = State::Cruise,
            State::Cruise if self.is_time_to_probe(sample) => {
                self.start_refill(sample.delivered_bytes);
            }
            State::Refill if self.is_round_start => {
                self.is_probe_sample = true;
                self.start_up(sample);
            }
            _ => {}
        }
        if state == State::Up && self.is_time_to_go_down(sample) {
            self.prev_probe_too_high = false;
            self.start_down(sample);
        }
    }

    fn is_time_to_probe(&self, sample: &PathSample) -> bool {
        let reno_rounds = (self.target_inflight() / self.mss).min(RENO_ROUNDS);
        sample.now > self.cycle_began_at + self.probe_wait
            || self.rounds_since_probe_up >= reno_rounds
    }

    fn is_time_to_cruise(&self, sample: &PathSample) -> bool {
        sample.in_flight_bytes <= self.inflight_with_headroom()
            && sample.in_flight_bytes <= self.inflight_of(self.max_bw.get(), 1.0)
    }

    fn is_time_to_go_down(&mut self, sample: &PathSample) -> bool {
        if self.prev_probe_too_high && sample.in_flight_bytes >= self.inflight_longterm {
            self.prev_probe_precautionary = true;
            return true;
        }
        if sample.is_cwnd_limited && self.cwnd_bytes >= self.inflight_longterm {
            // The bound limits the bandwidth, not the path.
            self.reset_full_bw();
            self.full_bw = sample.rate.bytes_per_sec().unwrap_or(0);
            return false;
        }
        self.full_bw_now
    }

    /// TargetInflight.
    pub(super) fn target_inflight(&self) -> u64 {
        self.bdp(1.0).min(self.cwnd_bytes)
    }

    pub(super) fn inflight_with_headroom(&self) -> u64 {
        if self.inflight_longterm == UNBOUNDED {
            return UNBOUNDED;
        }
        let headroom = scaled(self.inflight_longterm, HEADROOM).max(self.mss);
        let left = self.inflight_longterm.saturating_sub(headroom);
        left.max(LEAST_WINDOW_SEGMENTS * self.mss)
    }

    fn raise_longterm_slope(&mut self) {
        let growth = 1u64 << self.probe_up_rounds;
        self.probe_up_rounds = (self.probe_up_rounds + 1).min(MOST_UP_ROUNDS);
        self.probe_up_acked_per_inc = (self.cwnd_bytes / growth).max(self.mss);
    }

    fn probe_longterm_upward(&mut self, sample: &PathSample) {
        if !sample.is_cwnd_limited || self.cwnd_bytes < self.inflight_longterm {
            return;
        }
        self.probe_up_acked += sample.rate.newly_delivered_bytes;
        let steps = self.probe_up_acked / self.probe_up_acked_per_inc;
        self.probe_up_acked -= steps * self.probe_up_acked_per_inc;
        self.inflight_longterm = self.inflight_longterm.saturating_add(steps * self.mss);
        if self.is_round_start {
            self.raise_longterm_slope();
        }
    }

    /// True if it has chosen the next state.
    fn adapt_longterm_model(&mut self, sample: &PathSample) -> bool {
        if self.ack_phase == AckPhase::ProbeStarting && self.is_round_start {
            self.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.ack_phase == AckPhase::ProbeStopping && self.is_round_start {
            self.is_probe_sample = false;
            self.ack_phase = AckPhase::Init;
            if self.state.is_probe_bw() && !sample.rate.is_app_limited {
                // AdvanceMaxBwFilter.
                self.cycle += 1;
                self.max_bw.update(self.cycle, 0);
            }
            let is_safe = self.prev_probe_precautionary && !self.prev_probe_too_high;
            if self.state.is_probe_bw() && is_safe {
                self.start_refill(sample.delivered_bytes);
                return true;
            }
        }
        let rate = &sample.rate;
        if is_too_high(rate.lost_bytes, rate.tx_in_flight_bytes)
            || self.inflight_longterm == UNBOUNDED
        {
            return false;
        }
        self.inflight_longterm = self.inflight_longterm.max(rate.tx_in_flight_bytes);
        if self.state == State::Up {
            self.probe_longterm_upward(sample);
        }
        false
    }
}
