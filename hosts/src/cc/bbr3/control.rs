//! Derives pacing rate and window from the model (section 5.6).
//!
//! Constants: a margin of 1 % (section 5.6.2). A burst is the bytes of one millisecond, at least
//! two segments and at most 64 kB (5.6.3); the window includes three bursts (5.5.8.1).

use crate::cc::bbr3::{Bbr3, LEAST_WINDOW_SEGMENTS, PathSample, Stage, State, UNBOUNDED};
use crate::cc::parts::rates::{bytes_in, scaled};
use narrows_common::Duration;

const MARGIN: f64 = 0.99;
const MOST_BURST_BYTES: u64 = 64 * 1024;

impl Bbr3 {
    pub(super) fn set_pacing(&mut self, gain: f64) {
        let rate = scaled(self.bw, gain * MARGIN);
        if rate > 0 && (self.full_bw_reached || rate > self.pacing_bytes_per_sec) {
            self.pacing_bytes_per_sec = rate;
        }
    }

    /// BDPMultiple.
    pub(super) fn bdp(&self, gain: f64) -> u64 {
        self.bdp_of(self.bw, gain)
    }

    fn bdp_of(&self, bw: u64, gain: f64) -> u64 {
        if self.min_rtt == Duration::MAX {
            return self.initial_window_bytes;
        }
        scaled(bytes_in(bw, self.min_rtt), gain)
    }

    /// Inflight.
    pub(super) fn inflight(&self, gain: f64) -> u64 {
        self.with_quantization(self.bdp(gain))
    }

    pub(super) fn inflight_of(&self, bw: u64, gain: f64) -> u64 {
        self.with_quantization(self.bdp_of(bw, gain))
    }

    /// QuantizationBudget (section 5.6.4.2).
    fn with_quantization(&self, inflight_cap: u64) -> u64 {
        let burst_bytes = (self.pacing_bytes_per_sec / 1000).min(MOST_BURST_BYTES);
        let budget = 3 * burst_bytes.max(2 * self.mss);
        let cap = inflight_cap.max(budget).max(LEAST_WINDOW_SEGMENTS * self.mss);
        cap + if self.state == State::Up { 2 * self.mss } else { 0 }
    }

    /// SetCwnd (section 5.6.4.6).
    pub(super) fn set_cwnd(&mut self, sample: &PathSample) {
        let acked = sample.rate.newly_delivered_bytes;
        let with_extra = self.bdp(self.state.cwnd_gain()) + self.extra_acked.get();
        let max_inflight = self.with_quantization(with_extra);
        if self.full_bw_reached {
            self.cwnd_bytes = (self.cwnd_bytes + acked).min(max_inflight);
        } else if self.cwnd_bytes < max_inflight
            || sample.delivered_bytes < self.initial_window_bytes
        {
            self.cwnd_bytes += acked;
        }
        let least = LEAST_WINDOW_SEGMENTS * self.mss;
        self.cwnd_bytes = self.cwnd_bytes.max(least);
        if self.state == State::ProbeRtt {
            self.cwnd_bytes = self.cwnd_bytes.min(self.probe_rtt_cwnd());
        }
        self.cwnd_bytes = self.cwnd_bytes.min(self.model_cap().max(least));
    }

    /// BoundCwndForModel (section 5.6.4.7).
    fn model_cap(&self) -> u64 {
        let cap = match self.state {
            State::Cruise | State::ProbeRtt => self.inflight_with_headroom(),
            state if state.is_probe_bw() => self.inflight_longterm,
            _ => UNBOUNDED,
        };
        cap.min(self.inflight_shortterm)
    }

    /// ProbeRTTCwnd (section 5.6.4.5).
    pub(super) fn probe_rtt_cwnd(&self) -> u64 {
        self.bdp(State::ProbeRtt.cwnd_gain()).max(LEAST_WINDOW_SEGMENTS * self.mss)
    }

    pub(super) fn save_cwnd(&mut self) {
        let is_whole = self.stage == Stage::Open && self.state != State::ProbeRtt;
        let before = if is_whole { 0 } else { self.prior_cwnd_bytes };
        self.prior_cwnd_bytes = before.max(self.cwnd_bytes);
    }

    pub(super) fn restore_cwnd(&mut self) {
        self.cwnd_bytes = self.cwnd_bytes.max(self.prior_cwnd_bytes);
    }
}
