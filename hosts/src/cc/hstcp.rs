//! HighSpeed TCP (RFC 3649).
//!
//! Up to 38 segments it is Reno. Above, with w the window in segments (section 5):
//!
//! ```text
//! p(w) = 0.078 / w^1.2
//! b(w) = 0.5 - 0.4 (ln w - ln 38) / (ln 83000 - ln 38)
//! a(w) = 2 w^2 p(w) b(w) / (2 - b(w))
//! ```
//!
//! A round trip adds a(w) segments; a loss multiplies the window by 1 - b(w).
//!
//! Constants: section 5's Low_Window 38, High_Window 83000, High_Decrease 0.1, and 0.078 and 1.2 of
//! its response function. a and b are f64, not rounded to the rows of appendix B; the window is in
//! whole bytes. a is recomputed when the window has changed by a segment.

use crate::api::{Ack, Class, Congestion, Idle};
use crate::cc::control::{CongestionControl, Variant};
use crate::cc::parts::window::Window;

const LOW_WINDOW: f64 = 38.0;
const HIGH_WINDOW: f64 = 83_000.0;
const HIGH_DECREASE: f64 = 0.1;

/// The variant's entry in the list.
pub const VARIANT: Variant = Variant {
    name: "hstcp",
    title: "increases faster and decreases less the larger the window (HighSpeed TCP)",
    reference: "RFC 3649",
    class: Class::LossBased,
    needs: &[],
    parameters: &[],
    not_implemented: &["limited slow start (RFC 3742)", "the whole-numbered a(w) of Linux's table"],
    build: |setup| {
        Box::new(Hstcp { window: Window::new(setup), step: 1.0, step_of_bytes: u64::MAX })
    },
};

/// b(w): the fraction by which a loss reduces a window of `w` segments.
pub fn decrease(w: f64) -> f64 {
    if w <= LOW_WINDOW {
        return 0.5;
    }
    let part = libm::log(w / LOW_WINDOW) / libm::log(HIGH_WINDOW / LOW_WINDOW);
    (0.5 - (0.5 - HIGH_DECREASE) * part).max(HIGH_DECREASE)
}

/// a(w): segments that a round trip adds to a window of `w` segments.
pub fn increase(w: f64) -> f64 {
    if w <= LOW_WINDOW {
        return 1.0;
    }
    let b = decrease(w);
    // w^2 / w^1.2.
    (2.0 * 0.078 * libm::pow(w, 0.8) * b / (2.0 - b)).max(1.0)
}

/// The window of a HighSpeed TCP sender.
#[derive(Clone, Debug)]
pub struct Hstcp {
    window: Window,
    /// a(w) for a window of `step_of_bytes`.
    step: f64,
    step_of_bytes: u64,
}

fn reduced(congestion: &Congestion) -> u64 {
    let w = congestion.window_bytes as f64 / f64::from(congestion.mss);
    (congestion.window_bytes as f64 * (1.0 - decrease(w))) as u64
}

impl CongestionControl for Hstcp {
    fn cwnd_bytes(&self) -> u64 {
        self.window.cwnd_bytes
    }
    fn ssthresh_bytes(&self) -> u64 {
        self.window.ssthresh_bytes
    }
    fn on_growth(&mut self, ack: &Ack) {
        if self.window.cwnd_bytes.abs_diff(self.step_of_bytes) >= ack.mss.into() {
            self.step = increase(self.window.segments(ack.mss));
            self.step_of_bytes = self.window.cwnd_bytes;
        }
        self.window.grow(ack, self.step);
    }
    fn on_congestion(&mut self, congestion: &Congestion) {
        self.window.cut(congestion, reduced(congestion));
    }
    fn on_rto(&mut self, congestion: &Congestion) {
        self.window.collapse(congestion, reduced(congestion));
    }
    fn on_idle(&mut self, idle: &Idle) {
        self.window.restart(idle.restart_window_bytes);
    }
}
