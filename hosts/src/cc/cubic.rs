//! CUBIC (RFC 9438).
//!
//! ```text
//! W_cubic(t) = C (t - K)^3 + W_max,  K = cbrt((W_max - cwnd_epoch) / C)   (equations 1 and 2)
//! ```
//!
//! Each ACK moves cwnd towards target = W_cubic(t + RTT), limited to [cwnd, 1.5 cwnd]: it adds
//! (target - cwnd) / cwnd of the bytes acknowledged (section 4.2). cwnd is never below the
//! Reno-friendly estimate W_est (section 4.3). Also implemented: fast convergence (4.7), time-outs
//! (4.8), and the end of slow start without a loss (4.10).
//!
//! Slow start may end before a loss: by [`super::hystart_plus`], or by [`super::hystart`] as in
//! Linux.
//!
//! Constants: C 0.4 (section 5.1), beta 0.7 (4.6), alpha 3 (1 - beta) / (1 + beta) (4.3). The curve
//! is computed in f64 segments, with operations that give the same bits on every machine. The
//! window is in whole bytes; `fraction_bytes` carries the rest.

use crate::api::{Ack, Class, Congestion, Idle, Parameter};
use crate::cc::control::{CongestionControl, Setup, Variant};
use crate::cc::parts::hystart::HyStart;
use crate::cc::parts::hystart_plus::HyStartPlus;
use crate::cc::parts::rates::secs;
use crate::cc::reno::slow_start;
use narrows_common::Time;

/// The variant's entry in the list.
pub const VARIANT: Variant = Variant {
    name: "cubic",
    title: "a cubic function of the time since the last loss",
    reference: "RFC 9438; Ha, Rhee, Xu, CUBIC: a new TCP-friendly high-speed TCP variant, 2008",
    class: Class::LossBased,
    needs: &[],
    parameters: &[
        Parameter {
            name: "c",
            unit: "segments/s^3",
            default: 0.4,
            min: 0.001,
            max: 100.0,
            meaning: "C, the scale of the cubic function",
            origin: "RFC 9438 section 5.1",
        },
        Parameter {
            name: "beta",
            unit: "ratio",
            default: 0.7,
            min: 0.1,
            max: 0.99,
            meaning: "factor applied to the window at a loss",
            origin: "RFC 9438 section 4.6",
        },
        Parameter {
            name: "fast_convergence",
            unit: "flag",
            default: 1.0,
            min: 0.0,
            max: 1.0,
            meaning: "1: reduce more if W_max decreases",
            origin: "RFC 9438 section 4.7",
        },
        Parameter {
            name: "hystart",
            unit: "choice",
            default: 2.0,
            min: 0.0,
            max: 2.0,
            meaning: "end of slow start: 2 HyStart++, 1 Linux's HyStart, 0 a loss only",
            origin: "2: RFC 9438 section 4.10, RFC 9406",
        },
    ],
    not_implemented: &["undoing spurious reductions (section 4.9), except with recovery `linux`"],
    build: |setup| Box::new(Cubic::new(setup)),
};

/// The window of a CUBIC sender.
#[derive(Clone, Debug)]
pub struct Cubic {
    cwnd_bytes: u64,
    fraction_bytes: f64,
    ssthresh_bytes: u64,
    c: f64,
    beta: f64,
    /// 3 (1 - beta) / (1 + beta).
    alpha: f64,
    fast_convergence: bool,
    slow_start: SlowStart,
    /// In segments; 0 before the first loss and after a time-out.
    w_max: f64,
    /// cwnd before the latest cut, in segments.
    cwnd_prior: f64,
    epoch: Option<Epoch>,
}

/// The rule that ends slow start.
#[derive(Clone, Debug)]
enum SlowStart {
    UntilLoss,
    HyStart(HyStart),
    HyStartPlus(HyStartPlus),
}

impl SlowStart {
    fn new(setup: &Setup) -> Self {
        match setup.parameters.get("hystart") as u32 {
            0 => SlowStart::UntilLoss,
            1 => SlowStart::HyStart(HyStart::default()),
            _ => SlowStart::HyStartPlus(HyStartPlus::default()),
        }
    }

    /// The window after an ACK in slow start, and whether slow start ends there.
    fn grow(&mut self, ack: &Ack, cwnd_bytes: u64) -> (u64, bool) {
        match self {
            SlowStart::UntilLoss => (slow_start(cwnd_bytes, ack.credit_bytes), false),
            SlowStart::HyStart(rule) => {
                (slow_start(cwnd_bytes, ack.credit_bytes), rule.on_growth(ack, cwnd_bytes))
            }
            SlowStart::HyStartPlus(rule) => rule.on_growth(ack, cwnd_bytes),
        }
    }

    /// A loss ended slow start.
    fn on_loss(&mut self) {
        if let SlowStart::HyStartPlus(rule) = self {
            rule.end();
        }
    }

    /// A time-out restarts slow start.
    fn on_timeout(&mut self) {
        match self {
            SlowStart::HyStart(rule) => *rule = HyStart::default(),
            SlowStart::HyStartPlus(rule) => rule.end(),
            SlowStart::UntilLoss => {}
        }
    }
}

