//! The window of Jasem's family of variants: a base, plus the growth since.
//!
//! w = x + k, where the base x is the window at an earlier event, or part of it, and k is the
//! additive part. An event cuts the base only: w' = k + x (1 - d). Then the base is the new window
//! (AIMD-FC), or the rest of the old base (New-AIMD). Slow start has no base; congestion avoidance
//! or the first loss sets it. A time-out sets ssthresh to w' and the window to one segment; the
//! base is then the window at the end of slow start. (The papers do not describe time-outs, slow
//! start or receiver windows; this is our choice.)
//!
//! x and w are whole bytes. A cut loses less than one byte; growth carries its remainder.

use crate::api::{Ack, Congestion, Idle};
use crate::cc::control::{CongestionControl, Setup};
use crate::cc::reno::{avoid_congestion, slow_start};

/// The base after an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rebase {
    /// The rest of the old base: the additive part is never cut.
    Never,
    /// The new window.
    Always,
    /// The rest of the old base. A base with a cut below max(1 segment, cwnd/8) is first replaced
    /// by the whole window before the cut.
    Guarded,
}

/// Window, threshold and base in bytes.
#[derive(Clone, Debug)]
pub struct BasedWindow {
    /// The congestion window w.
    pub cwnd_bytes: u64,
    /// The slow-start threshold.
    pub ssthresh_bytes: u64,
    base_bytes: Option<u64>,
    remainder: u64,
    rebase: Rebase,
    /// The fraction d of the base that an event removes.
    pub decrease: f64,
}

impl BasedWindow {
    /// The window before the first byte is sent.
    pub fn new(setup: &Setup, rebase: Rebase, decrease: f64) -> Self {
        BasedWindow {
            cwnd_bytes: setup.initial_window_bytes,
            ssthresh_bytes: setup.initial_ssthresh_bytes,
            base_bytes: None,
            remainder: 0,
            rebase,
            decrease,
        }
    }

    /// The window after a cut of the base, and the rest of the base.
    fn cut_window(&self, congestion: &Congestion) -> (u64, u64) {
        // Window beyond what is in use does not count.
        let window = self.cwnd_bytes.min(congestion.window_bytes);
        let cut = |base: u64| (base as f64 * self.decrease) as u64;
        let mut base = self.base_bytes.map_or(window, |base| base.min(window));
        if self.rebase == Rebase::Guarded && cut(base) < u64::from(congestion.mss).max(window / 8) {
            base = window;
        }
        let left = (window - cut(base)).max(2 * u64::from(congestion.mss));
        (left, if self.rebase == Rebase::Always { left } else { base - cut(base) })
    }
}

impl CongestionControl for BasedWindow {
    fn cwnd_bytes(&self) -> u64 {
        self.cwnd_bytes
    }
    fn ssthresh_bytes(&self) -> u64 {
        self.ssthresh_bytes
    }
    /// Grows as Reno does.
    fn on_growth(&mut self, ack: &Ack) {
        if self.cwnd_bytes < self.ssthresh_bytes {
            self.cwnd_bytes = slow_start(self.cwnd_bytes, ack.credit_bytes);
        } else {
            self.base_bytes.get_or_insert(self.cwnd_bytes);
            self.cwnd_bytes = avoid_congestion(
                self.cwnd_bytes,
                &mut self.remainder,
                ack.credit_bytes,
                ack.mss.into(),
            );
        }
    }
    fn on_congestion(&mut self, congestion: &Congestion) {
        let (window, base) = self.cut_window(congestion);
        self.cwnd_bytes = window;
        self.ssthresh_bytes = congestion.threshold(window);
        self.base_bytes = Some(base);
        self.remainder = 0;
    }
    fn on_rto(&mut self, congestion: &Congestion) {
        if !congestion.is_repeated {
            self.ssthresh_bytes = congestion.threshold(self.cut_window(congestion).0);
        }
        self.cwnd_bytes = congestion.mss.into();
        self.base_bytes = None;
        self.remainder = 0;
    }
    fn on_idle(&mut self, idle: &Idle) {
        if idle.restart_window_bytes < self.cwnd_bytes {
            self.cwnd_bytes = idle.restart_window_bytes;
            self.base_bytes = None;
            self.remainder = 0;
        }
    }
}
