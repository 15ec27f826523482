//! TCP-Jersey (Xu, Tian, Ansari 2004): a measured rate sets the window, but only after the switch's
//! congestion warning.
//!
//! An ACK of L bytes, dt after the previous one, updates the rate: R = (RTT R + L) / (dt + RTT),
//! with a memory of one round trip. ownd = RTTmin R.
//! - An echoed mark sets ssthresh = cwnd = ownd, once per window.
//! - Three duplicate ACKs do the same in the round of a mark or the next one. Without a mark the
//!   loss counts as random, and the window does not change.
//! - A time-out sets ssthresh = ownd, and cwnd to one segment.
//!
//! Implemented from descriptions in other papers, because the paper's text was not available. The
//! warning is the switch's ECN mark above a threshold; without ECN only time-outs reduce the
//! window. R is f64, the window is in whole bytes.

use crate::api::{Ack, Class, Congestion, Idle};
use crate::cc::control::{CongestionControl, Setup, Variant};
use crate::cc::parts::rates::secs;
use crate::cc::parts::window::Window;
use narrows_common::{Duration, Time};

/// The variant's entry in the list.
pub const VARIANT: Variant = Variant {
    name: "jersey",
    title: "sets the window from the measured rate when the switch warns by ECN (TCP-Jersey)",
    reference: "Xu, Tian, Ansari, TCP-Jersey for wireless IP communications, JSAC 2004",
    class: Class::Hybrid,
    needs: &[],
    parameters: &[],
    not_implemented: &[
        "anything in the paper beyond estimator and rate control",
        "requiring ECN: without it only a time-out reduces the window",
    ],
    build: |setup| Box::new(Jersey::new(setup)),
};

/// The window of a TCP-Jersey sender.
#[derive(Clone, Debug)]
pub struct Jersey {
    window: Window,
    /// The arrival of the latest ACK, and the bytes delivered by then.
    last: Option<(Time, u64)>,
    /// Bytes per second.
    rate: f64,
    min_rtt: Duration,
    round: u64,
    warned_in: Option<u64>,
}

impl Jersey {
    fn new(setup: &Setup) -> Self {
        Jersey {
            window: Window::new(setup),
            last: None,
            rate: 0.0,
            min_rtt: Duration::MAX,
            round: 0,
            warned_in: None,
        }
    }

    /// ownd in bytes; half the window before the first estimate.
    fn own_window(&self, congestion: &Congestion) -> u64 {
        if self.min_rtt == Duration::MAX || self.rate == 0.0 {
            return congestion.window_bytes / 2;
        }
        (self.rate * secs(self.min_rtt)) as u64
    }
}

impl CongestionControl for Jersey {
    fn cwnd_bytes(&self) -> u64 {
        self.window.cwnd_bytes
    }
    fn ssthresh_bytes(&self) -> u64 {
        self.window.ssthresh_bytes
    }
    fn on_measurement(&mut self, ack: &Ack) {
        self.min_rtt = ack.min_rtt;
        self.round = ack.round;
        if let Some((at, delivered)) = self.last.filter(|_| ack.srtt != Duration::ZERO) {
            let bytes = ack.delivered_bytes.saturating_sub(delivered) as f64;
            let (rtt, span) = (secs(ack.srtt), secs(ack.now.since(at)));
            self.rate = (rtt * self.rate + bytes) / (span + rtt);
        }
        self.last = Some((ack.now, ack.delivered_bytes));
    }
    fn on_growth(&mut self, ack: &Ack) {
        self.window.grow(ack, 1.0);
    }
    fn on_congestion(&mut self, congestion: &Congestion) {
        if self.warned_in.is_some_and(|round| self.round <= round + 1) {
            let left = self.own_window(congestion).min(self.window.cwnd_bytes);
            self.window.cut(congestion, left);
        }
    }
    fn on_ecn(&mut self, congestion: &Congestion) {
        self.warned_in = Some(self.round);
        let left = self.own_window(congestion).min(self.window.cwnd_bytes);
        self.window.cut(congestion, left);
    }
    fn on_rto(&mut self, congestion: &Congestion) {
        self.window.collapse(congestion, self.own_window(congestion));
    }
    fn on_idle(&mut self, idle: &Idle) {
        self.window.restart(idle.restart_window_bytes);
        self.last = None;
    }
}
