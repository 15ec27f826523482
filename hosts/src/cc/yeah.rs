//! YeAH (Baiocchi, Castellani, Vacirca 2007): Scalable while the queue is short, otherwise Reno.
//!
//! Once per round trip, with RTT the minimum of that round, Q = cwnd (1 - base/RTT) segments.
//! - Fast mode, while Q <= 80 and RTT - base <= base/8: adds a segment per min(cwnd, 100)
//!   acknowledged.
//! - Slow mode: Reno. With Q > 80 it also removes min(Q, cwnd/2), but not below the window that
//!   Reno would have (`reno_count`).
//!
//! A loss removes max(min(Q, cwnd/2), cwnd/8) if there were fewer than 16 slow rounds, because no
//! Reno flow competes; otherwise half the window.
//!
//! Constants: Linux's tcp_yeah. Q is f64 rounded down to a byte, reno_count is in segments.

use crate::api::{Ack, Class, Congestion, Idle, Need};
use crate::cc::control::{CongestionControl, Setup, Variant};
use crate::cc::parts::round_trips::{Round, RoundTrips};
use crate::cc::parts::window::Window;

/// The largest Q in fast mode, in segments.
const ALPHA: f64 = 80.0;
/// Segments acknowledged per segment added, in fast mode.
const SCALABLE_CNT: u64 = 100;
/// Slow rounds after which Reno flows are assumed to compete.
const RHO: u32 = 16;
/// Fast rounds after which they are assumed to be gone.
const ZETA: u32 = 50;

/// The variant's entry in the list.
pub const VARIANT: Variant = Variant {
    name: "yeah",
    title: "Scalable while the queue is short, otherwise Reno; drains the queue",
    reference: "Baiocchi, Castellani, Vacirca, YeAH-TCP: yet another highspeed TCP, PFLDnet 2007; Linux tcp_yeah",
    class: Class::Hybrid,
    needs: &[Need::SegmentTimes],
    parameters: &[],
    not_implemented: &[],
    build: |setup| Box::new(Yeah::new(setup)),
};

/// The window of a YeAH sender.
#[derive(Clone, Debug)]
pub struct Yeah {
    window: Window,
    round_trips: RoundTrips,
    /// The queue in the last round, in segments.
    queue: f64,
    reno_count: f64,
    slow_rounds: u32,
    fast_rounds: u32,
}

impl Yeah {
    fn new(setup: &Setup) -> Self {
        Yeah {
            window: Window::new(setup),
            round_trips: RoundTrips::new(setup),
            queue: 0.0,
            reno_count: 2.0,
            slow_rounds: 0,
            fast_rounds: 0,
        }
    }

    fn on_round(&mut self, round: &Round, mss: u32) {
        let cwnd = self.window.segments(mss);
        self.queue = round.backlog(cwnd);
        if self.queue <= ALPHA && round.min.saturating_sub(round.base) * 8 <= round.base {
            self.fast_rounds += 1;
            self.slow_rounds = 0;
            if self.fast_rounds > ZETA {
                (self.reno_count, self.fast_rounds) = (2.0, 0);
            }
            return;
        }
        if self.queue > ALPHA && cwnd > self.reno_count {
            let left = (cwnd - self.queue.min(cwnd / 2.0)).max(self.reno_count).max(2.0);
            self.window.cwnd_bytes = (left * f64::from(mss)) as u64;
            self.window.ssthresh_bytes = self.window.cwnd_bytes;
        }
        self.reno_count =
            if self.reno_count <= 2.0 { (cwnd / 2.0).max(2.0) } else { self.reno_count + 1.0 };
        self.slow_rounds = self.slow_rounds.saturating_add(1);
    }

    fn reduced(&self, congestion: &Congestion) -> u64 {
        let window = congestion.window_bytes;
        if self.slow_rounds >= RHO {
            return window / 2;
        }
        let queue_bytes = (self.queue * f64::from(congestion.mss)) as u64;
        window - queue_bytes.min(window / 2).max(window / 8)
    }

    fn forget(&mut self) {
        self.fast_rounds = 0;
        self.reno_count = (self.reno_count / 2.0).max(2.0);
    }
}

impl CongestionControl for Yeah {
    fn cwnd_bytes(&self) -> u64 {
        self.window.cwnd_bytes
    }
    fn ssthresh_bytes(&self) -> u64 {
        self.window.ssthresh_bytes
    }
    fn on_measurement(&mut self, ack: &Ack) {
        if let Some(round) = self.round_trips.on_measurement(ack) {
            self.on_round(&round, ack.mss);
        }
    }
    fn on_growth(&mut self, ack: &Ack) {
        if self.window.is_slow_start() || self.slow_rounds > 0 {
            self.window.grow(ack, 1.0);
        } else {
            let most_bytes = SCALABLE_CNT * u64::from(ack.mss);
            self.window.avoid(ack, 1.0, self.window.cwnd_bytes.min(most_bytes));
        }
    }
    fn on_congestion(&mut self, congestion: &Congestion) {
        self.window.cut(congestion, self.reduced(congestion));
        self.forget();
    }
    fn on_rto(&mut self, congestion: &Congestion) {
        self.window.collapse(congestion, self.reduced(congestion));
        self.forget();
    }
    fn on_idle(&mut self, idle: &Idle) {
        self.window.restart(idle.restart_window_bytes);
    }
}
