//! BBR's phases: Startup, Drain, ProbeBW's cycle of gains, ProbeRTT.

use crate::api::PathSample;
use crate::cc::bbr::{
    Bbr, CYCLE, FULL_GROWTH, FULL_ROUNDS, LEAST_WINDOW_SEGMENTS, MIN_RTT_WINDOW, Mode,
    PROBE_RTT_TIME,
};
use crate::cc::parts::rates::scaled;
use narrows_common::Time;

impl Bbr {
    pub(super) fn update_cycle(&mut self, sample: &PathSample, newly_lost_bytes: u64) {
        if self.mode != Mode::ProbeBw {
            return;
        }
        let gain = self.pacing_gain();
        let is_long = sample.now.saturating_since(self.cycle_began_at) > self.min_rtt;
        let before_bytes = sample.in_flight_bytes + sample.rate.newly_delivered_bytes;
        let is_over = if gain > 1.0 {
            let wanted = self.inflight(self.bandwidth.get(), gain);
            is_long && (newly_lost_bytes > 0 || before_bytes >= wanted)
        } else if gain < 1.0 {
            is_long || before_bytes <= self.inflight(self.bandwidth.get(), 1.0)
        } else {
            is_long
        };
        if is_over {
            self.next_phase(sample.now);
        }
    }

    pub(super) fn next_phase(&mut self, now: Time) {
        self.cycle = (self.cycle + 1) % CYCLE.len();
        self.cycle_began_at = now;
    }

    pub(super) fn check_full_pipe(&mut self, sample: &PathSample) {
        if self.is_pipe_full || !self.is_round_start || sample.rate.is_app_limited {
            return;
        }
        let bandwidth = self.bandwidth.get();
        if bandwidth >= scaled(self.full_bandwidth, FULL_GROWTH) {
            (self.full_bandwidth, self.full_rounds) = (bandwidth, 0);
            return;
        }
        self.full_rounds += 1;
        self.is_pipe_full = self.full_rounds >= FULL_ROUNDS;
    }

    pub(super) fn check_drain(&mut self, sample: &PathSample) {
        if self.mode == Mode::Startup && self.is_pipe_full {
            self.mode = Mode::Drain;
        }
        let target = self.inflight(self.bandwidth.get(), 1.0);
        if self.mode == Mode::Drain && sample.in_flight_bytes <= target {
            self.enter_probe_bw(sample.now);
        }
    }

    pub(super) fn enter_probe_bw(&mut self, now: Time) {
        self.mode = Mode::ProbeBw;
        // Any phase except the one that drains.
        self.cycle = CYCLE.len() - 1 - self.rng.range(0, CYCLE.len() as u64 - 2) as usize;
        self.next_phase(now);
    }

    pub(super) fn update_min_rtt(&mut self, sample: &PathSample) {
        let is_expired = sample.now > self.min_rtt_at + MIN_RTT_WINDOW;
        if let Some(rtt) = sample.rate.rtt.filter(|&rtt| rtt < self.min_rtt || is_expired) {
            (self.min_rtt, self.min_rtt_at) = (rtt, sample.now);
        }
        if is_expired && !self.is_idle_restart && self.mode != Mode::ProbeRtt {
            self.save_cwnd();
            self.mode = Mode::ProbeRtt;
            self.probe_rtt_ends_at = None;
        }
        if self.mode == Mode::ProbeRtt {
            self.probe_rtt(sample);
        }
        if sample.rate.delivered_bytes > 0 {
            self.is_idle_restart = false;
        }
    }

    pub(super) fn probe_rtt(&mut self, sample: &PathSample) {
        match self.probe_rtt_ends_at {
            None if sample.in_flight_bytes <= LEAST_WINDOW_SEGMENTS * self.mss => {
                self.probe_rtt_ends_at = Some(sample.now + PROBE_RTT_TIME);
                self.has_probed_a_round = false;
                self.begin_round(sample);
            }
            None => {}
            Some(_) => {
                self.has_probed_a_round |= self.is_round_start;
                if self.has_probed_a_round {
                    self.check_probe_rtt_done(sample.now);
                }
            }
        }
    }

    pub(super) fn check_probe_rtt_done(&mut self, now: Time) {
        if self.probe_rtt_ends_at.is_none_or(|at| now <= at) {
            return;
        }
        self.min_rtt_at = now;
        self.cwnd_bytes = self.cwnd_bytes.max(self.prior_cwnd_bytes);
        if self.is_pipe_full {
            self.enter_probe_bw(now);
        } else {
            self.mode = Mode::Startup;
        }
    }
}
