//! Compound TCP (Tan, Song, Zhang, Sridharan 2006): Reno's window plus a window driven by delay.
//!
//! win = cwnd + dwnd. cwnd grows by 1 segment per win acknowledged, and a loss halves it. Once per
//! round trip, with RTT the minimum of that round, diff = win (1 - base/RTT) segments:
//! - diff < gamma: dwnd grows by alpha win^k - 1, if that is positive;
//! - otherwise dwnd shrinks by zeta diff, to 0 at least.
//!
//! A loss sets dwnd to win (1 - beta) - cwnd/2. dwnd does not change in slow start or below 41
//! segments.
//!
//! Constants: alpha 1/8, beta 1/2, k 3/4, gamma 30, zeta 1 (the paper); the limit of 41 segments
//! was quoted from memory. dwnd is in whole bytes; the power is f64.

use crate::api::{Ack, Class, Congestion, Idle, Need, Parameter};
use crate::cc::control::{CongestionControl, Setup, Variant};
use crate::cc::parts::round_trips::{Round, RoundTrips};
use crate::cc::reno::{avoid_congestion, slow_start};

const ALPHA: f64 = 0.125;
const K: f64 = 0.75;
const LOW_WINDOW: f64 = 41.0;

/// The variant's entry in the list.
pub const VARIANT: Variant = Variant {
    name: "compound",
    title: "Reno's window plus a window that grows while the queue is short (Compound TCP)",
    reference: "Tan, Song, Zhang, Sridharan, A compound TCP approach for high-speed and long distance networks, INFOCOM 2006",
    class: Class::Hybrid,
    needs: &[Need::SegmentTimes],
    parameters: &[
        Parameter {
            name: "gamma",
            unit: "segments",
            default: 30.0,
            min: 0.0,
            max: 10_000.0,
            meaning: "queued segments above which dwnd shrinks",
            origin: "30: the paper",
        },
        Parameter {
            name: "zeta",
            unit: "segments",
            default: 1.0,
            min: 0.0,
            max: 100.0,
            meaning: "reduction of dwnd per queued segment",
            origin: "1: the paper",
        },
    ],
    not_implemented: &["tuning gamma to the path (TUBE)"],
    build: |setup| Box::new(Compound::new(setup)),
};

/// The windows of a Compound TCP sender.
#[derive(Clone, Debug)]
pub struct Compound {
    loss_bytes: u64,
    delay_bytes: u64,
    ssthresh_bytes: u64,
    remainder: u64,
    round_trips: RoundTrips,
    ended: Option<Round>,
    gamma: f64,
    zeta: f64,
}

impl Compound {
    fn new(setup: &Setup) -> Self {
        Compound {
            loss_bytes: setup.initial_window_bytes,
            delay_bytes: 0,
            ssthresh_bytes: setup.initial_ssthresh_bytes,
            remainder: 0,
            round_trips: RoundTrips::new(setup),
            ended: None,
            gamma: setup.parameters.get("gamma"),
            zeta: setup.parameters.get("zeta"),
        }
    }

    fn on_round(&mut self, round: &Round, mss: u32) {
        let segment = f64::from(mss);
        let win = self.cwnd_bytes() as f64 / segment;
        if win < LOW_WINDOW {
            return;
        }
        let diff = round.backlog(win);
        if diff < self.gamma {
            let more = (ALPHA * libm::pow(win, K) - 1.0).max(0.0);
            self.delay_bytes = self.delay_bytes.saturating_add((more * segment) as u64);
        } else {
            let less = (self.zeta * diff * segment) as u64;
            self.delay_bytes = self.delay_bytes.saturating_sub(less);
        }
    }
}

impl CongestionControl for Compound {
    fn cwnd_bytes(&self) -> u64 {
        self.loss_bytes.saturating_add(self.delay_bytes)
    }
    fn ssthresh_bytes(&self) -> u64 {
        self.ssthresh_bytes
    }
    fn on_measurement(&mut self, ack: &Ack) {
        self.ended = self.round_trips.on_measurement(ack).or(self.ended.take());
    }
    fn on_growth(&mut self, ack: &Ack) {
        let ended = self.ended.take();
        let win = self.cwnd_bytes();
        if win < self.ssthresh_bytes {
            self.loss_bytes = slow_start(self.loss_bytes, ack.credit_bytes);
            return;
        }
        let grown = avoid_congestion(win, &mut self.remainder, ack.credit_bytes, ack.mss.into());
        self.loss_bytes = self.loss_bytes.saturating_add(grown - win);
        if let Some(round) = ended {
            self.on_round(&round, ack.mss);
        }
    }
    fn on_congestion(&mut self, congestion: &Congestion) {
        // With beta 1/2, win (1 - beta) remains in total, of which cwnd/2 is Reno's.
        let least = 2 * u64::from(congestion.mss);
        let left = (congestion.window_bytes / 2).max(least);
        self.loss_bytes = (self.loss_bytes / 2).max(least).min(left);
        self.delay_bytes = left - self.loss_bytes;
        self.ssthresh_bytes = congestion.threshold(left);
        self.remainder = 0;
    }
    fn on_rto(&mut self, congestion: &Congestion) {
        if !congestion.is_repeated {
            self.ssthresh_bytes = congestion.threshold(congestion.window_bytes / 2);
        }
        (self.loss_bytes, self.delay_bytes) = (congestion.mss.into(), 0);
        self.remainder = 0;
    }
    fn on_idle(&mut self, idle: &Idle) {
        if idle.restart_window_bytes < self.cwnd_bytes() {
            (self.loss_bytes, self.delay_bytes) = (idle.restart_window_bytes, 0);
            self.remainder = 0;
        }
    }
}
