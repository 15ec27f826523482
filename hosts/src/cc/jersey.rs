//! TCP-Jersey (Xu, Tian, Ansari 2004): a measured rate, cut only when the switch warns.
//!
//! An ACK of L bytes dt after the one before: R = (RTT R + L) / (dt + RTT), a rate whose memory is
//! a round trip; ownd = RTTmin R. An echoed mark: ssthresh = cwnd = ownd, once a window. Three
//! duplicate ACKs in the round of a mark or the next: the same; without a mark the loss is taken
//! for random, and the window stays. A time-out: ssthresh = ownd, cwnd one segment.
//!
//! From what is known of the paper, whose text was not at hand. The warning is the switch's ECN
//! mark above one threshold: without ECN only time-outs hold this sender back. Fractions: R is
//! f64, the window whole bytes.

use crate::cc::control::{CongestionControl, Setup, Variant};
use crate::cc::parts::window::Window;
use crate::tcp::api::{Ack, Class, Congestion, Idle};
use narrows_common::{Duration, Time};

/// The variant's entry in the list.
pub const VARIANT: Variant = Variant {
    name: "jersey",
    title: "sets the window to the measured rate where the switch warns by ECN (TCP-Jersey)",
    reference: "Xu, Tian, Ansari, TCP-Jersey for wireless IP communications, JSAC 2004",
    class: Class::Hybrid,
    needs: &[],
    parameters: &[],
    not_implemented: &[
        "whatever the paper has beyond estimator and rate control",
        "insisting on ECN: without it no loss but a time-out cuts the window",
    ],
    build: |setup| Box::new(Jersey::new(setup)),
};

/// The window of a TCP-Jersey sender.
#[derive(Clone, Debug)]
pub struct Jersey {
    window: Window,
    /// When the latest ACK came, and what had been delivered by then.
    last: Option<(Time, u64)>,
    /// Bytes a second.
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

    /// ownd in bytes; half the window before an estimate.
    fn own_window(&self, congestion: &Congestion) -> u64 {
        if self.min_rtt == Duration::MAX || self.rate == 0.0 {
            return congestion.window_bytes / 2;
        }
        (self.rate * secs(self.min_rtt)) as u64
    }
}

fn secs(span: Duration) -> f64 {
    span.as_ps() as f64 * 1e-12
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
