//! Vegas (Brakmo & Peterson 1995) as in Linux: keeps alpha to beta segments in the queue.
//!
//! Once per round trip, with RTT the minimum of that round, diff = cwnd (RTT - base)/base segments.
//! In slow start, diff > gamma ends slow start with cwnd = min(cwnd, cwnd base/RTT + 1). In
//! congestion avoidance, diff > beta removes a segment and diff < alpha adds one. A round with too
//! few samples is Reno's, as are losses and the round after a loss, which discards earlier samples.
//!
//! Constants: alpha 2, beta 4, gamma 1 (Linux's tcp_vegas); ns-2 has 1, 3 and 1. diff is f64; the
//! window changes by whole segments.

use crate::api::{Ack, Class, Congestion, Idle, Need, Parameter};
use crate::cc::control::{CongestionControl, Setup, Variant};
use crate::cc::parts::round_trips::{Round, RoundTrips, ratio};
use crate::cc::parts::window::Window;
use narrows_common::Time;

/// The variant's entry in the list.
pub const VARIANT: Variant = Variant {
    name: "vegas",
    title: "keeps a few segments in the queue by the round-trip time",
    reference: "Brakmo, Peterson, TCP Vegas: end to end congestion avoidance on a global internet, JSAC 1995; Linux tcp_vegas",
    class: Class::DelayBased,
    needs: &[Need::SegmentTimes],
    parameters: &[
        Parameter {
            name: "alpha",
            unit: "segments",
            default: 2.0,
            min: 0.0,
            max: 10_000.0,
            meaning: "queued segments below which the window grows",
            origin: "2: Linux; 1: ns-2",
        },
        Parameter {
            name: "beta",
            unit: "segments",
            default: 4.0,
            min: 0.0,
            max: 10_000.0,
            meaning: "queued segments above which the window shrinks",
            origin: "4: Linux; 3: ns-2",
        },
        Parameter {
            name: "gamma",
            unit: "segments",
            default: 1.0,
            min: 0.0,
            max: 10_000.0,
            meaning: "queued segments that end slow start",
            origin: "1: Linux, ns-2",
        },
    ],
    not_implemented: &[
        "the fine-grained retransmission timer and slow start every other round trip (the paper, ns-2)",
    ],
    build: |setup| Box::new(Vegas::new(setup)),
};

/// The window of a Vegas sender.
#[derive(Clone, Debug)]
pub struct Vegas {
    window: Window,
    round_trips: RoundTrips,
    alpha: f64,
    beta: f64,
    gamma: f64,
    round: u64,
    /// The result of the last round, until it is applied.
    ended: Option<Round>,
    /// The last round had enough samples.
    is_measured: bool,
}

impl Vegas {
    fn new(setup: &Setup) -> Self {
        Vegas {
            window: Window::new(setup),
            round_trips: RoundTrips::new(setup),
            alpha: setup.parameters.get("alpha"),
            beta: setup.parameters.get("beta"),
            gamma: setup.parameters.get("gamma"),
            round: 0,
            ended: None,
            is_measured: false,
        }
    }

    fn on_round(&mut self, round: &Round, ack: &Ack) {
        let (cwnd, segment) = (self.window.cwnd_bytes, u64::from(ack.mss));
        let base_share = ratio(round.base, round.min);
        let diff = self.window.segments(ack.mss) * (1.0 / base_share - 1.0);
        if self.window.is_slow_start() {
            if diff > self.gamma {
                let target = (cwnd as f64 * base_share) as u64 + segment;
                let left = cwnd.min(target).max(2 * segment);
                self.window.cwnd_bytes = left;
                self.window.ssthresh_bytes = left;
            } else {
                self.window.grow(ack, 1.0);
            }
        } else if diff > self.beta {
            self.window.cwnd_bytes = cwnd.saturating_sub(segment).max(2 * segment);
            self.window.ssthresh_bytes = self.window.ssthresh_bytes.min(self.window.cwnd_bytes);
        } else if diff < self.alpha {
            self.window.cwnd_bytes = cwnd.saturating_add(segment);
        }
    }

    fn forget(&mut self) {
        self.round_trips.restart();
        self.ended = None;
        self.is_measured = false;
    }
}

impl CongestionControl for Vegas {
    fn cwnd_bytes(&self) -> u64 {
        self.window.cwnd_bytes
    }
    fn ssthresh_bytes(&self) -> u64 {
        self.window.ssthresh_bytes
    }
    fn on_measurement(&mut self, ack: &Ack) {
        let ended = self.round_trips.on_measurement(ack);
        if ack.round != self.round {
            self.round = ack.round;
            self.is_measured = ended.is_some();
            self.ended = ended;
        }
    }
    fn on_growth(&mut self, ack: &Ack) {
        if let Some(round) = self.ended.take() {
            self.on_round(&round, ack);
        } else if self.window.is_slow_start() || !self.is_measured {
            self.window.grow(ack, 1.0);
        }
    }
    fn on_congestion(&mut self, congestion: &Congestion) {
        self.window.cut(congestion, congestion.window_bytes / 2);
        self.forget();
    }
    fn on_recovery_exit(&mut self, _now: Time) {
        self.forget();
    }
    fn on_rto(&mut self, congestion: &Congestion) {
        self.window.collapse(congestion, congestion.window_bytes / 2);
        self.forget();
    }
    fn on_idle(&mut self, idle: &Idle) {
        self.window.restart(idle.restart_window_bytes);
        self.forget();
    }
}
