//! Vegas as in ns-2: one decision per round trip, in whole segments.
//!
//! Source: ns-2.35 Agent/TCP/Vegas, after Brakmo and Peterson, JSAC 1995. With base the minimum
//! round trip, delta = (outstanding/base - sent in the round/its round trip) x base, rounded.
//! - Below ssthresh the window doubles every other round trip until delta exceeds gamma. That
//!   removes an eighth of it and ends slow start permanently (ssthresh 2).
//! - Above, it grows by a segment per round trip while delta < alpha, and shrinks by one while
//!   delta > beta.
//! - A loss leaves three quarters, or half if the segment had been retransmitted before. `recovery
//!   = "vegas"` detects it at the first duplicate ACK.
//! - A time-out leaves two segments.
//! - The initial window applies from the first segment's ACK on; until then the window is one
//!   segment.
//!
//! Constants: alpha 1, beta 3, gamma 1 (tcl/lib/ns-default.tcl). As in ns-2, the window is a double
//! in segments, so that both round at the same point; other code gets whole bytes.

use crate::api::{Ack, Class, Congestion, Idle, Need, Parameter};
use crate::cc::control::{CongestionControl, Setup, Variant};
use narrows_common::{Duration, Time};

/// The variant's entry in the list.
pub const VARIANT: Variant = Variant {
    name: "vegas-ns2",
    title: "Vegas as in ns-2: slow start every other round trip, three quarters left after a loss",
    reference: "ns-2.35 Agent/TCP/Vegas; Brakmo and Peterson, JSAC 1995",
    class: Class::DelayBased,
    needs: &[Need::SegmentTimes],
    parameters: &[
        Parameter {
            name: "alpha",
            unit: "segments",
            default: 1.0,
            min: 0.0,
            max: 10_000.0,
            meaning: "queued segments below which the window grows",
            origin: "1: v_alpha_",
        },
        Parameter {
            name: "beta",
            unit: "segments",
            default: 3.0,
            min: 0.0,
            max: 10_000.0,
            meaning: "queued segments above which the window shrinks",
            origin: "3: v_beta_",
        },
        Parameter {
            name: "gamma",
            unit: "segments",
            default: 1.0,
            min: 0.0,
            max: 10_000.0,
            meaning: "queued segments that end slow start",
            origin: "1: v_gamma_",
        },
    ],
    not_implemented: &[
        "packets without headers: ns-2's Vegas sends 1,000 bytes where its others send 1,040, its SYN \
         too, whose round trip therefore counts for the base",
    ],
    build: |setup| Box::new(VegasNs2::new(setup)),
};

/// The state of a Vegas sender.
#[derive(Clone, Debug)]
pub struct VegasNs2 {
    /// Windows in segments.
    cwnd: f64,
    ssthresh: f64,
    /// The initial window, until it applies.
    first_window: Option<f64>,
    mss: u32,
    alpha: f64,
    beta: f64,
    gamma: f64,
    /// The minimum round trip.
    base: Duration,
    /// The ACK of the segment at this position ends the round.
    round_begins_at: u64,
    round_began: Time,
    samples: u32,
    samples_sum: Duration,
    /// The growth per ACK of this round, in segments.
    step: f64,
    /// Slow start grows in this round but not in the next.
    grows: bool,
    /// Segments per second in the latest round.
    actual: f64,
    /// The latest sample.
    latest: Duration,
}

impl VegasNs2 {
    /// The window before the first byte is sent.
    pub(super) fn new(setup: &Setup) -> Self {
        let segments = |bytes: u64| bytes as f64 / f64::from(setup.mss);
        VegasNs2 {
            cwnd: 1.0,
            first_window: Some(segments(setup.initial_window_bytes)),
            ssthresh: segments(setup.initial_ssthresh_bytes),
            mss: setup.mss,
            alpha: setup.parameters.get("alpha"),
            beta: setup.parameters.get("beta"),
            gamma: setup.parameters.get("gamma"),
            base: Duration::MAX,
            round_begins_at: 1,
            round_began: Time::ZERO,
            samples: 0,
            samples_sum: Duration::ZERO,
            step: 0.0,
            grows: false,
            actual: 0.0,
            latest: Duration::ZERO,
        }
    }

