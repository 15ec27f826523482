//! AIMD-FC+: AIMD-FC with a smaller decrease in equilibrium, w' = k + x (1 - d).
//!
//! Jasem 2010 compares with it, but we found no definition. This definition is ours and may differ
//! from that paper's. d is `d_equilibrium` if the windows at the last two events differ by at most
//! one segment, which means that the flow has its share; otherwise d is `d`. With d = 1/4 the mean
//! load in equilibrium is 1 - d / (2 (1 + d)) = 0.9 of the share; AIMD-FC has 5/6, AIMD 3/4.
//!
//! The rule compares windows, not additive parts. The smaller cut itself makes the next additive
//! part smaller, so a rule on two successive k would leave the equilibrium at once.

use crate::api::{Ack, Class, Congestion, Idle, Parameter};
use crate::cc::control::{CongestionControl, Setup, Variant};
use crate::cc::parts::based_window::{BasedWindow, Rebase};

/// The variant's entry in the list.
pub const VARIANT: Variant = Variant {
    name: "aimd-fc-plus",
    title: "AIMD-FC with a smaller decrease in equilibrium (our definition)",
    reference: "named in Jasem et al. 2010; defined here, after AIMD-FC",
    class: Class::LossBased,
    needs: &[],
    parameters: &[
        Parameter {
            name: "d",
            unit: "ratio",
            default: 0.5,
            min: 0.01,
            max: 0.99,
            meaning: "fraction of the base removed at an event",
            origin: "1/2: AIMD-FC",
        },
        Parameter {
            name: "d_equilibrium",
            unit: "ratio",
            default: 0.25,
            min: 0.01,
            max: 0.99,
            meaning: "fraction of the base removed if the windows at the last two events differ by at most 1 segment",
            origin: "ours",
        },
        Parameter {
            name: "rebase",
            unit: "choice",
            default: 1.0,
            min: 0.0,
            max: 2.0,
            meaning: "whether the window becomes the base after an event: 0 never (New-AIMD), 1 always (AIMD-FC), 2 guarded (new-aimd's guard)",
            origin: "ours",
        },
    ],
    not_implemented: &["the published AIMD-FC+: we did not find its rule"],
    build: |setup| Box::new(AimdFcPlus::new(setup)),
};

/// The window of an AIMD-FC+ sender.
#[derive(Clone, Debug)]
pub struct AimdFcPlus {
    window: BasedWindow,
    d: f64,
    d_equilibrium: f64,
    /// The window at the latest event.
    last_peak_bytes: Option<u64>,
}

impl AimdFcPlus {
    fn new(setup: &Setup) -> Self {
        let rebase = match setup.parameters.get("rebase") {
            rebase if rebase < 0.5 => Rebase::Never,
            rebase if rebase < 1.5 => Rebase::Always,
            _ => Rebase::Guarded,
        };
        let d = setup.parameters.get("d");
        AimdFcPlus {
            window: BasedWindow::new(setup, rebase, d),
            d,
            d_equilibrium: setup.parameters.get("d_equilibrium"),
            last_peak_bytes: None,
        }
    }
}

impl CongestionControl for AimdFcPlus {
    fn cwnd_bytes(&self) -> u64 {
        self.window.cwnd_bytes
    }
    fn ssthresh_bytes(&self) -> u64 {
        self.window.ssthresh_bytes
    }
    fn on_growth(&mut self, ack: &Ack) {
        self.window.on_growth(ack);
    }
    fn on_congestion(&mut self, congestion: &Congestion) {
        let peak = self.window.cwnd_bytes.min(congestion.window_bytes);
        let is_steady = self
            .last_peak_bytes
            .replace(peak)
            .is_some_and(|last| last.abs_diff(peak) <= u64::from(congestion.mss));
        self.window.decrease = if is_steady { self.d_equilibrium } else { self.d };
        self.window.on_congestion(congestion);
    }
    fn on_rto(&mut self, congestion: &Congestion) {
        self.last_peak_bytes = None;
        self.window.decrease = self.d;
        self.window.on_rto(congestion);
    }
    fn on_idle(&mut self, idle: &Idle) {
        self.window.on_idle(idle);
    }
}
