//! H-TCP (Leith & Shorten 2004): the increase grows with the time since the last loss.
//!
//! D seconds after the last congestion event, f = 1 for D <= 1, and 1 + 10 (D - 1) + ((D - 1)/2)^2
//! after that. f is scaled by RTTmin / 100 ms, a factor limited to [0.1, 2], and is at least 1. A
//! round trip adds 2 (1 - beta) f segments.
//!
//! A loss multiplies the window by beta = RTTmin/RTTmax, limited to [0.5, 0.8]. beta is 0.5 at the
//! first loss, for RTTmin <= 10 ms, and if the throughput of the epoch changed by more than a
//! fifth. At a loss, RTTmax falls by 5 % of its distance to RTTmin.
//!
//! Constants: Linux's tcp_htcp. Throughput is the maximum over the epoch of a filter (3 B + b)/4
//! with one sample per RTTmin. Fractions are f64, the window is in bytes.

use crate::api::{Ack, Class, Congestion, Idle, Need, Parameter};
use crate::cc::control::{CongestionControl, Setup, Variant};
use crate::cc::parts::rates::secs;
use crate::cc::parts::round_trips::ratio;
use crate::cc::parts::window::Window;
use narrows_common::{Duration, Time};

const LEAST_BETA: f64 = 0.5;
const GREATEST_BETA: f64 = 0.8;
const LEAST_RTT: Duration = Duration::from_ms(10);

/// The variant's entry in the list.
pub const VARIANT: Variant = Variant {
    name: "htcp",
    title: "increase by the time since the last loss, decrease by RTTmin/RTTmax (H-TCP)",
    reference: "Leith, Shorten, H-TCP: TCP for high-speed and long-distance networks, PFLDnet 2004; Linux tcp_htcp",
    class: Class::LossBased,
    needs: &[Need::SegmentTimes],
    parameters: &[
        Parameter {
            name: "rtt_scaling",
            unit: "flag",
            default: 1.0,
            min: 0.0,
            max: 1.0,
            meaning: "1: the increase is scaled by RTTmin/100 ms",
            origin: "Linux",
        },
        Parameter {
            name: "bandwidth_switch",
            unit: "flag",
            default: 1.0,
            min: 0.0,
            max: 1.0,
            meaning: "1: a loss halves the window if the throughput changed by more than a fifth",
            origin: "Linux",
        },
    ],
    not_implemented: &["undoing spurious reductions"],
    build: |setup| Box::new(Htcp::new(setup)),
};

/// The window of an H-TCP sender.
#[derive(Clone, Debug)]
pub struct Htcp {
    window: Window,
    rtt_scaling: bool,
    bandwidth_switch: bool,
    beta: f64,
    /// An earlier loss occurred.
    had_loss: bool,
    last_congestion: Option<Time>,
    min_rtt: Duration,
    max_rtt: Duration,
    /// The start of the throughput sample, and the bytes delivered until then.
    sample: Option<(Time, u64)>,
    /// Smoothed bytes per second.
    rate: Option<f64>,
    /// The maxima of this epoch and of the previous one.
    epoch_rate: f64,
    last_epoch_rate: f64,
}

impl Htcp {
    fn new(setup: &Setup) -> Self {
        Htcp {
            window: Window::new(setup),
            rtt_scaling: setup.parameters.get("rtt_scaling") >= 0.5,
            bandwidth_switch: setup.parameters.get("bandwidth_switch") >= 0.5,
            beta: LEAST_BETA,
            had_loss: false,
            last_congestion: None,
            min_rtt: Duration::MAX,
            max_rtt: Duration::ZERO,
            sample: None,
            rate: None,
            epoch_rate: 0.0,
            last_epoch_rate: 0.0,
        }
    }

    /// Segments added per round trip, `since` the last congestion event.
    fn step(&self, since: Duration) -> f64 {
        let later = secs(since) - 1.0;
        let mut factor = 1.0;
        if later > 0.0 {
            factor += 10.0 * later + later * later / 4.0;
        }
        if self.rtt_scaling && self.min_rtt != Duration::MAX {
            let scale = ratio(self.min_rtt, Duration::from_ms(100)).clamp(0.1, 2.0);
            factor = (factor * scale).max(1.0);
        }
        2.0 * (1.0 - self.beta) * factor
    }

    fn end_epoch(&mut self, now: Time) {
        let (rate, last) = (self.epoch_rate, self.last_epoch_rate);
        (self.last_epoch_rate, self.epoch_rate) = (rate, 0.0);
        let changed = self.bandwidth_switch && !(0.8 * last..=1.2 * last).contains(&rate);
        self.beta = if changed || !self.had_loss || self.min_rtt <= LEAST_RTT {
            LEAST_BETA
        } else {
            ratio(self.min_rtt, self.max_rtt).clamp(LEAST_BETA, GREATEST_BETA)
        };
        // After a change the next event counts as the first one.
        self.had_loss = !changed;
        if self.max_rtt > self.min_rtt {
            let above = self.max_rtt - self.min_rtt;
            self.max_rtt = self.min_rtt + above.mul_div_floor(95, 100);
        }
        self.last_congestion = Some(now);
    }

    fn reduced(&self, congestion: &Congestion) -> u64 {
        (congestion.window_bytes as f64 * self.beta) as u64
    }
}

impl CongestionControl for Htcp {
    fn cwnd_bytes(&self) -> u64 {
        self.window.cwnd_bytes
    }
    fn ssthresh_bytes(&self) -> u64 {
        self.window.ssthresh_bytes
    }
    fn on_measurement(&mut self, ack: &Ack) {
        self.min_rtt = self.min_rtt.min(ack.min_rtt);
        self.max_rtt = self.max_rtt.max(ack.rtt.unwrap_or(Duration::ZERO));
        let (began_at, delivered) = *self.sample.get_or_insert((ack.now, ack.delivered_bytes));
        let span = ack.now.since(began_at);
        if self.min_rtt == Duration::MAX || span == Duration::ZERO || span < self.min_rtt {
            return;
        }
        let bytes = ack.delivered_bytes.saturating_sub(delivered) as f64;
        let rate = bytes / secs(span);
        let rate = self.rate.map_or(rate, |smoothed| (3.0 * smoothed + rate) / 4.0);
        self.rate = Some(rate);
        self.epoch_rate = self.epoch_rate.max(rate);
        self.sample = Some((ack.now, ack.delivered_bytes));
    }
    fn on_growth(&mut self, ack: &Ack) {
        let since = ack.now.since(*self.last_congestion.get_or_insert(ack.now));
        let step = self.step(since);
        self.window.grow(ack, step);
    }
    fn on_congestion(&mut self, congestion: &Congestion) {
        self.end_epoch(congestion.now);
        self.window.cut(congestion, self.reduced(congestion));
    }
    fn on_recovery_exit(&mut self, now: Time) {
        self.last_congestion = Some(now);
    }
    fn on_rto(&mut self, congestion: &Congestion) {
        if !congestion.is_repeated {
            self.end_epoch(congestion.now);
        }
        self.last_congestion = Some(congestion.now);
        self.window.collapse(congestion, self.reduced(congestion));
    }
    fn on_idle(&mut self, idle: &Idle) {
        self.window.restart(idle.restart_window_bytes);
        self.sample = None;
    }
}
