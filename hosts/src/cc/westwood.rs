//! Westwood+ (Grieco & Mascolo 2004): a loss sets the window to the bandwidth-delay product that it
//! estimates.
//!
//! Once per max(RTT, 50 ms), a bandwidth sample b = bytes delivered / time passes two filters, e1 =
//! (7 e1 + b) / 8 and e = (7 e + e1) / 8; the first sample sets both. A loss halves the window
//! until it is repaired; then the window is e RTTmin. A time-out sets the threshold to e RTTmin and
//! resets RTTmin. Growth is Reno's.
//!
//! The estimate lags. While slow start doubles the rate each round trip, e1 converges to 2/9 of it,
//! (1/8) / (1 - 7/16), and e to 4/81, a twentieth. So the first loss leaves a window far below the
//! path's capacity, in Linux too.
//!
//! Constants: Linux's tcp_westwood (the paper's single filter has gains 0.9 and 0.1). Rates and
//! their products with RTTmin are f64, the window is in whole bytes.

use crate::api::{Ack, Class, Congestion, Idle, Parameter};
use crate::cc::control::{CongestionControl, Setup, Variant};
use crate::cc::parts::rates::secs;
use crate::cc::parts::window::Window;
use narrows_common::{Duration, Time};

const LEAST_SPAN: Duration = Duration::from_ms(50);

/// The variant's entry in the list.
pub const VARIANT: Variant = Variant {
    name: "westwood",
    title: "a loss sets the window to the measured bandwidth times the minimum round trip (Westwood+)",
    reference: "Grieco, Mascolo, Performance evaluation and comparison of Westwood+, New Reno, and Vegas TCP congestion control, CCR 2004; Linux tcp_westwood",
    class: Class::LossBased,
    needs: &[],
    parameters: &[Parameter {
        name: "ns2_floor",
        unit: "flag",
        default: 0.0,
        min: 0.0,
        max: 1.0,
        meaning: "1: a repaired loss leaves at least half the window",
        origin: "0: Linux; 1: ns-2.35, which does not report repairs to Linux's module",
    }],
    not_implemented: &[],
    build: |setup| Box::new(Westwood::new(setup)),
};

/// The window of a Westwood+ sender.
#[derive(Clone, Debug)]
pub struct Westwood {
    window: Window,
    /// The start of the sample, and the bytes delivered until then.
    sample: Option<(Time, u64)>,
    /// Both filters, in bytes per second.
    filters: Option<(f64, f64)>,
    min_rtt: Duration,
    /// Two segments.
    least_bytes: u64,
    ns2_floor: bool,
}

impl Westwood {
    fn new(setup: &Setup) -> Self {
        Westwood {
            window: Window::new(setup),
            sample: None,
            filters: None,
            min_rtt: Duration::MAX,
            least_bytes: 2 * u64::from(setup.mss),
            ns2_floor: setup.parameters.get("ns2_floor") >= 0.5,
        }
    }

    /// The estimated bandwidth-delay product, in bytes.
    fn eligible(&self) -> Option<u64> {
        let (_, rate) = self.filters.filter(|_| self.min_rtt != Duration::MAX)?;
        Some((rate * secs(self.min_rtt)) as u64)
    }
}

impl CongestionControl for Westwood {
    fn cwnd_bytes(&self) -> u64 {
        self.window.cwnd_bytes
    }
    fn ssthresh_bytes(&self) -> u64 {
        self.window.ssthresh_bytes
    }
    fn on_measurement(&mut self, ack: &Ack) {
        self.min_rtt = ack.rtt.map_or(self.min_rtt, |rtt| rtt.min(self.min_rtt));
        let left_at = Time::ZERO + ack.now.since(Time::ZERO).saturating_sub(ack.srtt);
        let (began_at, delivered) = *self.sample.get_or_insert((left_at, ack.delivered_bytes));
        let span = ack.now.since(began_at);
        if self.min_rtt == Duration::MAX || span < ack.srtt.max(LEAST_SPAN) {
            return;
        }
        let bytes = ack.delivered_bytes.saturating_sub(delivered) as f64;
        let rate = bytes / secs(span);
        self.filters = Some(self.filters.map_or((rate, rate), |(first, second)| {
            let first = (7.0 * first + rate) / 8.0;
            (first, (7.0 * second + first) / 8.0)
        }));
        self.sample = Some((ack.now, ack.delivered_bytes));
    }
    fn on_growth(&mut self, ack: &Ack) {
        self.window.grow(ack, 1.0);
    }
    fn on_congestion(&mut self, congestion: &Congestion) {
        self.least_bytes = 2 * u64::from(congestion.mss);
        self.window.cut(congestion, congestion.window_bytes / 2);
    }
    fn on_recovery_exit(&mut self, _now: Time) {
        if let Some(eligible) = self.eligible() {
            let least = if self.ns2_floor { self.window.ssthresh_bytes } else { self.least_bytes };
            let left = eligible.max(least);
            (self.window.cwnd_bytes, self.window.ssthresh_bytes) = (left, left);
        }
    }
    fn on_ecn(&mut self, congestion: &Congestion) {
        self.window.cut(congestion, self.eligible().unwrap_or(congestion.window_bytes / 2));
    }
    fn on_rto(&mut self, congestion: &Congestion) {
        let left = self.eligible().unwrap_or(congestion.window_bytes / 2);
        self.window.collapse(congestion, left);
        self.min_rtt = Duration::MAX;
    }
    fn on_idle(&mut self, idle: &Idle) {
        self.window.restart(idle.restart_window_bytes);
        self.sample = None;
    }
}
