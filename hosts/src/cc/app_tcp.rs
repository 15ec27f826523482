//! AppTCP (Wang 2013): a control loop around the rate that the application requests.
//!
//! cwnd_base = rate x RTTbase / (8 MSS) segments. Below cwnd_base the window is in slow start.
//! Above, the output, cwnd x MSS x 8 / RTT, is compared with the rate. For each `ai_cnt` segments
//! acknowledged, the window grows by one segment while the output is below the rate, and shrinks by
//! one while it is above. A loss sets cwnd to cwnd_base.
//!
//! Deviations from the paper: Algorithm 1 as printed grows while the output is too high, which
//! diverges; this implementation follows the text at equation 2, which says the opposite. Algorithm
//! 1 also prints a step after 11 ACKs; text and equation have 10.
//!
//! Choices of ours, where the paper says nothing: a time-out sets one segment, and a mark counts as
//! a loss. The window stays within `most` times cwnd_base; otherwise it grows without bound if the
//! path cannot carry the rate. cwnd_base is rounded to whole segments; acknowledged data is counted
//! in bytes.

use crate::api::{Ack, Class, Congestion, Idle, Parameter};
use crate::cc::control::{CongestionControl, Setup, Variant};
use crate::cc::parts::rates::secs;
use narrows_common::Duration;

/// The variant's entry in the list.
pub const VARIANT: Variant = Variant {
    name: "app-tcp",
    title: "keeps the rate that the application requires, without halving (AppTCP)",
    reference: "Wang, AppTCP, 2013: equations 1 to 4 and their text",
    class: Class::RateTarget,
    needs: &[],
    parameters: &[
        Parameter {
            name: "rate_mbps",
            unit: "Mb/s",
            default: 100.0,
            min: 0.001,
            max: 1e6,
            meaning: "payload rate that the application requires",
            origin: "ours",
        },
        Parameter {
            name: "ai_cnt",
            unit: "segments",
            default: 10.0,
            min: 1.0,
            max: 10_000.0,
            meaning: "segments acknowledged per step of one segment",
            origin: "10: the paper",
        },
        Parameter {
            name: "most",
            unit: "ratio",
            default: 2.0,
            min: 1.0,
            max: 1e6,
            meaning: "maximum window as a multiple of cwnd_base",
            origin: "ours; the paper has no limit",
        },
    ],
    not_implemented: &["a report of how often the limit applied"],
    build: |setup| Box::new(AppTcp::new(setup)),
};

/// The window of an AppTCP sender.
#[derive(Clone, Debug)]
pub struct AppTcp {
    cwnd_bytes: u64,
    rate_bps: f64,
    ai_cnt: u64,
    most: f64,
    mss: u32,
    rtt_base: Duration,
    rtt: Duration,
    /// Bytes acknowledged since the last step.
    counted_bytes: u64,
}

impl AppTcp {
    fn new(setup: &Setup) -> Self {
        AppTcp {
            cwnd_bytes: setup.initial_window_bytes,
            rate_bps: setup.parameters.get("rate_mbps") * 1e6,
            ai_cnt: setup.parameters.get("ai_cnt") as u64,
            most: setup.parameters.get("most"),
            mss: setup.mss,
            rtt_base: Duration::MAX,
            rtt: Duration::MAX,
            counted_bytes: 0,
        }
    }

    /// cwnd_base in bytes, a whole number of segments, at least two; `None` before a sample.
    fn base_bytes(&self) -> Option<u64> {
        if self.rtt_base == Duration::MAX {
            return None;
        }
        let segments = self.rate_bps * secs(self.rtt_base) / (8.0 * f64::from(self.mss));
        Some((libm::round(segments) as u64).max(2) * u64::from(self.mss))
    }
}

impl CongestionControl for AppTcp {
    fn cwnd_bytes(&self) -> u64 {
        self.cwnd_bytes
    }
    /// The end of slow start.
    fn ssthresh_bytes(&self) -> u64 {
        self.base_bytes().unwrap_or(u64::MAX)
    }
    fn on_measurement(&mut self, ack: &Ack) {
        self.rtt_base = self.rtt_base.min(ack.min_rtt);
        self.rtt = ack.rtt.unwrap_or(self.rtt);
    }
    fn on_growth(&mut self, ack: &Ack) {
        let segment = u64::from(self.mss);
        let Some(base) = self.base_bytes().filter(|base| self.cwnd_bytes >= *base) else {
            self.cwnd_bytes = self.cwnd_bytes.saturating_add(ack.credit_bytes);
            return;
        };
        self.counted_bytes += ack.credit_bytes;
        let steps = self.counted_bytes / (self.ai_cnt * segment);
        self.counted_bytes %= self.ai_cnt * segment;
        // Compares windows, not rates: cwnd with rate x RTT, in whole bytes.
        let wanted_bytes = libm::round(self.rate_bps / 8.0 * secs(self.rtt)) as u64;
        if self.cwnd_bytes < wanted_bytes {
            let most = (base as f64 * self.most) as u64;
            self.cwnd_bytes = (self.cwnd_bytes + steps * segment).min(most.max(self.cwnd_bytes));
        } else if self.cwnd_bytes > wanted_bytes {
            let left = self.cwnd_bytes.saturating_sub(steps * segment);
            self.cwnd_bytes = left.max(segment);
        }
    }
    fn on_congestion(&mut self, _congestion: &Congestion) {
        if let Some(base) = self.base_bytes() {
            self.cwnd_bytes = base;
        }
    }
    fn on_rto(&mut self, _congestion: &Congestion) {
        self.cwnd_bytes = self.mss.into();
        self.counted_bytes = 0;
    }
    fn on_idle(&mut self, idle: &Idle) {
        self.cwnd_bytes = self.cwnd_bytes.min(idle.restart_window_bytes);
    }
}
