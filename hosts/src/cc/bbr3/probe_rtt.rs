//! ProbeRTT (section 5.3.4): after 5 s without a lower round trip, limits the packets in flight to
//! half the bandwidth-delay product for 200 ms and a round. The queue drains, so the minimum round
//! trip can be measured.

use crate::cc::bbr3::{AckPhase, Bbr3, PathSample, State};
use narrows_common::{Duration, Time};

const MIN_RTT_WINDOW: Duration = Duration::from_secs(10);
const INTERVAL: Duration = Duration::from_secs(5);
const TIME: Duration = Duration::from_ms(200);

impl Bbr3 {
    pub(super) fn update_min_rtt(&mut self, sample: &PathSample) {
        let now = sample.now;
        self.probe_rtt_expired = now > self.probe_rtt_min_at + INTERVAL;
        let is_taken = |rtt: &Duration| *rtt < self.probe_rtt_min || self.probe_rtt_expired;
        if let Some(rtt) = sample.rate.rtt.filter(is_taken) {
            (self.probe_rtt_min, self.probe_rtt_min_at) = (rtt, now);
        }
        let is_expired = now > self.min_rtt_at + MIN_RTT_WINDOW;
        if self.probe_rtt_min < self.min_rtt || is_expired {
            (self.min_rtt, self.min_rtt_at) = (self.probe_rtt_min, self.probe_rtt_min_at);
        }
    }

    pub(super) fn check_probe_rtt(&mut self, sample: &PathSample) {
        let is_due = self.probe_rtt_expired && !self.is_idle_restart;
        if self.state != State::ProbeRtt && is_due {
            self.save_cwnd();
            self.state = State::ProbeRtt;
            self.probe_rtt_ends_at = None;
            self.ack_phase = AckPhase::ProbeStopping;
            self.round_ends_at = sample.delivered_bytes;
        }
        if self.state == State::ProbeRtt {
            self.probe_rtt(sample);
        }
        if sample.rate.newly_delivered_bytes > 0 {
            self.is_idle_restart = false;
        }
    }

    fn probe_rtt(&mut self, sample: &PathSample) {
        match self.probe_rtt_ends_at {
            None if sample.in_flight_bytes <= self.probe_rtt_cwnd() => {
                self.probe_rtt_ends_at = Some(sample.now + TIME);
                self.probe_rtt_round_done = false;
                self.round_ends_at = sample.delivered_bytes;
            }
            None => {}
            Some(_) => {
                self.probe_rtt_round_done |= self.is_round_start;
                if self.probe_rtt_round_done {
                    self.check_probe_rtt_done(sample.now, sample.delivered_bytes);
                }
            }
        }
    }

    pub(super) fn check_probe_rtt_done(&mut self, now: Time, delivered_bytes: u64) {
        if self.probe_rtt_ends_at.is_none_or(|at| now <= at) {
            return;
        }
        self.probe_rtt_min_at = now;
        self.restore_cwnd();
        self.reset_shortterm_model();
        if self.full_bw_reached {
            self.enter_down(now, delivered_bytes);
            self.state = State::Cruise;
        } else {
            self.state = State::Startup;
        }
    }
}
