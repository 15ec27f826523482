//! BBR's pacing rate and window, from its model and the state of loss recovery.

use crate::api::{PathSample, Stage};
use crate::cc::bbr::{AGGREGATION_LIMIT, Bbr, LEAST_WINDOW_SEGMENTS, MARGIN, Mode};
use crate::cc::parts::rates::{bytes_in, scaled};

impl Bbr {
    pub(super) fn save_cwnd(&mut self) {
        let is_whole = self.stage == Stage::Open && self.mode != Mode::ProbeRtt;
        let before = if is_whole { 0 } else { self.prior_cwnd_bytes };
        self.prior_cwnd_bytes = before.max(self.cwnd_bytes);
    }

    pub(super) fn set_pacing(&mut self, gain: f64) {
        let rate = scaled(self.bandwidth(), gain * MARGIN);
        if rate > 0 && (self.is_pipe_full || rate > self.pacing_bytes_per_sec) {
            self.pacing_bytes_per_sec = rate;
        }
    }

    pub(super) fn set_cwnd(&mut self, sample: &PathSample, newly_lost_bytes: u64) {
        let acked = sample.rate.newly_delivered_bytes;
        if acked > 0 && !self.recover(sample, newly_lost_bytes) {
            let aggregated = if self.is_pipe_full {
                self.aggregation.extra.get().min(bytes_in(self.bandwidth(), AGGREGATION_LIMIT))
            } else {
                0
            };
            let bdp = self.bdp(self.bandwidth(), self.cwnd_gain());
            let target = self.with_bursts(bdp + aggregated);
            let grown = self.cwnd_bytes + acked;
            if self.is_pipe_full {
                self.cwnd_bytes = grown.min(target);
            } else if self.cwnd_bytes < target || sample.delivered_bytes < self.initial_window_bytes
            {
                self.cwnd_bytes = grown;
            }
            self.cwnd_bytes = self.cwnd_bytes.max(LEAST_WINDOW_SEGMENTS * self.mss);
        }
        if self.mode == Mode::ProbeRtt {
            self.cwnd_bytes = self.cwnd_bytes.min(LEAST_WINDOW_SEGMENTS * self.mss);
        }
    }

    /// True during packet conservation: one packet sent for each one delivered.
    pub(super) fn recover(&mut self, sample: &PathSample, newly_lost_bytes: u64) -> bool {
        let acked = sample.rate.newly_delivered_bytes;
        self.cwnd_bytes = self.cwnd_bytes.saturating_sub(newly_lost_bytes).max(self.mss);
        let before = core::mem::replace(&mut self.stage, sample.stage);
        if sample.stage == Stage::Recovery && before != Stage::Recovery {
            self.conserves_packets = true;
            self.begin_round(sample);
            // Linux counts packets, so a small packet counts as one.
            self.cwnd_bytes = (sample.in_flight_bytes + acked).max(self.mss);
        } else if before != Stage::Open && sample.stage == Stage::Open {
            self.cwnd_bytes = self.cwnd_bytes.max(self.prior_cwnd_bytes);
            self.conserves_packets = false;
        }
        if self.conserves_packets {
            self.cwnd_bytes = self.cwnd_bytes.max(sample.in_flight_bytes + acked);
        }
        self.conserves_packets
    }
}
