//! Scalable TCP (Kelly 2003): multiplicative increase, multiplicative decrease.
//!
//! The window grows by one segment per min(cwnd, ai_cnt) acknowledged; a loss reduces it by cwnd/8.
//! This is Linux's rule. Kelly's paper adds 0.01 segments per ACK (`ai_cnt` 100) and uses Reno's
//! rules up to a legacy window of 16 segments (`legacy_window`). A cut rounds down to bytes; growth
//! carries remainders.

use crate::api::{Ack, Class, Congestion, Idle, Parameter};
use crate::cc::control::{CongestionControl, Setup, Variant};
use crate::cc::parts::window::Window;

/// The variant's entry in the list.
pub const VARIANT: Variant = Variant {
    name: "scalable",
    title: "adds 1 % (2 % in Linux) per acknowledged window, removes an eighth at a loss (STCP)",
    reference: "Kelly, Scalable TCP: improving performance in highspeed wide area networks, CCR 2003; Linux tcp_scalable",
    class: Class::LossBased,
    needs: &[],
    parameters: &[
        Parameter {
            name: "ai_cnt",
            unit: "segments",
            default: 50.0,
            min: 1.0,
            max: 10_000.0,
            meaning: "segments acknowledged per segment added",
            origin: "50: Linux; 100: the paper",
        },
        Parameter {
            name: "legacy_window",
            unit: "segments",
            default: 0.0,
            min: 0.0,
            max: 100_000.0,
            meaning: "window up to which Reno's rules apply",
            origin: "0: Linux; 16: the paper",
        },
    ],
    not_implemented: &[],
    build: |setup| Box::new(Scalable::new(setup)),
};

/// The window of a Scalable TCP sender.
#[derive(Clone, Debug)]
pub struct Scalable {
    window: Window,
    ai_cnt: u64,
    legacy_window: f64,
}

impl Scalable {
    fn new(setup: &Setup) -> Self {
        Scalable {
            window: Window::new(setup),
            ai_cnt: setup.parameters.get("ai_cnt") as u64,
            legacy_window: setup.parameters.get("legacy_window"),
        }
    }

    fn is_legacy(&self, mss: u32) -> bool {
        self.window.segments(mss) <= self.legacy_window
    }

    fn reduced(&self, congestion: &Congestion) -> u64 {
        let window = congestion.window_bytes;
        if self.is_legacy(congestion.mss) { window / 2 } else { window - window / 8 }
    }
}

impl CongestionControl for Scalable {
    fn cwnd_bytes(&self) -> u64 {
        self.window.cwnd_bytes
    }
    fn ssthresh_bytes(&self) -> u64 {
        self.window.ssthresh_bytes
    }
    fn on_growth(&mut self, ack: &Ack) {
        if self.window.is_slow_start() || self.is_legacy(ack.mss) {
            self.window.grow(ack, 1.0);
        } else {
            let most_bytes = self.ai_cnt * u64::from(ack.mss);
            self.window.avoid(ack, 1.0, self.window.cwnd_bytes.min(most_bytes));
        }
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
