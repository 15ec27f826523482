//! BBR version 1: estimates the path's bandwidth and minimum round trip, and derives a pacing rate
//! and a window from them.
//!
//! Sources: Cardwell et al., BBR: congestion-based congestion control, ACM Queue 2016;
//! draft-cardwell-iccrg-bbr-congestion-control-00; Linux tcp_bbr for what these leave open.
//!
//! - Bandwidth: the maximum delivery rate of 10 rounds. An application-limited sample counts only
//!   if it is greater.
//! - Minimum round trip: over 10 s.
//! - Pacing rate: 0.99 x gain x bandwidth.
//! - Window: 2 x bandwidth x round trip, plus the aggregation of ACKs, plus three bursts.
//!
//! Phases:
//! - Startup, gain 2/ln 2, until three rounds increase the bandwidth by less than a factor of 1.25.
//! - Drain, gain 1/2.885, down to one bandwidth-delay product.
//! - ProbeBW, gains 5/4, 3/4 and six times 1, each at least a round trip. It starts at a random
//!   gain other than 3/4.
//! - ProbeRTT, after 10 s without a lower round trip: four segments for 200 ms and a round.
//!
//! A loss causes one round of packet conservation, then the window returns to its former value.
//! Marks are ignored. Rates are bytes per second and windows are bytes, both in integers; gains are
//! f64 factors of one product.

mod phases;
mod policer;
mod window;

use crate::api::{Class, Congestion, Departing, Need, PathSample, Stage};
use crate::cc::control::{CongestionControl, Setup, Variant};
use crate::cc::parts::period_max::PeriodMax;
use crate::cc::parts::rates::{bytes_in, initial_pacing, scaled};
use narrows_common::{Duration, Rng, Time};
use policer::Policer;

/// 2/ln 2, rounded up as in Linux.
const HIGH_GAIN: f64 = 2.885;
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
const CWND_GAIN: f64 = 2.0;
const MARGIN: f64 = 0.99;
const FULL_GROWTH: f64 = 1.25;
const FULL_ROUNDS: u32 = 3;
const BANDWIDTH_ROUNDS: usize = 10;
const MIN_RTT_WINDOW: Duration = Duration::from_secs(10);
const PROBE_RTT_TIME: Duration = Duration::from_ms(200);
const LEAST_WINDOW_SEGMENTS: u64 = 4;
/// Linux: the aggregation of ACKs adds at most 100 ms of the bandwidth.
const AGGREGATION_LIMIT: Duration = Duration::from_ms(100);

