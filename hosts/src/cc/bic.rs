//! BIC (Xu, Harfoush, Rhee 2004): binary search for the window of the last loss.
//!
//! With W the window and Wmax the window at the last loss, in segments, each round trip adds:
//! - (Wmax - W)/4 below Wmax, at most 16, and 4/20 once that is at most 1;
//! - 4/20 from Wmax to Wmax + 4;
//! - (W - Wmax)/3 from there to Wmax + 48;
//! - 16 above.
//!
//! Before the first loss W grows by at least 5 % per round trip. A loss sets W to beta W, with beta
//! = 819/1024. If W was below Wmax, fast convergence then sets Wmax to W (1 + beta)/2. Up to 14
//! segments BIC is Reno. A time-out resets Wmax.
//!
//! Constants: Linux's tcp_bic. Linux divides by an estimate of the delayed-ACK ratio; bytes are
//! counted here, so no division is needed. Steps are f64, the window is in bytes.

use crate::api::{Ack, Class, Congestion, Idle, Parameter};
use crate::cc::control::{CongestionControl, Variant};
use crate::cc::parts::window::Window;

const LOW_WINDOW: f64 = 14.0;
const MAX_STEP: f64 = 16.0;
/// B: the divisor of the search.
const DIVISOR: f64 = 4.0;
/// The last step of the search, spread over 20 rounds.
const SMOOTH_STEP: f64 = DIVISOR / 20.0;

/// The variant's entry in the list.
pub const VARIANT: Variant = Variant {
    name: "bic",
    title: "binary search for the window of the last loss, at most 16 segments per round trip",
    reference: "Xu, Harfoush, Rhee, Binary increase congestion control for fast long-distance networks, INFOCOM 2004; Linux tcp_bic",
    class: Class::LossBased,
    needs: &[],
    parameters: &[
        Parameter {
            name: "beta",
            unit: "ratio",
            default: 819.0 / 1024.0,
            min: 0.1,
            max: 0.99,
            meaning: "factor applied to the window at a loss",
            origin: "819/1024: Linux",
        },
        Parameter {
            name: "fast_convergence",
            unit: "flag",
            default: 1.0,
            min: 0.0,
            max: 1.0,
            meaning: "1: reduce more if Wmax decreases",
            origin: "the paper, Linux",
        },
    ],
    not_implemented: &[],
    build: |setup| {
        Box::new(Bic {
            window: Window::new(setup),
            beta: setup.parameters.get("beta"),
            fast_convergence: setup.parameters.get("fast_convergence") >= 0.5,
            w_max: 0.0,
        })
    },
};

/// The window of a BIC sender.
#[derive(Clone, Debug)]
pub struct Bic {
    window: Window,
    beta: f64,
    fast_convergence: bool,
    /// In segments; 0 before the first loss and after a time-out.
    w_max: f64,
}

impl Bic {
    /// Segments added per round trip to a window of `w`.
    fn step(&self, w: f64) -> f64 {
        if w <= LOW_WINDOW {
            return 1.0;
        }
        let step = if w < self.w_max {
            let distance = (self.w_max - w) / DIVISOR;
            if distance <= 1.0 { SMOOTH_STEP } else { distance.min(MAX_STEP) }
        } else if w < self.w_max + DIVISOR {
            SMOOTH_STEP
        } else if w < self.w_max + MAX_STEP * (DIVISOR - 1.0) {
            (w - self.w_max) / (DIVISOR - 1.0)
        } else {
            MAX_STEP
        };
        if self.w_max == 0.0 { step.max(0.05 * w) } else { step }
    }

    fn reduced(&self, congestion: &Congestion) -> u64 {
        if self.window.segments(congestion.mss) <= LOW_WINDOW {
            congestion.window_bytes / 2
        } else {
            (congestion.window_bytes as f64 * self.beta) as u64
        }
    }
}

impl CongestionControl for Bic {
    fn cwnd_bytes(&self) -> u64 {
        self.window.cwnd_bytes
    }
    fn ssthresh_bytes(&self) -> u64 {
        self.window.ssthresh_bytes
    }
    fn on_growth(&mut self, ack: &Ack) {
        let step = self.step(self.window.segments(ack.mss));
        self.window.grow(ack, step);
    }
    fn on_congestion(&mut self, congestion: &Congestion) {
        let w = self.window.segments(congestion.mss);
        let falls = self.fast_convergence && w < self.w_max;
        self.w_max = if falls { w * (1.0 + self.beta) / 2.0 } else { w };
        self.window.cut(congestion, self.reduced(congestion));
    }
    fn on_rto(&mut self, congestion: &Congestion) {
        self.window.collapse(congestion, self.reduced(congestion));
        self.w_max = 0.0;
    }
    fn on_idle(&mut self, idle: &Idle) {
        self.window.restart(idle.restart_window_bytes);
    }
}
