//! Startup and Drain (sections 5.3.1 and 5.3.2). Startup doubles the rate each round until a
//! plateau or loss shows that the pipe is full; Drain then empties the queue.
//!
//! Constants: a plateau is three rounds with a gain below 1.25 (section 5.3.1.2). Loss ends Startup
//! if a round of recovery has more than 2 % loss in at least six ranges (section 5.3.1.3). Drain
//! lasts at most three rounds.

use crate::api::Stage;
use crate::cc::bbr3::{Bbr3, LOSS_THRESHOLD, PathSample, State};
use crate::cc::parts::rates::scaled;

const FULL_GROWTH: f64 = 1.25;
const FULL_ROUNDS: u32 = 3;
const FULL_LOSS_RANGES: u32 = 6;
const DRAIN_ROUNDS: u64 = 3;

impl Bbr3 {
    pub(super) fn reset_full_bw(&mut self) {
        (self.full_bw, self.full_bw_count, self.full_bw_now) = (0, 0, false);
    }

    pub(super) fn check_full_bw_reached(&mut self, sample: &PathSample) {
        if self.full_bw_now || !self.is_round_start || sample.rate.is_app_limited {
            return;
        }
        let rate = sample.rate.bytes_per_sec().unwrap_or(0);
        if rate >= scaled(self.full_bw, FULL_GROWTH) {
            self.reset_full_bw();
            self.full_bw = rate;
            return;
        }
        self.full_bw_count += 1;
        self.full_bw_now = self.full_bw_count >= FULL_ROUNDS;
        self.full_bw_reached |= self.full_bw_now;
    }

    pub(super) fn check_startup_done(&mut self, sample: &PathSample) {
        self.check_startup_high_loss(sample);
        if self.state == State::Startup && self.full_bw_reached {
            self.state = State::Drain;
            self.drain_start_round = self.round;
        }
    }

    fn check_startup_high_loss(&mut self, sample: &PathSample) {
        let is_round_over = self.is_loss_round_start && self.state == State::Startup;
        let has_recovered_a_round =
            sample.stage == Stage::Recovery && self.round > self.recovery_round;
        let is_heavy =
            sample.rate.lost_bytes > scaled(sample.rate.tx_in_flight_bytes, LOSS_THRESHOLD);
        if is_round_over
            && has_recovered_a_round
            && is_heavy
            && self.loss_ranges_in_round >= FULL_LOSS_RANGES
        {
            self.undo.state = Some(State::Startup);
            self.full_bw_reached = true;
            self.inflight_longterm = self.bdp(1.0).max(self.inflight_latest);
        }
        if self.is_loss_round_start {
            self.loss_ranges_in_round = 0;
        }
    }

    pub(super) fn check_drain_done(&mut self, sample: &PathSample) {
        let is_drained = sample.in_flight_bytes <= self.inflight(1.0)
            || self.round > self.drain_start_round + DRAIN_ROUNDS;
        if self.state == State::Drain && is_drained {
            self.start_down(sample);
        }
    }
}