/// The variant's entry in the list.
pub const VARIANT: Variant = Variant {
    name: "bbr",
    title: "models the path's bandwidth and round trip (BBR version 1)",
    reference: "Cardwell, Cheng, Gunn, Hassas Yeganeh, Jacobson, BBR: congestion-based congestion control, ACM Queue 14(5), 2016; Linux tcp_bbr",
    class: Class::ModelBased,
    needs: &[Need::SegmentTimes, Need::Pacing],
    parameters: &[],
    not_implemented: &[
        "bursts of TCP segmentation offload: each segment is paced separately",
        "the in-flight estimate at the earliest departure time; round trips of delayed ACKs count",
    ],
    build: |setup| Box::new(Bbr::new(setup)),
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// The state of a BBR sender.
#[derive(Clone, Debug)]
pub struct Bbr {
    rng: Rng,
    mss: u64,
    initial_window_bytes: u64,
    cwnd_bytes: u64,
    prior_cwnd_bytes: u64,
    pacing_bytes_per_sec: u64,
    mode: Mode,
    bandwidth: PeriodMax<BANDWIDTH_ROUNDS>,
    round: u64,
    round_ends_at: u64,
    is_round_start: bool,
    full_bandwidth: u64,
    full_rounds: u32,
    is_pipe_full: bool,
    cycle: usize,
    cycle_began_at: Time,
    min_rtt: Duration,
    min_rtt_at: Time,
    probe_rtt_ends_at: Option<Time>,
    has_probed_a_round: bool,
    is_idle_restart: bool,
    stage: Stage,
    conserves_packets: bool,
    lost_bytes: u64,
    policer: Policer,
    aggregation: Aggregation,
}

/// Bytes acknowledged beyond the bandwidth estimate (Linux: extra_acked), over two windows of 5
/// rounds.
#[derive(Clone, Debug, Default)]
struct Aggregation {
    extra: PeriodMax<BANDWIDTH_ROUNDS>,
    epoch_began_at: Time,
    epoch_bytes: u64,
}

impl Bbr {
    fn new(setup: &Setup) -> Self {
        let initial_window_bytes = setup.initial_window_bytes;
        Bbr {
            rng: Rng::from_seed(setup.seed),
            mss: setup.mss.into(),
            initial_window_bytes,
            cwnd_bytes: initial_window_bytes,
            prior_cwnd_bytes: 0,
            pacing_bytes_per_sec: initial_pacing(setup, HIGH_GAIN),
            mode: Mode::Startup,
            bandwidth: PeriodMax::default(),
            round: 0,
            round_ends_at: 0,
            is_round_start: false,
            full_bandwidth: 0,
            full_rounds: 0,
            is_pipe_full: false,
            cycle: 0,
            cycle_began_at: Time::ZERO,
            min_rtt: setup.handshake_rtt.unwrap_or(Duration::MAX),
            min_rtt_at: Time::ZERO,
            probe_rtt_ends_at: None,
            has_probed_a_round: false,
            is_idle_restart: false,
            stage: Stage::Open,
            conserves_packets: false,
            lost_bytes: 0,
            policer: Policer::default(),
            aggregation: Aggregation::default(),
        }
    }

    fn bandwidth(&self) -> u64 {
        self.policer.rate().unwrap_or(self.bandwidth.get())
    }

    fn pacing_gain(&self) -> f64 {
        match self.mode {
            Mode::Startup => HIGH_GAIN,
            Mode::Drain => 1.0 / HIGH_GAIN,
            Mode::ProbeBw if self.policer.rate().is_some() => 1.0,
            Mode::ProbeBw => CYCLE[self.cycle],
            Mode::ProbeRtt => 1.0,
        }
    }

    fn cwnd_gain(&self) -> f64 {
        match self.mode {
            Mode::Startup | Mode::Drain => HIGH_GAIN,
            Mode::ProbeBw => CWND_GAIN,
            Mode::ProbeRtt => 1.0,
        }
    }

    /// `gain` times the bandwidth-delay product, plus room for bursts.
    fn inflight(&self, bandwidth: u64, gain: f64) -> u64 {
        self.with_bursts(self.bdp(bandwidth, gain))
    }

    fn bdp(&self, bandwidth: u64, gain: f64) -> u64 {
        if self.min_rtt == Duration::MAX {
            return self.initial_window_bytes;
        }
        // Whole segments, rounded up.
        scaled(bytes_in(bandwidth, self.min_rtt), gain).next_multiple_of(self.mss)
    }

    /// Linux: adds three bursts, rounds to an even number of segments, and adds two in the probing
    /// phase.
    fn with_bursts(&self, window_bytes: u64) -> u64 {
        let segments = (window_bytes + 3 * self.burst_bytes()) / self.mss;
        let even = segments + segments % 2;
        let is_probing = self.mode == Mode::ProbeBw && self.cycle == 0;
        (even + if is_probing { 2 } else { 0 }) * self.mss
    }

    /// The bytes of one millisecond: at least one segment, or two from 1.2 Mb/s on; at most 64 kB.
    fn burst_bytes(&self) -> u64 {
        let least = if self.pacing_bytes_per_sec * 8 < 1_200_000 { 1 } else { 2 };
        let burst_bytes = (self.pacing_bytes_per_sec / 1000).min(65_535) / self.mss;
        burst_bytes.max(least) * self.mss
    }

    fn update_round_and_bandwidth(&mut self, sample: &PathSample) {
        self.is_round_start = false;
        if sample.rate.delivered_bytes == 0 {
            return;
        }
        if sample.rate.prior_delivered_bytes >= self.round_ends_at {
            self.begin_round(sample);
            self.round += 1;
            self.is_round_start = true;
            self.conserves_packets = false;
        }
        let Some(rate) = sample.rate.bytes_per_sec() else { return };
        if !sample.rate.is_app_limited || rate >= self.bandwidth.get() {
            self.bandwidth.update(self.round, rate);
        }
    }

    fn begin_round(&mut self, sample: &PathSample) {
        self.round_ends_at = sample.delivered_bytes;
    }

    fn update_aggregation(&mut self, sample: &PathSample) {
        let bandwidth = self.bandwidth();
        let epoch = &mut self.aggregation;
        let expected = bytes_in(bandwidth, sample.now.saturating_since(epoch.epoch_began_at));
        if epoch.epoch_bytes <= expected {
            (epoch.epoch_began_at, epoch.epoch_bytes) = (sample.now, 0);
        }
        let expected = bytes_in(bandwidth, sample.now.saturating_since(epoch.epoch_began_at));
        epoch.epoch_bytes += sample.rate.newly_delivered_bytes;
        let extra = epoch.epoch_bytes.saturating_sub(expected).min(self.cwnd_bytes);
        epoch.extra.update(self.round, extra);
    }
}

impl CongestionControl for Bbr {
    fn cwnd_bytes(&self) -> u64 {
        self.cwnd_bytes
    }

    fn ssthresh_bytes(&self) -> u64 {
        u64::MAX
    }

    fn pacing_bytes_per_sec(&self) -> Option<u64> {
        Some(self.pacing_bytes_per_sec)
    }

    fn limits_itself(&self) -> bool {
        self.mode == Mode::ProbeRtt
    }

    fn on_departure(&mut self, departing: &Departing) {
        if departing.flight_bytes > 0 || !departing.is_app_limited {
            return;
        }
        self.is_idle_restart = true;
        (self.aggregation.epoch_began_at, self.aggregation.epoch_bytes) = (departing.now, 0);
        if self.mode == Mode::ProbeBw {
            self.set_pacing(1.0);
        } else if self.mode == Mode::ProbeRtt {
            self.check_probe_rtt_done(departing.now);
        }
    }

    fn on_path_sample(&mut self, sample: &PathSample) {
        let newly_lost_bytes = sample.lost_bytes.saturating_sub(self.lost_bytes);
        self.lost_bytes = sample.lost_bytes;
        self.update_round_and_bandwidth(sample);
        self.policer.on_sample(sample, newly_lost_bytes, self.is_round_start);
        self.update_aggregation(sample);
        self.update_cycle(sample, newly_lost_bytes);
        self.check_full_pipe(sample);
        self.check_drain(sample);
        self.update_min_rtt(sample);
        self.set_pacing(self.pacing_gain());
        self.set_cwnd(sample, newly_lost_bytes);
    }

    fn on_congestion(&mut self, _congestion: &Congestion) {
        self.save_cwnd();
    }

    fn on_ecn(&mut self, _congestion: &Congestion) {}

    fn on_rto(&mut self, congestion: &Congestion) {
        self.save_cwnd();
        self.stage = Stage::Loss;
        (self.full_bandwidth, self.is_round_start) = (0, true);
        self.policer.on_timeout();
        self.cwnd_bytes = congestion.mss.into();
    }

    fn on_undo(
        &mut self,
        _before: Box<dyn CongestionControl>,
    ) -> Option<Box<dyn CongestionControl>> {
        (self.full_bandwidth, self.full_rounds) = (0, 0);
        self.policer = Policer::default();
        self.cwnd_bytes = self.cwnd_bytes.max(self.prior_cwnd_bytes);
        None
    }
}
