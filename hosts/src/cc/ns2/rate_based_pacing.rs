//! Rate-based pacing: after an idle time the window does not restart at one segment. Part of it is
//! paced over a round trip, until the first ACK clocks the rest.
//!
//! Source: ns-2.35 Agent/TCP/Vegas/RBP and Agent/TCP/Reno/RBP, after Visweswaraiah and Heidemann,
//! Improving restart of idle TCP connections (USC TR 97-661, 1997). The paced part is a share of
//! the last round trip's segments (Vegas) or of the window (Reno), rounded, with a minimum of two
//! segments; the window is limited to it. The gap between segments is the round trip divided by the
//! window; Vegas uses its latest round trip, Reno its smoothed one. The first ACK ends pacing.
//! Vegas then continues from its window; Reno's window becomes the segments outstanding.
//!
//! Constants: the share, 0.75 (`rbp_scale_`); two segments (`RBP_MIN_SEGMENTS`).

use crate::api::{Ack, Congestion, Idle, Parameter};
use crate::cc::control::{CongestionControl, Setup, Variant};
use crate::cc::ns2::vegas::{self, VegasNs2};
use crate::cc::reno::{self, Reno};
use narrows_common::{Duration, Time};

const SCALE: Parameter = Parameter {
    name: "scale",
    unit: "ratio",
    default: 0.75,
    min: 0.01,
    max: 1.0,
    meaning: "fraction of the old rate to pace",
    origin: "3/4: rbp_scale_",
};
const LEAST_SEGMENTS: u64 = 2;
const NOT_IMPLEMENTED: &[&str] = &["the end of pacing at a duplicate ACK"];

/// The entry for Vegas.
pub const VEGAS_VARIANT: Variant = Variant {
    name: "vegas-rbp",
    title: "Vegas as in ns-2, with rate-based pacing after idle times",
    reference: "ns-2.35 Agent/TCP/Vegas/RBP; Visweswaraiah and Heidemann 1997",
    parameters: &[
        vegas::VARIANT.parameters[0],
        vegas::VARIANT.parameters[1],
        vegas::VARIANT.parameters[2],
        SCALE,
    ],
    not_implemented: NOT_IMPLEMENTED,
    build: |setup| Box::new(RateBasedPacing::new(VegasNs2::new(setup), setup)),
    ..vegas::VARIANT
};

/// The entry for Reno.
pub const RENO_VARIANT: Variant = Variant {
    name: "reno-rbp",
    title: "Reno with rate-based pacing after idle times",
    reference: "ns-2.35 Agent/TCP/Reno/RBP; Visweswaraiah and Heidemann 1997",
    parameters: &[reno::VARIANT.parameters[0], reno::VARIANT.parameters[1], SCALE],
    not_implemented: NOT_IMPLEMENTED,
    build: |setup| Box::new(RateBasedPacing::new(Reno::new(setup), setup)),
    ..reno::VARIANT
};

/// What pacing after an idle time requires of a variant.
trait Restart: CongestionControl + Clone + 'static {
    /// True if the first ACK sets the window to the segments outstanding.
    const ENDS_AT_OUTSTANDING: bool;

    /// The segments of the last round trip, and its duration.
    fn last_round(&self, mss: u32, idle: &Idle) -> (f64, Duration);

    /// Sets the window unconditionally.
    fn set_cwnd_bytes(&mut self, cwnd_bytes: u64);
}

impl Restart for VegasNs2 {
    const ENDS_AT_OUTSTANDING: bool = false;
    fn last_round(&self, _mss: u32, _idle: &Idle) -> (f64, Duration) {
        self.last_round()
    }
    fn set_cwnd_bytes(&mut self, cwnd_bytes: u64) {
        self.set_cwnd_bytes(cwnd_bytes);
    }
}

impl Restart for Reno {
    const ENDS_AT_OUTSTANDING: bool = true;
    fn last_round(&self, mss: u32, idle: &Idle) -> (f64, Duration) {
        (self.cwnd_bytes() as f64 / f64::from(mss), idle.srtt)
    }
    fn set_cwnd_bytes(&mut self, cwnd_bytes: u64) {
        self.set_cwnd_bytes(cwnd_bytes);
    }
}

/// A variant that paces after idle times.
#[derive(Clone, Debug)]
struct RateBasedPacing<C> {
    inner: C,
    scale: f64,
    mss: u32,
    /// The pacing rate in bytes per second, while it paces.
    pace: Option<u64>,
}

impl<C: Restart> RateBasedPacing<C> {
    fn new(inner: C, setup: &Setup) -> Self {
        RateBasedPacing {
            inner,
            scale: setup.parameters.get(SCALE.name),
            mss: setup.mss,
            pace: None,
        }
    }
}

impl<C: Restart> CongestionControl for RateBasedPacing<C> {
    fn cwnd_bytes(&self) -> u64 {
        self.inner.cwnd_bytes()
    }
    fn ssthresh_bytes(&self) -> u64 {
        self.inner.ssthresh_bytes()
    }
    fn pacing_bytes_per_sec(&self) -> Option<u64> {
        self.pace
    }
    fn on_measurement(&mut self, ack: &Ack) {
        if self.pace.take().is_some() && C::ENDS_AT_OUTSTANDING {
            let outstanding_bytes = ack.flight_bytes + ack.acked_bytes;
            self.inner.set_cwnd_bytes(outstanding_bytes.max(self.mss.into()));
        }
        self.inner.on_measurement(ack);
    }
    fn on_growth(&mut self, ack: &Ack) {
        self.inner.on_growth(ack);
    }
    fn on_congestion(&mut self, congestion: &Congestion) {
        self.pace = None;
        self.inner.on_congestion(congestion);
    }
    fn on_recovery_exit(&mut self, now: Time) {
        self.inner.on_recovery_exit(now);
    }
    fn on_rto(&mut self, congestion: &Congestion) {
        self.pace = None;
        self.inner.on_rto(congestion);
    }
    fn on_idle(&mut self, idle: &Idle) {
        let (segments, round_trip) = self.inner.last_round(self.mss, idle);
        let paced = ((self.scale * segments + 0.5) as u64).max(LEAST_SEGMENTS);
        let mss = u64::from(self.mss);
        self.inner.set_cwnd_bytes(self.inner.cwnd_bytes().min(paced * mss));
        let window_bytes = self.inner.cwnd_bytes().min(idle.offered_bytes) / mss * mss;
        if round_trip > Duration::ZERO {
            self.pace = Some((window_bytes.max(mss) as f64 / round_trip.as_secs_f64()) as u64);
        }
    }
}
