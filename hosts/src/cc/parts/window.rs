//! The window of most variants: bytes, a threshold, and the growth below one byte.
//!
//! Sources: RFC 5681 (slow start, congestion avoidance, time-out). Each variant sets the window
//! after a loss and the growth in congestion avoidance. Each division's remainder is carried to the
//! next ACK.

use crate::api::{Ack, Congestion};
use crate::cc::control::Setup;
use crate::cc::reno::{avoid_congestion, slow_start};

/// Window and threshold in bytes.
#[derive(Clone, Debug)]
pub struct Window {
    /// The congestion window.
    pub cwnd_bytes: u64,
    /// The slow-start threshold.
    pub ssthresh_bytes: u64,
    remainder: u64,
}

impl Window {
    /// The window before the first byte is sent.
    pub fn new(setup: &Setup) -> Self {
        Window {
            cwnd_bytes: setup.initial_window_bytes,
            ssthresh_bytes: setup.initial_ssthresh_bytes,
            remainder: 0,
        }
    }

    /// Below the threshold.
    pub fn is_slow_start(&self) -> bool {
        self.cwnd_bytes < self.ssthresh_bytes
    }

    /// The window in segments.
    pub fn segments(&self, mss: u32) -> f64 {
        self.cwnd_bytes as f64 / f64::from(mss)
    }

    /// Slow start, or congestion avoidance by `step` segments per round trip, at most as fast as
    /// slow start.
    pub fn grow(&mut self, ack: &Ack, step: f64) {
        if self.is_slow_start() {
            self.cwnd_bytes = slow_start(self.cwnd_bytes, ack.credit_bytes);
        } else {
            let before = self.cwnd_bytes;
            self.avoid(ack, step, before);
            self.cwnd_bytes = self.cwnd_bytes.min(slow_start(before, ack.credit_bytes));
        }
    }

    /// Adds `step` segments for each `per_bytes` acknowledged.
    pub fn avoid(&mut self, ack: &Ack, step: f64, per_bytes: u64) {
        let step_bytes = (step * f64::from(ack.mss)) as u64;
        let grown = avoid_congestion(per_bytes, &mut self.remainder, ack.credit_bytes, step_bytes);
        self.cwnd_bytes = self.cwnd_bytes.saturating_add(grown - per_bytes);
    }

    /// A loss reduces the window to `left_bytes`, at least two segments.
    pub fn cut(&mut self, congestion: &Congestion, left_bytes: u64) {
        self.ssthresh_bytes = congestion.threshold(left_bytes);
        self.cwnd_bytes = left_bytes.max(2 * u64::from(congestion.mss));
        self.remainder = 0;
    }

    /// A time-out: sets one segment, and `left_bytes` as the threshold unless the same segment
    /// timed out before.
    pub fn collapse(&mut self, congestion: &Congestion, left_bytes: u64) {
        if !congestion.is_repeated {
            self.ssthresh_bytes = congestion.threshold(left_bytes);
        }
        self.cwnd_bytes = congestion.mss.into();
        self.remainder = 0;
    }

    /// The sender was idle.
    pub fn restart(&mut self, restart_window_bytes: u64) {
        self.cwnd_bytes = self.cwnd_bytes.min(restart_window_bytes);
        self.remainder = 0;
    }
}
