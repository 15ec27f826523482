//! Circuit TCP (Mudambi, Zheng, Veeraraghavan 2006): a constant window for a reserved circuit.
//!
//! cwnd = rate x minimum RTT, in whole bytes, rounded down. There is no slow start and no
//! congestion avoidance; losses and time-outs do not change the window. Use it only if admission
//! control excludes other flows. Implemented from the abstract and from other papers, because the
//! paper's text was not available.

use crate::api::{Ack, Class, Parameter};
use crate::cc::control::{CongestionControl, Setup, Variant};
use crate::cc::parts::rates::secs;
use narrows_common::Duration;

/// The variant's entry in the list.
pub const VARIANT: Variant = Variant {
    name: "circuit",
    title: "a constant window: the circuit's rate times the round trip (Circuit TCP)",
    reference: "Mudambi, Zheng, Veeraraghavan, A transport protocol for dedicated end-to-end circuits, ICC 2006",
    class: Class::RateTarget,
    needs: &[],
    parameters: &[
        Parameter {
            name: "rate_mbps",
            unit: "Mb/s",
            default: 100.0,
            min: 0.001,
            max: 1e6,
            meaning: "payload rate of the circuit",
            origin: "ours",
        },
        Parameter {
            name: "window",
            unit: "segments",
            default: 0.0,
            min: 0.0,
            max: 1e6,
            meaning: "window, which the original sets on the socket; 0: computed from rate and round trip",
            origin: "ours",
        },
    ],
    not_implemented: &["anything in the paper beyond a constant window"],
    build: |setup| Box::new(Circuit::new(setup)),
};

/// The window of a Circuit TCP sender.
#[derive(Clone, Debug)]
pub struct Circuit {
    cwnd_bytes: u64,
    rate_bps: f64,
    is_given: bool,
}

impl Circuit {
    fn new(setup: &Setup) -> Self {
        let segments = setup.parameters.get("window") as u64;
        Circuit {
            cwnd_bytes: match segments {
                0 => setup.initial_window_bytes,
                segments => segments * u64::from(setup.mss),
            },
            rate_bps: setup.parameters.get("rate_mbps") * 1e6,
            is_given: segments > 0,
        }
    }
}

impl CongestionControl for Circuit {
    fn cwnd_bytes(&self) -> u64 {
        self.cwnd_bytes
    }
    fn ssthresh_bytes(&self) -> u64 {
        u64::MAX
    }
    fn on_measurement(&mut self, ack: &Ack) {
        if !self.is_given && ack.min_rtt != Duration::MAX {
            let bytes = self.rate_bps / 8.0 * secs(ack.min_rtt);
            self.cwnd_bytes = (bytes as u64).max(ack.mss.into());
        }
    }
}
