//! BBR version 1: a model of the path, its bandwidth and its least round trip, and a rate and a
//! window by it.
//!
//! Sources: Cardwell et al., BBR: congestion-based congestion control, ACM Queue 2016;
//! draft-cardwell-iccrg-bbr-congestion-control-00; Linux tcp_bbr for what they leave open.
//! Bandwidth: the greatest delivery rate of 10 rounds, application-limited samples counting only
//! if greater. Least round trip: of 10 s. Rate: 0.99 x gain x bandwidth. Window: 2 x bandwidth x
//! round trip, what ACKs came together, and three bursts.
//!
//! Startup 2/ln 2 until three rounds bring less than 1.25 x; drain 1/2.885 to one
//! bandwidth-delay product; then the cycle 5/4, 3/4, 1 x 6, at least a round trip each, begun at
//! random but not with 3/4; every 10 s without a lower round trip, four segments for 200 ms and a
//! round. Loss: one round of packet conservation, then the window as before; marks are ignored.
//!
//! Rates are bytes a second and windows bytes in integers; gains are f64 factors of one product.

pub(super) mod filter;
mod policer;

use crate::cc::control::{CongestionControl, Setup, Variant};
use crate::tcp::api::{Class, Congestion, Departing, Need, PathSample, Stage};
use filter::PeriodMax;
use narrows_common::{Duration, Rng, Time};
use policer::Policer;

/// 2/ln 2, rounded up as Linux has it.
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
/// Linux: what ACKs came together is worth at most 100 ms of the bandwidth.
const AGGREGATION_LIMIT: Duration = Duration::from_ms(100);

