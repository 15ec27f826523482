//! Reno's window (RFC 5681), as AIMD(alpha, beta): a round trip adds alpha segments, a loss
//! multiplies the window by 1 - beta. Also has the stateless arithmetic that the Reno family
//! shares.
//!
//! Constants: alpha 1, beta 1/2 (Jacobson 1988; RFC 5681 section 3.1). Growth below one byte is
//! carried as the remainder of its division.

use crate::api::{Ack, Class, Congestion, Idle, Parameter};
use crate::cc::control::{CongestionControl, Setup, Variant};

/// Slow start: adds the credit, at most one credit beyond ssthresh (RFC 5681 eq. 2).
pub fn slow_start(cwnd_bytes: u64, credit_bytes: u64) -> u64 {
    cwnd_bytes.saturating_add(credit_bytes)
}

/// Congestion avoidance: adds credit * step / cwnd bytes, which is `step_bytes` per round trip (RFC
/// 5681 eq. 3). `remainder` carries the division's remainder.
pub fn avoid_congestion(
    cwnd_bytes: u64,
    remainder: &mut u64,
    credit_bytes: u64,
    step_bytes: u64,
) -> u64 {
    let total = credit_bytes.saturating_mul(step_bytes) + *remainder;
    *remainder = total % cwnd_bytes;
    cwnd_bytes.saturating_add(total / cwnd_bytes)
}

/// The variant's entry in the list.
pub const VARIANT: Variant = Variant {
    name: "reno",
    title: "additive increase, multiplicative decrease (AIMD)",
    reference: "RFC 5681; Jacobson, Congestion avoidance and control, SIGCOMM 1988",
    class: Class::LossBased,
    needs: &[],
    parameters: &[
        Parameter {
            name: "alpha",
            unit: "segments",
            default: 1.0,
            min: 0.001,
            max: 1000.0,
            meaning: "segments added per round trip",
            origin: "1: RFC 5681 section 3.1",
        },
        Parameter {
            name: "beta",
            unit: "ratio",
            default: 0.5,
            min: 0.01,
            max: 0.99,
            meaning: "fraction of the window removed at a loss",
            origin: "1/2: RFC 5681 equation 4",
        },
    ],
    not_implemented: &[],
    build: |setup| Box::new(Reno::new(setup)),
};

/// The window of a Reno sender.
#[derive(Clone, Debug)]
pub struct Reno {
    cwnd_bytes: u64,
    ssthresh_bytes: u64,
    remainder: u64,
    alpha: f64,
    beta: f64,
}

impl Reno {
    /// The window before the first byte is sent.
    pub(crate) fn new(setup: &Setup) -> Self {
        Reno {
            cwnd_bytes: setup.initial_window_bytes,
            ssthresh_bytes: setup.initial_ssthresh_bytes,
            remainder: 0,
            alpha: setup.parameters.get("alpha"),
            beta: setup.parameters.get("beta"),
        }
    }

    /// Sets the window.
    pub(crate) fn set_cwnd_bytes(&mut self, cwnd_bytes: u64) {
        (self.cwnd_bytes, self.remainder) = (cwnd_bytes, 0);
    }

    /// The window after a loss at `window_bytes`; exact for the default of one half.
    fn reduced(&self, window_bytes: u64) -> u64 {
        (window_bytes as f64 * (1.0 - self.beta)) as u64
    }
}

impl CongestionControl for Reno {
    fn cwnd_bytes(&self) -> u64 {
        self.cwnd_bytes
    }

    fn ssthresh_bytes(&self) -> u64 {
        self.ssthresh_bytes
    }

    fn on_growth(&mut self, ack: &Ack) {
        self.cwnd_bytes = if self.cwnd_bytes < self.ssthresh_bytes {
            slow_start(self.cwnd_bytes, ack.credit_bytes)
        } else {
            let step_bytes = (self.alpha * f64::from(ack.mss)) as u64;
            avoid_congestion(self.cwnd_bytes, &mut self.remainder, ack.credit_bytes, step_bytes)
        };
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        let reduced = self.reduced(congestion.window_bytes);
        self.ssthresh_bytes = congestion.threshold(reduced);
        self.cwnd_bytes = reduced.max(2 * u64::from(congestion.mss));
        self.remainder = 0;
    }

    fn on_rto(&mut self, congestion: &Congestion) {
        if !congestion.is_repeated {
            self.ssthresh_bytes = congestion.threshold(self.reduced(congestion.window_bytes));
        }
        self.cwnd_bytes = congestion.mss.into();
        self.remainder = 0;
    }

    fn on_idle(&mut self, idle: &Idle) {
        self.cwnd_bytes = self.cwnd_bytes.min(idle.restart_window_bytes);
        self.remainder = 0;
    }
}