/// A stage of congestion avoidance.
#[derive(Clone, Debug)]
struct Epoch {
    started_at: Time,
    k_secs: f64,
    /// The plateau, in segments.
    w_max: f64,
    w_est: f64,
}

impl Cubic {
    fn new(setup: &Setup) -> Self {
        let beta = setup.parameters.get("beta");
        Cubic {
            cwnd_bytes: setup.initial_window_bytes,
            fraction_bytes: 0.0,
            ssthresh_bytes: setup.initial_ssthresh_bytes,
            c: setup.parameters.get("c"),
            beta,
            alpha: 3.0 * (1.0 - beta) / (1.0 + beta),
            fast_convergence: setup.parameters.get("fast_convergence") >= 0.5,
            slow_start: SlowStart::new(setup),
            w_max: 0.0,
            cwnd_prior: 0.0,
            epoch: None,
        }
    }

    fn begin_epoch(&self, now: Time, cwnd: f64) -> Epoch {
        // Sections 4.8 and 4.10: unless W_max is above the window, the curve starts at its plateau.
        let w_max = self.w_max.max(cwnd);
        let k_secs = libm::cbrt((w_max - cwnd) / self.c);
        Epoch { started_at: now, k_secs, w_max, w_est: cwnd }
    }

    fn avoid_congestion(&mut self, ack: &Ack) {
        let mss = f64::from(ack.mss);
        // Divisions are most of the cost here: one by mss, one by cwnd.
        let segments_per_byte = 1.0 / mss;
        let cwnd = (self.cwnd_bytes as f64 + self.fraction_bytes) * segments_per_byte;
        let mut epoch = match self.epoch.take() {
            Some(epoch) => epoch,
            None => self.begin_epoch(ack.now, cwnd),
        };
        let w_cubic = |t_secs: f64| {
            let since_plateau = t_secs - epoch.k_secs;
            self.c * (since_plateau * since_plateau * since_plateau) + epoch.w_max
        };
        let t_secs = secs(ack.now.since(epoch.started_at));
        // The fraction of a window that this ACK acknowledges.
        let share = ack.credit_bytes as f64 * segments_per_byte / cwnd;
        epoch.w_est += if epoch.w_est < self.cwnd_prior { self.alpha } else { 1.0 } * share;
        let next = if w_cubic(t_secs) < epoch.w_est {
            epoch.w_est.max(cwnd)
        } else {
            let target = w_cubic(t_secs + secs(ack.srtt)).max(cwnd).min(1.5 * cwnd);
            cwnd + (target - cwnd) * share
        };
        let next_bytes = next * mss;
        self.cwnd_bytes = next_bytes as u64;
        self.fraction_bytes = next_bytes - self.cwnd_bytes as f64;
        self.epoch = Some(epoch);
    }

    fn reduced(&self, congestion: &Congestion) -> u64 {
        (congestion.window_bytes as f64 * self.beta) as u64
    }
}

impl CongestionControl for Cubic {
    fn cwnd_bytes(&self) -> u64 {
        self.cwnd_bytes
    }

    fn ssthresh_bytes(&self) -> u64 {
        self.ssthresh_bytes
    }

    fn on_growth(&mut self, ack: &Ack) {
        if self.cwnd_bytes < self.ssthresh_bytes {
            let (cwnd_bytes, is_over) = self.slow_start.grow(ack, self.cwnd_bytes);
            self.cwnd_bytes = cwnd_bytes;
            if is_over {
                self.ssthresh_bytes = cwnd_bytes;
            }
        } else {
            self.avoid_congestion(ack);
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        self.slow_start.on_loss();
        let cwnd = self.cwnd_bytes as f64 / f64::from(congestion.mss);
        self.cwnd_prior = cwnd;
        self.w_max = if self.fast_convergence && cwnd < self.w_max {
            cwnd * (1.0 + self.beta) / 2.0
        } else {
            cwnd
        };
        let reduced = self.reduced(congestion);
        self.ssthresh_bytes = congestion.threshold(reduced);
        self.cwnd_bytes = reduced.max(2 * u64::from(congestion.mss));
        self.fraction_bytes = 0.0;
        self.epoch = None;
    }

    fn on_rto(&mut self, congestion: &Congestion) {
        self.slow_start.on_timeout();
        if !congestion.is_repeated {
            self.cwnd_prior = self.cwnd_bytes as f64 / f64::from(congestion.mss);
            self.ssthresh_bytes = congestion.threshold(self.reduced(congestion));
        }
        self.cwnd_bytes = congestion.mss.into();
        self.fraction_bytes = 0.0;
        self.w_max = 0.0;
        self.epoch = None;
    }

    fn on_idle(&mut self, idle: &Idle) {
        // Section 5.8: idle time does not advance the curve.
        self.cwnd_bytes = self.cwnd_bytes.min(idle.restart_window_bytes);
        self.epoch = None;
    }
}
