//! LEDBAT (RFC 6817): a background flow that keeps the queue at a target.
//!
//! ```text
//! off_target = (TARGET - queueing delay) / TARGET
//! cwnd += GAIN x off_target x MSS x bytes acked / cwnd
//! ```
//!
//! cwnd is limited to the bytes outstanding plus ALLOWED_INCREASE segments, with a minimum of two
//! segments (section 2.4.2). The queueing delay is the minimum of the last CURRENT_FILTER samples,
//! minus the minimum of BASE_HISTORY minutes. A loss halves the window.
//!
//! Constants: TARGET 100 ms, GAIN 1, ALLOWED_INCREASE 1, BASE_HISTORY 10, CURRENT_FILTER 4,
//! MIN_CWND 2 (section 2.5).
//!
//! The delay is the one-way delay by the timestamps that the peer sends and echoes, in whole
//! milliseconds. Without timestamps the round trip replaces it, which includes the queue on the
//! return path. An ACK is computed in f64; `fraction_bytes` carries the fraction of a byte.

use crate::api::{Ack, Class, Congestion, Idle, Need, Parameter};
use crate::cc::control::{CongestionControl, Setup, Variant};
use crate::cc::parts::window::Window;
use narrows_common::Duration;

const ALLOWED_INCREASE: u64 = 1;
const BASE_HISTORY: usize = 10;
const CURRENT_FILTER: usize = 4;
const MINUTE: Duration = Duration::from_secs(60);

/// The variant's entry in the list.
pub const VARIANT: Variant = Variant {
    name: "ledbat",
    title: "a background flow that keeps the queueing delay at a target",
    reference: "RFC 6817",
    class: Class::DelayBased,
    needs: &[Need::Timestamps],
    parameters: &[
        Parameter {
            name: "target_ms",
            unit: "ms",
            default: 100.0,
            min: 0.001,
            max: 100.0,
            meaning: "target of the queueing delay",
            origin: "RFC 6817 section 2.5: at most 100",
        },
        Parameter {
            name: "gain",
            unit: "segments",
            default: 1.0,
            min: 0.001,
            max: 1.0,
            meaning: "segments added per round trip with an empty queue",
            origin: "RFC 6817 section 2.5: at most 1",
        },
    ],
    not_implemented: &["slow start", "clock skew between the ends (section 3.4.1)"],
    build: |setup| Box::new(Ledbat::new(setup)),
};

/// The window of a LEDBAT sender.
#[derive(Clone, Debug)]
pub struct Ledbat {
    window: Window,
    fraction_bytes: f64,
    target_ps: f64,
    gain: f64,
    /// The latest samples; the next one's index is `samples % CURRENT_FILTER`.
    current: [Duration; CURRENT_FILTER],
    samples: usize,
    /// The minimum of each minute; the current one's index is `minute % BASE_HISTORY`.
    base: [Duration; BASE_HISTORY],
    minute: u64,
}

impl Ledbat {
    fn new(setup: &Setup) -> Self {
        Ledbat {
            window: Window::new(setup),
            fraction_bytes: 0.0,
            target_ps: setup.parameters.get("target_ms") * 1e9,
            gain: setup.parameters.get("gain"),
            current: [Duration::MAX; CURRENT_FILTER],
            samples: 0,
            base: [Duration::MAX; BASE_HISTORY],
            minute: 0,
        }
    }

    fn on_sample(&mut self, ack: &Ack, delay: Duration) {
        self.current[self.samples % CURRENT_FILTER] = delay;
        self.samples += 1;
        let minute = ack.now.as_ps() / MINUTE.as_ps();
        let passed = (minute - self.minute).min(BASE_HISTORY as u64);
        for n in 0..passed {
            self.base[((minute - n) % BASE_HISTORY as u64) as usize] = Duration::MAX;
        }
        self.minute = minute;
        let least = &mut self.base[(minute % BASE_HISTORY as u64) as usize];
        *least = delay.min(*least);
    }

    fn queueing_ps(&self) -> Option<f64> {
        let (current, base) = (self.current.iter().min()?, self.base.iter().min()?);
        (self.samples > 0).then(|| current.saturating_sub(*base).as_ps() as f64)
    }
}

impl CongestionControl for Ledbat {
    fn cwnd_bytes(&self) -> u64 {
        self.window.cwnd_bytes
    }
    fn ssthresh_bytes(&self) -> u64 {
        self.window.ssthresh_bytes
    }
    fn on_measurement(&mut self, ack: &Ack) {
        if let Some(delay) = ack.one_way.or(ack.rtt) {
            self.on_sample(ack, delay);
        }
    }
    fn on_growth(&mut self, ack: &Ack) {
        let Some(queueing_ps) = self.queueing_ps() else { return };
        let (cwnd, mss) = (self.window.cwnd_bytes, u64::from(ack.mss));
        let off_target = (self.target_ps - queueing_ps) / self.target_ps;
        let share = ack.credit_bytes as f64 / cwnd as f64;
        let next = cwnd as f64 + self.fraction_bytes + self.gain * off_target * share * mss as f64;
        // The bytes outstanding before this ACK, not after it.
        let most = ack.flight_bytes + ack.acked_bytes + ALLOWED_INCREASE * mss;
        let whole = next.max(0.0) as u64;
        self.fraction_bytes = next - whole as f64;
        self.window.cwnd_bytes = whole.min(most.max(cwnd)).max(2 * mss);
        if self.window.cwnd_bytes != whole {
            self.fraction_bytes = 0.0;
        }
    }
    fn on_congestion(&mut self, congestion: &Congestion) {
        self.window.cut(congestion, congestion.window_bytes / 2);
        self.fraction_bytes = 0.0;
    }
    fn on_rto(&mut self, congestion: &Congestion) {
        self.window.collapse(congestion, congestion.window_bytes / 2);
        self.fraction_bytes = 0.0;
    }
    fn on_idle(&mut self, idle: &Idle) {
        self.window.restart(idle.restart_window_bytes);
        self.fraction_bytes = 0.0;
    }
}
