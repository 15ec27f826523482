//! DCTCP (RFC 8257): a window's marks reduce the window in proportion to their share.
//!
//! Once per window, alpha = (1 - g) alpha + g F, where F is the share of acknowledged bytes with an
//! echoed mark. The first mark of a window multiplies the window by 1 - alpha/2 (section 3.3). A
//! lost segment halves it; growth is Reno's. Without ECN it behaves like Reno.
//!
//! Constants: g 1/16 (section 4.1); alpha starts at 1 (section 4.2). alpha is f64, computed from
//! sums and products only.

use crate::api::{Ack, Class, Congestion, Idle, Need, Parameter};
use crate::cc::control::{CongestionControl, Setup, Variant};
use crate::cc::parts::window::Window;

/// The variant's entry in the list.
pub const VARIANT: Variant = Variant {
    name: "dctcp",
    title: "reduces the window by the share of marked packets (data center TCP)",
    reference: "RFC 8257; Alizadeh et al., Data center TCP (DCTCP), SIGCOMM 2010; Linux tcp_dctcp",
    class: Class::Hybrid,
    needs: &[Need::Ecn],
    parameters: &[
        Parameter {
            name: "g",
            unit: "ratio",
            default: 1.0 / 16.0,
            min: 0.001,
            max: 1.0,
            meaning: "weight of the latest window's share of marks",
            origin: "1/16: RFC 8257 section 4.1",
        },
        Parameter {
            name: "initial_alpha",
            unit: "ratio",
            default: 1.0,
            min: 0.0,
            max: 1.0,
            meaning: "alpha before the first window",
            origin: "1: RFC 8257 section 4.2",
        },
    ],
    not_implemented: &["marks on SYNs and control packets (section 5.1)"],
    build: |setup| Box::new(Dctcp::new(setup)),
};

/// The window of a DCTCP sender.
#[derive(Clone, Debug)]
pub struct Dctcp {
    window: Window,
    g: f64,
    alpha: f64,
    round: u64,
    acked_bytes: u64,
    marked_bytes: u64,
}

impl Dctcp {
    fn new(setup: &Setup) -> Self {
        Dctcp {
            window: Window::new(setup),
            g: setup.parameters.get("g"),
            alpha: setup.parameters.get("initial_alpha"),
            round: 0,
            acked_bytes: 0,
            marked_bytes: 0,
        }
    }
}

impl CongestionControl for Dctcp {
    fn cwnd_bytes(&self) -> u64 {
        self.window.cwnd_bytes
    }
    fn ssthresh_bytes(&self) -> u64 {
        self.window.ssthresh_bytes
    }
    fn on_measurement(&mut self, ack: &Ack) {
        self.acked_bytes += ack.acked_bytes;
        self.marked_bytes += if ack.echoes_mark { ack.acked_bytes } else { 0 };
        if ack.round != self.round && self.acked_bytes > 0 {
            let share = self.marked_bytes as f64 / self.acked_bytes as f64;
            self.alpha = (1.0 - self.g) * self.alpha + self.g * share;
            self.round = ack.round;
            (self.acked_bytes, self.marked_bytes) = (0, 0);
        }
    }
    fn on_growth(&mut self, ack: &Ack) {
        self.window.grow(ack, 1.0);
    }
    fn on_ecn(&mut self, congestion: &Congestion) {
        let left = (self.window.cwnd_bytes as f64 * (1.0 - self.alpha / 2.0)) as u64;
        self.window.cut(congestion, left);
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