    /// The latest round trip, and its segments at the latest round's rate.
    pub(super) fn last_round(&self) -> (f64, Duration) {
        (self.actual * self.latest.as_secs_f64(), self.latest)
    }

    /// Sets the window.
    pub(super) fn set_cwnd_bytes(&mut self, cwnd_bytes: u64) {
        self.cwnd = cwnd_bytes as f64 / f64::from(self.mss);
    }

    /// Ends the round. `nxt` is the position after the last byte sent; `flight` segments are
    /// outstanding.
    fn on_round(&mut self, ack: &Ack, nxt: u64, flight: f64) {
        let rtt = match self.samples {
            // The handshake's segments are short, so its round trip can't be the base.
            0 if self.round_began == Time::ZERO => ack.rtt.unwrap_or(ack.srtt),
            0 => ack.now.since(self.round_began),
            samples => Duration::from_ps(self.samples_sum.as_ps() / u64::from(samples)),
        };
        (self.samples, self.samples_sum) = (0, Duration::ZERO);
        let sent = ((nxt - self.round_begins_at) / u64::from(self.mss)) as f64;
        if rtt < self.base || sent <= 1.0 {
            self.base = rtt;
        }
        let (base_s, rtt_s) = (self.base.as_secs_f64(), rtt.as_secs_f64());
        if rtt_s > 0.0 {
            let expected = (flight + 1.0) / base_s;
            self.actual = sent / rtt_s;
            self.act_on(((expected - self.actual) * base_s + 0.5).trunc());
        }
        (self.round_begins_at, self.round_began) = (nxt, ack.now);
    }

    fn act_on(&mut self, delta: f64) {
        self.step = 0.0;
        if self.cwnd < self.ssthresh {
            self.grows = !self.grows;
            if self.grows && delta > self.gamma {
                self.ssthresh = 2.0;
                self.cwnd = (self.cwnd - self.cwnd / 8.0).max(2.0);
            } else if self.grows {
                self.step = 1.0;
            }
        } else if delta > self.beta {
            self.cwnd = (self.cwnd - 1.0).max(2.0);
        } else if delta < self.alpha {
            self.step = 1.0 / self.cwnd;
        }
    }
}

impl CongestionControl for VegasNs2 {
    fn cwnd_bytes(&self) -> u64 {
        (self.cwnd * f64::from(self.mss)) as u64
    }
    fn ssthresh_bytes(&self) -> u64 {
        (self.ssthresh * f64::from(self.mss)) as u64
    }
    fn on_measurement(&mut self, ack: &Ack) {
        self.cwnd = self.first_window.take().unwrap_or(self.cwnd);
        // Without SACK, delivered bytes are acknowledged bytes.
        let nxt = ack.delivered_bytes + ack.flight_bytes;
        let flight = (ack.flight_bytes / u64::from(self.mss)) as f64;
        if ack.delivered_bytes > self.round_begins_at {
            self.on_round(ack, nxt, flight);
        }
        if self.step == 1.0 && self.cwnd >= self.ssthresh {
            self.step = 0.0;
        }
        // Do not grow if the sender did not use the window.
        if self.cwnd - (flight + 1.0) <= 2.0 {
            self.cwnd += self.step;
        }
        if let Some(rtt) = ack.rtt {
            self.samples += 1;
            self.samples_sum += rtt;
            self.latest = rtt;
            self.base = self.base.min(rtt);
        }
    }
    fn on_congestion(&mut self, congestion: &Congestion) {
        let window = congestion.window_bytes / u64::from(self.mss);
        let left = match window {
            0..=3 => 2,
            _ if congestion.is_repeated => window / 2,
            _ => window - window / 4,
        };
        self.cwnd = left as f64;
    }
    fn on_recovery_exit(&mut self, _now: Time) {
        self.ssthresh = 2.0;
    }
    fn on_rto(&mut self, congestion: &Congestion) {
        let threshold = congestion.threshold(congestion.window_bytes / 2);
        self.ssthresh = (threshold / u64::from(self.mss)) as f64;
        self.cwnd = 2.0;
    }
    fn on_idle(&mut self, idle: &Idle) {
        self.cwnd = self.cwnd.min(idle.restart_window_bytes as f64 / f64::from(self.mss));
    }
}
