//! Veno (Fu & Liew 2003): Vegas's backlog distinguishes random losses from congestion.
//!
//! N = cwnd (1 - base/RTT) segments. With N < 3 growth is Reno's, and a loss multiplies the window
//! by 4/5. With N >= 3 the window grows by one segment every second round trip, and a loss halves
//! it.
//!
//! Constants: beta 3, 4/5 (the paper and Linux's tcp_veno). RTT is the latest sample, as in Linux;
//! the paper uses the mean of a round. N is f64; half a segment of odd size loses half a byte per
//! round.

use crate::api::{Ack, Class, Congestion, Idle, Need, Parameter};
use crate::cc::control::{CongestionControl, Variant};
use crate::cc::parts::round_trips::ratio;
use crate::cc::parts::window::Window;
use narrows_common::Duration;

/// The samples below which it is Reno (Linux).
const LEAST_SAMPLES: u64 = 3;

/// The variant's entry in the list.
pub const VARIANT: Variant = Variant {
    name: "veno",
    title: "Reno that considers a loss with a short queue random, and then removes only a fifth",
    reference: "Fu, Liew, TCP Veno: TCP enhancement for transmission over wireless access networks, JSAC 2003; Linux tcp_veno",
    class: Class::Hybrid,
    needs: &[Need::SegmentTimes],
    parameters: &[Parameter {
        name: "beta",
        unit: "segments",
        default: 3.0,
        min: 0.0,
        max: 10_000.0,
        meaning: "backlog that counts as congestion",
        origin: "3: the paper",
    }],
    not_implemented: &["the round's mean RTT (the paper)"],
    build: |setup| {
        Box::new(Veno {
            window: Window::new(setup),
            beta: setup.parameters.get("beta"),
            latest: None,
            base: Duration::MAX,
            samples: 0,
        })
    },
};

/// The window of a Veno sender.
#[derive(Clone, Debug)]
pub struct Veno {
    window: Window,
    beta: f64,
    latest: Option<Duration>,
    base: Duration,
    samples: u64,
}

impl Veno {
    fn is_congested(&self, mss: u32) -> bool {
        let Some(rtt) = self.latest.filter(|_| self.samples >= LEAST_SAMPLES) else {
            return false;
        };
        self.window.segments(mss) * (1.0 - ratio(self.base, rtt)) >= self.beta
    }

    fn reduced(&self, congestion: &Congestion) -> u64 {
        let knows = self.samples >= LEAST_SAMPLES;
        if knows && !self.is_congested(congestion.mss) {
            congestion.window_bytes / 5 * 4 + congestion.window_bytes % 5 * 4 / 5
        } else {
            congestion.window_bytes / 2
        }
    }
}

impl CongestionControl for Veno {
    fn cwnd_bytes(&self) -> u64 {
        self.window.cwnd_bytes
    }
    fn ssthresh_bytes(&self) -> u64 {
        self.window.ssthresh_bytes
    }
    fn on_measurement(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.latest = Some(rtt);
            self.base = self.base.min(rtt);
            self.samples += 1;
        }
    }
    fn on_growth(&mut self, ack: &Ack) {
        let step = if self.is_congested(ack.mss) { 0.5 } else { 1.0 };
        self.window.grow(ack, step);
    }
    fn on_congestion(&mut self, congestion: &Congestion) {
        self.window.cut(congestion, self.reduced(congestion));
    }
    fn on_rto(&mut self, congestion: &Congestion) {
        self.window.collapse(congestion, self.reduced(congestion));
    }
    fn on_idle(&mut self, idle: &Idle) {
        self.window.restart(idle.restart_window_bytes);
    }
}
