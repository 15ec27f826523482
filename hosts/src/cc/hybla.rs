//! Hybla (Caini & Firrincieli 2004): grows over a long path as fast as Reno over a path of 25 ms.
//!
//! rho = max(1, RTT/RTT0). Slow start adds 2^rho - 1 segments per segment acknowledged, up to the
//! threshold; congestion avoidance adds rho^2 segments per round trip; a loss halves the window.
//! RTT is the smoothed round trip, of which only decreases count (Linux).
//!
//! Constants: RTT0 25 ms; rho at most 16 in slow start (Linux 6.1). rho is f64; Linux uses eighths.

use crate::api::{Ack, Class, Congestion, Idle, Parameter};
use crate::cc::control::{CongestionControl, Variant};
use crate::cc::parts::window::Window;
use narrows_common::{Duration, PS_PER_S};

const GREATEST_EXPONENT: f64 = 16.0;

/// The variant's entry in the list.
pub const VARIANT: Variant = Variant {
    name: "hybla",
    title: "growth as if the round trip were 25 ms, for satellite paths",
    reference: "Caini, Firrincieli, TCP Hybla: a TCP enhancement for heterogeneous networks, IJSCN 2004; Linux tcp_hybla",
    class: Class::LossBased,
    needs: &[],
    parameters: &[
        Parameter {
            name: "rtt0_ms",
            unit: "ms",
            default: 25.0,
            min: 1.0,
            max: 10_000.0,
            meaning: "reference round trip",
            origin: "25: the paper",
        },
        Parameter {
            name: "pacing",
            unit: "flag",
            default: 0.0,
            min: 0.0,
            max: 1.0,
            meaning: "1: spread a window over the smoothed round trip",
            origin: "0: Linux; 1: the paper",
        },
    ],
    not_implemented: &["the initial window and threshold times rho (the paper)"],
    build: |setup| {
        Box::new(Hybla {
            paces: setup.parameters.get("pacing") >= 0.5,
            srtt: Duration::ZERO,
            window: Window::new(setup),
            rtt0_ps: setup.parameters.get("rtt0_ms") * 1e9,
            rtt: Duration::MAX,
            rho: 1.0,
        })
    },
};

/// The window of a Hybla sender.
#[derive(Clone, Debug)]
pub struct Hybla {
    window: Window,
    rtt0_ps: f64,
    paces: bool,
    /// The latest smoothed round trip.
    srtt: Duration,
    /// The minimum of the smoothed round trip.
    rtt: Duration,
    rho: f64,
}

impl CongestionControl for Hybla {
    fn cwnd_bytes(&self) -> u64 {
        self.window.cwnd_bytes
    }
    fn ssthresh_bytes(&self) -> u64 {
        self.window.ssthresh_bytes
    }
    fn pacing_bytes_per_sec(&self) -> Option<u64> {
        let window = u128::from(self.window.cwnd_bytes) * u128::from(PS_PER_S);
        let rate = window.checked_div(self.srtt.as_ps().into()).filter(|_| self.paces)?;
        Some(u64::try_from(rate).unwrap_or(u64::MAX))
    }
    fn on_measurement(&mut self, ack: &Ack) {
        self.srtt = ack.srtt;
        if ack.srtt != Duration::ZERO && ack.srtt < self.rtt {
            self.rtt = ack.srtt;
            self.rho = (ack.srtt.as_ps() as f64 / self.rtt0_ps).max(1.0);
        }
    }
    fn on_growth(&mut self, ack: &Ack) {
        if self.window.is_slow_start() {
            let factor = libm::exp2(self.rho.min(GREATEST_EXPONENT)) - 1.0;
            let step = (ack.credit_bytes as f64 * factor) as u64;
            let grown = self.window.cwnd_bytes.saturating_add(step);
            self.window.cwnd_bytes = grown.min(self.window.ssthresh_bytes);
        } else {
            self.window.avoid(ack, self.rho * self.rho, self.window.cwnd_bytes);
        }
    }
    fn on_congestion(&mut self, congestion: &Congestion) {
        self.window.cut(congestion, congestion.window_bytes / 2);
    }
    fn on_rto(&mut self, congestion: &Congestion) {
        self.window.collapse(congestion, congestion.window_bytes / 2);
    }
    fn on_idle(&mut self, idle: &Idle) {
        self.window.restart(idle.restart_window_bytes);
    }
}