/// The variant's entry in the list.
pub const VARIANT: Variant = Variant {
    name: "bbr",
    title: "a model of bandwidth and round trip (BBR version 1)",
    reference: "Cardwell, Cheng, Gunn, Hassas Yeganeh, Jacobson, BBR: congestion-based congestion control, ACM Queue 14(5), 2016; Linux tcp_bbr",
    class: Class::ModelBased,
    needs: &[Need::SegmentTimes, Need::Pacing],
    parameters: &[],
    not_implemented: &[
        "bursts of TCP segmentation offload: each segment is paced by itself",
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

/// What arrived beyond the bandwidth (Linux: extra_acked), over two windows of 5 rounds.
#[derive(Clone, Debug, Default)]
struct Aggregation {
    extra: PeriodMax<BANDWIDTH_ROUNDS>,
    epoch_began_at: Time,
    epoch_bytes: u64,
}

/// `rate` for `span`, rounded down.
pub(super) fn bytes_in(rate_bytes_per_sec: u64, span: Duration) -> u64 {
    let product = u128::from(rate_bytes_per_sec) * u128::from(span.as_ps());
    u64::try_from(product / 1_000_000_000_000).unwrap_or(u64::MAX)
}

/// `factor` of `value`, rounded down.
pub(super) fn scaled(value: u64, factor: f64) -> u64 {
    (value as f64 * factor) as u64
}

/// The rate before the first sample: `gain` times the initial window in the handshake's round
/// trip, or in 1 ms without one.
pub(super) fn initial_pacing(setup: &Setup, gain: f64) -> u64 {
    let rtt = setup.handshake_rtt.unwrap_or(Duration::from_ms(1));
    let window = u128::from(setup.initial_window_bytes) * 1_000_000_000_000;
    let rate = window / u128::from(rtt.as_ps().max(1));
    scaled(u64::try_from(rate).unwrap_or(u64::MAX), gain)
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

    /// What `gain` times the path holds, with room for bursts.
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

    /// Linux: three bursts more, an even number of segments, two more in the phase that probes.
    fn with_bursts(&self, window_bytes: u64) -> u64 {
        let segments = (window_bytes + 3 * self.burst_bytes()) / self.mss;
        let even = segments + segments % 2;
        let is_probing = self.mode == Mode::ProbeBw && self.cycle == 0;
        (even + if is_probing { 2 } else { 0 }) * self.mss
    }

    /// A millisecond's worth, one or two segments at least (from 1.2 Mb/s on), 64 kB at most.
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

    fn update_cycle(&mut self, sample: &PathSample, newly_lost_bytes: u64) {
        if self.mode != Mode::ProbeBw {
            return;
        }
        let gain = self.pacing_gain();
        let is_long = sample.now.saturating_since(self.cycle_began_at) > self.min_rtt;
        let before_bytes = sample.in_flight_bytes + sample.rate.newly_delivered_bytes;
        let is_over = if gain > 1.0 {
            let wanted = self.inflight(self.bandwidth.get(), gain);
            is_long && (newly_lost_bytes > 0 || before_bytes >= wanted)
        } else if gain < 1.0 {
            is_long || before_bytes <= self.inflight(self.bandwidth.get(), 1.0)
        } else {
            is_long
        };
        if is_over {
            self.next_phase(sample.now);
        }
    }

    fn next_phase(&mut self, now: Time) {
        self.cycle = (self.cycle + 1) % CYCLE.len();
        self.cycle_began_at = now;
    }

    fn check_full_pipe(&mut self, sample: &PathSample) {
        if self.is_pipe_full || !self.is_round_start || sample.rate.is_app_limited {
            return;
        }
        let bandwidth = self.bandwidth.get();
        if bandwidth >= scaled(self.full_bandwidth, FULL_GROWTH) {
            (self.full_bandwidth, self.full_rounds) = (bandwidth, 0);
            return;
        }
        self.full_rounds += 1;
        self.is_pipe_full = self.full_rounds >= FULL_ROUNDS;
    }

    fn check_drain(&mut self, sample: &PathSample) {
        if self.mode == Mode::Startup && self.is_pipe_full {
            self.mode = Mode::Drain;
        }
        let target = self.inflight(self.bandwidth.get(), 1.0);
        if self.mode == Mode::Drain && sample.in_flight_bytes <= target {
            self.enter_probe_bw(sample.now);
        }
    }

    fn enter_probe_bw(&mut self, now: Time) {
        self.mode = Mode::ProbeBw;
        // Any phase but the one that drains.
        self.cycle = CYCLE.len() - 1 - self.rng.range(0, CYCLE.len() as u64 - 2) as usize;
        self.next_phase(now);
    }

    fn update_min_rtt(&mut self, sample: &PathSample) {
        let is_expired = sample.now > self.min_rtt_at + MIN_RTT_WINDOW;
        if let Some(rtt) = sample.rate.rtt.filter(|&rtt| rtt < self.min_rtt || is_expired) {
            (self.min_rtt, self.min_rtt_at) = (rtt, sample.now);
        }
        if is_expired && !self.is_idle_restart && self.mode != Mode::ProbeRtt {
            self.save_cwnd();
            self.mode = Mode::ProbeRtt;
            self.probe_rtt_ends_at = None;
        }
        if self.mode == Mode::ProbeRtt {
            self.probe_rtt(sample);
        }
        if sample.rate.delivered_bytes > 0 {
            self.is_idle_restart = false;
        }
    }

    fn probe_rtt(&mut self, sample: &PathSample) {
        match self.probe_rtt_ends_at {
            None if sample.in_flight_bytes <= LEAST_WINDOW_SEGMENTS * self.mss => {
                self.probe_rtt_ends_at = Some(sample.now + PROBE_RTT_TIME);
                self.has_probed_a_round = false;
                self.begin_round(sample);
            }
            None => {}
            Some(_) => {
                self.has_probed_a_round |= self.is_round_start;
                if self.has_probed_a_round {
                    self.check_probe_rtt_done(sample.now);
                }
            }
        }
    }

    fn check_probe_rtt_done(&mut self, now: Time) {
        if self.probe_rtt_ends_at.is_none_or(|at| now <= at) {
            return;
        }
        self.min_rtt_at = now;
        self.cwnd_bytes = self.cwnd_bytes.max(self.prior_cwnd_bytes);
        if self.is_pipe_full {
            self.enter_probe_bw(now);
        } else {
            self.mode = Mode::Startup;
        }
    }

    fn save_cwnd(&mut self) {
        let is_whole = self.stage == Stage::Open && self.mode != Mode::ProbeRtt;
        let before = if is_whole { 0 } else { self.prior_cwnd_bytes };
        self.prior_cwnd_bytes = before.max(self.cwnd_bytes);
    }

    fn set_pacing(&mut self, gain: f64) {
        let rate = scaled(self.bandwidth(), gain * MARGIN);
        if rate > 0 && (self.is_pipe_full || rate > self.pacing_bytes_per_sec) {
            self.pacing_bytes_per_sec = rate;
        }
    }

    fn set_cwnd(&mut self, sample: &PathSample, newly_lost_bytes: u64) {
        let acked = sample.rate.newly_delivered_bytes;
        if acked > 0 && !self.recover(sample, newly_lost_bytes) {
            let aggregated = if self.is_pipe_full {
                self.aggregation.extra.get().min(bytes_in(self.bandwidth(), AGGREGATION_LIMIT))
            } else {
                0
            };
            let bdp = self.bdp(self.bandwidth(), self.cwnd_gain());
            let target = self.with_bursts(bdp + aggregated);
            let grown = self.cwnd_bytes + acked;
            if self.is_pipe_full {
                self.cwnd_bytes = grown.min(target);
            } else if self.cwnd_bytes < target || sample.delivered_bytes < self.initial_window_bytes
            {
                self.cwnd_bytes = grown;
            }
            self.cwnd_bytes = self.cwnd_bytes.max(LEAST_WINDOW_SEGMENTS * self.mss);
        }
        if self.mode == Mode::ProbeRtt {
            self.cwnd_bytes = self.cwnd_bytes.min(LEAST_WINDOW_SEGMENTS * self.mss);
        }
    }

    /// True while packets are conserved: one out for each delivered.
    fn recover(&mut self, sample: &PathSample, newly_lost_bytes: u64) -> bool {
        let acked = sample.rate.newly_delivered_bytes;
        self.cwnd_bytes = self.cwnd_bytes.saturating_sub(newly_lost_bytes).max(self.mss);
        let before = core::mem::replace(&mut self.stage, sample.stage);
        if sample.stage == Stage::Recovery && before != Stage::Recovery {
            self.conserves_packets = true;
            self.begin_round(sample);
            // Linux counts packets, of which a small one is one.
            self.cwnd_bytes = (sample.in_flight_bytes + acked).max(self.mss);
        } else if before != Stage::Open && sample.stage == Stage::Open {
            self.cwnd_bytes = self.cwnd_bytes.max(self.prior_cwnd_bytes);
            self.conserves_packets = false;
        }
        if self.conserves_packets {
            self.cwnd_bytes = self.cwnd_bytes.max(sample.in_flight_bytes + acked);
        }
        self.conserves_packets
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
