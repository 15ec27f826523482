//! The path's model (section 5.5): rounds, the maximum bandwidth of two probing cycles, the
//! aggregation of ACKs, and the bounds that losses set.

use crate::cc::bbr3::{
    BETA, Bbr3, LOSS_THRESHOLD, LostSegment, PathSample, Stage, State, UNBOUNDED,
};
use crate::cc::parts::rates::{bytes_in, scaled};

impl Bbr3 {
    /// UpdateLatestDeliverySignals (section 5.5.10.3).
    pub(super) fn update_latest_delivery_signals(&mut self, sample: &PathSample) {
        let rate = sample.rate.bytes_per_sec().unwrap_or(0);
        self.bw_latest = self.bw_latest.max(rate);
        self.inflight_latest = self.inflight_latest.max(sample.rate.delivered_bytes);
        self.is_loss_round_start = sample.rate.newly_delivered_bytes > 0
            && sample.rate.prior_delivered_bytes >= self.loss_round_delivered;
        if self.is_loss_round_start {
            self.loss_round_delivered = sample.delivered_bytes;
        }
    }

    pub(super) fn advance_latest_delivery_signals(&mut self, sample: &PathSample) {
        if self.is_loss_round_start {
            self.bw_latest = sample.rate.bytes_per_sec().unwrap_or(0);
            self.inflight_latest = sample.rate.delivered_bytes;
        }
    }

    pub(super) fn update_congestion_signals(&mut self, sample: &PathSample) {
        self.update_max_bw(sample);
        if self.is_loss_round_start {
            if self.is_loss_in_round && !self.state.is_accelerating() {
                self.lower_shortterm_bounds();
            }
            self.is_loss_in_round = false;
        }
    }

    /// UpdateRound (section 5.5.1) and UpdateMaxBw (5.5.5).
    fn update_max_bw(&mut self, sample: &PathSample) {
        self.is_round_start = sample.rate.newly_delivered_bytes > 0
            && sample.rate.prior_delivered_bytes >= self.round_ends_at;
        if self.is_round_start {
            self.round_ends_at = sample.delivered_bytes;
            self.round += 1;
            self.rounds_since_probe_up += 1;
        }
        let Some(rate) = sample.rate.bytes_per_sec().filter(|&rate| rate > 0) else { return };
        if rate >= self.max_bw.get() || !sample.rate.is_app_limited {
            self.max_bw.update(self.cycle, rate);
        }
    }

    /// InitLowerBounds and LossLowerBounds (section 5.5.10.3).
    fn lower_shortterm_bounds(&mut self) {
        if self.bw_shortterm == UNBOUNDED {
            self.bw_shortterm = self.max_bw.get();
        }
        if self.inflight_shortterm == UNBOUNDED {
            self.inflight_shortterm = self.cwnd_bytes;
        }
        self.bw_shortterm = self.bw_latest.max(scaled(self.bw_shortterm, BETA));
        self.inflight_shortterm = self.inflight_latest.max(scaled(self.inflight_shortterm, BETA));
    }

    pub(super) fn reset_congestion_signals(&mut self) {
        self.is_loss_in_round = false;
        (self.bw_latest, self.inflight_latest) = (0, 0);
    }

    pub(super) fn reset_shortterm_model(&mut self) {
        (self.bw_shortterm, self.inflight_shortterm) = (UNBOUNDED, UNBOUNDED);
    }

    /// UpdateACKAggregation (section 5.5.9).
    pub(super) fn update_ack_aggregation(&mut self, sample: &PathSample) {
        let expected = |began_at| bytes_in(self.bw, sample.now.saturating_since(began_at));
        if self.extra_acked_delivered <= expected(self.extra_acked_began_at) {
            (self.extra_acked_delivered, self.extra_acked_began_at) = (0, sample.now);
        }
        let expected = bytes_in(self.bw, sample.now.saturating_since(self.extra_acked_began_at));
        self.extra_acked_delivered += sample.rate.newly_delivered_bytes;
        let extra = self.extra_acked_delivered.saturating_sub(expected).min(self.cwnd_bytes);
        if !self.full_bw_reached {
            // For one round only.
            let is_new = self.is_round_start;
            self.extra_acked = if is_new { Default::default() } else { self.extra_acked.clone() };
        }
        self.extra_acked.update(self.round, extra);
    }

    /// HandleLostPacket (section 5.5.10.2).
    pub(super) fn handle_lost_segment(&mut self, lost: &LostSegment) {
        if !self.is_loss_in_round {
            self.loss_round_delivered = lost.delivered_bytes;
            self.save_cwnd();
            self.save_state_upon_loss();
        }
        self.is_loss_in_round = true;
        self.loss_ranges_in_round += u32::from(lost.begins_range);
        let tx_in_flight = u64::from(lost.departure.in_flight_bytes);
        let lost_since = lost.lost_bytes.saturating_sub(lost.departure.lost_bytes);
        if !self.is_probe_sample || !is_too_high(lost_since, tx_in_flight) {
            return;
        }
        let inflight = inflight_at_loss(tx_in_flight, lost_since, lost.bytes);
        self.handle_inflight_too_high(inflight, lost);
    }

    fn handle_inflight_too_high(&mut self, inflight: u64, lost: &LostSegment) {
        self.prev_probe_too_high = true;
        self.is_probe_sample = false;
        if !lost.departure.is_app_limited {
            self.inflight_longterm = inflight.max(scaled(self.target_inflight(), BETA));
        }
        if self.state == State::Up {
            self.undo.state = Some(State::Up);
            self.enter_down(lost.now, lost.delivered_bytes);
        }
    }

    pub(super) fn save_state_upon_loss(&mut self) {
        self.undo.state = None;
        self.undo.bw_shortterm = self.bw_shortterm;
        self.undo.inflight_shortterm = self.inflight_shortterm;
        self.undo.inflight_longterm = self.inflight_longterm;
    }

    /// Tracks the host's loss recovery (section 5.6.4.4).
    pub(super) fn follow_recovery(&mut self, sample: &PathSample) {
        let before = core::mem::replace(&mut self.stage, sample.stage);
        if before != Stage::Open && sample.stage == Stage::Open {
            self.restore_cwnd();
        }
    }
}

/// IsInflightTooHigh.
pub(super) fn is_too_high(lost_bytes: u64, tx_in_flight: u64) -> bool {
    lost_bytes > scaled(tx_in_flight, LOSS_THRESHOLD)
}

/// InflightAtLoss: the bytes in flight when losses exceeded the threshold, inside a segment of
/// `bytes`.
fn inflight_at_loss(tx_in_flight: u64, lost_since: u64, bytes: u64) -> u64 {
    let inflight_prev = tx_in_flight.saturating_sub(bytes);
    let lost_prev = lost_since.saturating_sub(bytes);
    let room = LOSS_THRESHOLD * inflight_prev as f64 - lost_prev as f64;
    inflight_prev + (room / (1.0 - LOSS_THRESHOLD)).max(0.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_in_a_hundred_are_crossed_within_a_segment() {
        // (0.02 x 99,000 - 1,500) / 0.98 = 489.8 into a segment of 1,000, after 99,000 in flight,
        // of which 1,500 were lost.
        assert_eq!(inflight_at_loss(100_000, 2500, 1000), 99_489);
        assert!(is_too_high(2001, 100_000) && !is_too_high(2000, 100_000));
    }
}
