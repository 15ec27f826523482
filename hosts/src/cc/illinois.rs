//! Illinois (Liu, Basar, Srikant 2008): the queueing delay sets increase and decrease.
//!
//! Once per round trip, da = mean RTT - base and dm = maximum RTT - base. With d1 = dm/100:
//! - alpha = 10 while da <= d1; after da was above d1, only after 5 such rounds;
//! - otherwise alpha = 10 / (1 + (da - d1)/(dm - d1) (10 - 0.3)/0.3);
//! - beta = 1/8 up to dm/10, 1/2 from 0.8 dm, linear between;
//! - below 15 segments alpha = 1 and beta = 1/2.
//!
//! A round trip adds alpha segments; a loss multiplies the window by 1 - beta.
//!
//! Constants: Linux's tcp_illinois. A parameter selects the sign of its first release, which
//! multiplied by beta instead of 1 - beta; ns-2.35 still does. Fractions are f64, the window is in
//! bytes.

use crate::api::{Ack, Class, Congestion, Idle, Need, Parameter};
use crate::cc::control::{CongestionControl, Setup, Variant};
use crate::cc::parts::round_trips::{Round, RoundTrips};
use crate::cc::parts::window::Window;
use narrows_common::Duration;

const LEAST_ALPHA: f64 = 0.3;
const GREATEST_ALPHA: f64 = 10.0;
const LEAST_BETA: f64 = 0.125;
const GREATEST_BETA: f64 = 0.5;
/// Rounds with a short queue before alpha returns to its maximum.
const THETA: u32 = 5;
/// The window in segments below which it is Reno.
const LEAST_WINDOW: f64 = 15.0;

/// The variant's entry in the list.
pub const VARIANT: Variant = Variant {
    name: "illinois",
    title: "increase from 10 to 0.3 and decrease from 1/8 to 1/2 as the queue grows",
    reference: "Liu, Basar, Srikant, TCP-Illinois: a loss and delay-based congestion control algorithm for high-speed networks, 2008; Linux tcp_illinois",
    class: Class::Hybrid,
    needs: &[Need::SegmentTimes],
    parameters: &[Parameter {
        name: "ns2_cut",
        unit: "flag",
        default: 0.0,
        min: 0.0,
        max: 1.0,
        meaning: "1: a loss multiplies the window by beta, not 1 - beta",
        origin: "0: the paper; 1: the error of Linux 2.6.22, still in ns-2.35",
    }],
    not_implemented: &[],
    build: |setup| Box::new(Illinois::new(setup)),
};

/// The window of an Illinois sender.
#[derive(Clone, Debug)]
pub struct Illinois {
    window: Window,
    round_trips: RoundTrips,
    alpha: f64,
    beta: f64,
    /// The queue has been above d1.
    was_above: bool,
    /// Rounds with a short queue since then.
    short_rounds: u32,
    ns2_cut: bool,
}

impl Illinois {
    fn new(setup: &Setup) -> Self {
        Illinois {
            window: Window::new(setup),
            round_trips: RoundTrips::new(setup),
            alpha: GREATEST_ALPHA,
            beta: GREATEST_BETA,
            was_above: false,
            short_rounds: 0,
            ns2_cut: setup.parameters.get("ns2_cut") >= 0.5,
        }
    }

    fn on_round(&mut self, round: &Round, cwnd: f64) {
        if cwnd < LEAST_WINDOW {
            (self.alpha, self.beta) = (1.0, GREATEST_BETA);
            return;
        }
        let above_base = |rtt: Duration| rtt.saturating_sub(round.base).as_ps() as f64;
        let (da, dm) = (above_base(round.mean), above_base(round.max));
        self.alpha = self.next_alpha(da, dm);
        self.beta = beta(da, dm);
    }

    fn next_alpha(&mut self, da: f64, dm: f64) -> f64 {
        let d1 = dm / 100.0;
        if da > d1 {
            self.was_above = true;
            let slope = (GREATEST_ALPHA - LEAST_ALPHA) / LEAST_ALPHA;
            return GREATEST_ALPHA / (1.0 + (da - d1) / (dm - d1) * slope);
        }
        if self.was_above {
            self.short_rounds += 1;
            if self.short_rounds < THETA {
                return self.alpha;
            }
            (self.was_above, self.short_rounds) = (false, 0);
        }
        GREATEST_ALPHA
    }

    fn reduced(&self, congestion: &Congestion) -> u64 {
        let kept = if self.ns2_cut { self.beta } else { 1.0 - self.beta };
        (congestion.window_bytes as f64 * kept) as u64
    }
}

/// The fraction by which a loss reduces the window.
fn beta(da: f64, dm: f64) -> f64 {
    let (d2, d3) = (0.1 * dm, 0.8 * dm);
    if da <= d2 {
        LEAST_BETA
    } else if da >= d3 {
        GREATEST_BETA
    } else {
        LEAST_BETA + (GREATEST_BETA - LEAST_BETA) * (da - d2) / (d3 - d2)
    }
}

impl CongestionControl for Illinois {
    fn cwnd_bytes(&self) -> u64 {
        self.window.cwnd_bytes
    }
    fn ssthresh_bytes(&self) -> u64 {
        self.window.ssthresh_bytes
    }
    fn on_measurement(&mut self, ack: &Ack) {
        if let Some(round) = self.round_trips.on_measurement(ack) {
            self.on_round(&round, self.window.segments(ack.mss));
        }
    }
    fn on_growth(&mut self, ack: &Ack) {
        self.window.grow(ack, self.alpha);
    }
    fn on_congestion(&mut self, congestion: &Congestion) {
        self.window.cut(congestion, self.reduced(congestion));
    }
    fn on_rto(&mut self, congestion: &Congestion) {
        self.window.collapse(congestion, self.reduced(congestion));
        (self.alpha, self.beta) = (1.0, GREATEST_BETA);
        (self.was_above, self.short_rounds) = (false, 0);
    }
    fn on_idle(&mut self, idle: &Idle) {
        self.window.restart(idle.restart_window_bytes);
    }
}
