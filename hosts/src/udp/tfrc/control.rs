//! The sender's half: the allowed rate, and when the next datagram may leave (RFC 5348 section 4).

use crate::report::DELAY_PRECISION_BITS;
use crate::udp::tfrc::equation;
use crate::udp::tfrc::mean_size::MeanSize;
use crate::udp::tfrc::wire::{Data, Report};
use narrows_common::histogram::{Histogram, Summary};
use narrows_common::record::{FlowRecord, Phase};
use narrows_common::{Duration, Time};
use std::collections::VecDeque;

/// t_mbi: the longest time between two segments.
const MOST_SECONDS_APART: f64 = 64.0;
/// The shortest round trip and gap between two datagrams, because a report's claims are unbounded.
pub(super) const LEAST_TIME: Duration = Duration::from_ns(1);
/// The no-feedback timer before the first round trip (section 4.2).
const FIRST_TIMER: Duration = Duration::from_secs(2);
/// W_init is four segments, limited to this many bytes or two segments, whichever is larger.
const INITIAL_WINDOW_BYTES: f64 = 4_380.0;

/// The sender's half.
#[derive(Debug)]
pub(in crate::udp) struct Control {
    size: MeanSize,
    /// X, the allowed rate, and the equation's rate, in bytes per second.
    rate: f64,
    equation_rate: f64,
    loss_event_rate: f64,
    /// The smoothed round trip; `None` before the first report.
    rtt: Option<Duration>,
    last_rtt: Duration,
    rtt_histogram: Histogram,
    /// X_recv_set: the rates that the receiver reported, and when.
    received: VecDeque<(Time, f64)>,
    /// When slow start last doubled the rate (tld).
    doubled_at: Time,
    /// The departure and the length of the last datagram.
    last_sent: Option<(Time, u32)>,
    /// Departures of datagrams after which others waited, not yet covered by a report.
    limited_at: VecDeque<Time>,
    /// The departure of the last datagram that a report covers.
    covered_to: Time,
    /// The no-feedback timer, and whether something was sent since it was set.
    timer: Option<Time>,
    has_sent: bool,
    timeouts: u64,
    reports: u64,
    acked_bytes: u64,
    highest: Option<u64>,
}

impl Control {
    /// The state before the first datagram; assumes segments of this length until some are sent.
    pub(in crate::udp) fn new(segment_bytes: u32) -> Self {
        let size = MeanSize(segment_bytes.into());
        Control {
            // One segment per second (section 4.2).
            rate: size.0,
            size,
            equation_rate: f64::INFINITY,
            loss_event_rate: 0.0,
            rtt: None,
            last_rtt: Duration::ZERO,
            rtt_histogram: Histogram::new(DELAY_PRECISION_BITS),
            received: VecDeque::from([(Time::ZERO, f64::INFINITY)]),
            doubled_at: Time::ZERO,
            last_sent: None,
            limited_at: VecDeque::new(),
            covered_to: Time::ZERO,
            timer: None,
            has_sent: false,
            timeouts: 0,
            reports: 0,
            acked_bytes: 0,
            highest: None,
        }
    }

    /// When the next datagram may leave (section 4.6); unused time is not saved up.
    pub(in crate::udp) fn next_departure(&self) -> Time {
        self.last_sent.map_or(Time::ZERO, |(at, bytes)| {
            at + Duration::from_secs_f64(f64::from(bytes) / self.rate).max(LEAST_TIME)
        })
    }

    /// A datagram leaves; `has_more`: others wait after it. Returns its data for the receiver.
    pub(in crate::udp) fn on_sent(&mut self, now: Time, bytes: u32, has_more: bool) -> Data {
        self.size.add(bytes);
        self.last_sent = Some((now, bytes));
        self.has_sent = true;
        if has_more {
            self.limited_at.push_back(now);
        }
        self.timer.get_or_insert(now + FIRST_TIMER);
        Data { sent_at: now, rtt: self.rtt.unwrap_or(Duration::ZERO) }
    }

    /// A report arrived (section 4.3). Reports overtaken by a later one are ignored.
    pub(in crate::udp) fn handle_report(&mut self, now: Time, report: &Report) {
        if report.sent_at < self.covered_to || report.sent_at > now {
            return;
        }
        self.reports += 1;
        self.acked_bytes = self.acked_bytes.max(report.received_bytes);
        self.highest = self.highest.max(Some(report.highest));
        let sample = now.since(report.sent_at).saturating_sub(report.held);
        let sample = sample.max(LEAST_TIME);
        self.last_rtt = sample;
        self.rtt_histogram.add(sample);
        let is_data_limited = self.take_covered(report.sent_at);
        let Some(before) = self.rtt else {
            self.rtt = Some(sample);
            self.rate = self.restart_rate(sample);
            self.doubled_at = now;
            return self.set_timer(now);
        };
        let rtt = Duration::from_ps((before.as_ps() / 10).saturating_mul(9) + sample.as_ps() / 10);
        self.rtt = Some(rtt);
        let mut told = report.received_bytes_per_sec as f64;
        let has_grown = report.loss_event_rate > self.loss_event_rate;
        self.loss_event_rate = report.loss_event_rate;
        let limit = if is_data_limited {
            if has_grown {
                told *= 0.85;
                self.received.iter_mut().for_each(|(_, rate)| *rate /= 2.0);
            }
            let most = self.maximize(now, told);
            if has_grown { most } else { 2.0 * most }
        } else {
            self.received.push_back((now, told));
            let two = rtt.saturating_mul(2);
            self.received.retain(|&(at, _)| now.saturating_since(at) <= two);
            2.0 * self.most_received()
        };
        self.set_rate(now, rtt, limit);
        self.set_timer(now);
    }

    /// True if no datagram waited after any of the newly covered datagrams: the sender was
    /// data-limited throughout (section 8.2.1).
    fn take_covered(&mut self, sent_at: Time) -> bool {
        let before = self.limited_at.len();
        while self.limited_at.front().is_some_and(|&at| at <= sent_at) {
            self.limited_at.pop_front();
        }
        self.covered_to = sent_at;
        before == self.limited_at.len()
    }

    fn most_received(&self) -> f64 {
        self.received.iter().map(|&(_, rate)| rate).fold(0.0, f64::max)
    }

    /// Keeps and returns the maximum reported rate, except the initial infinity.
    fn maximize(&mut self, now: Time, told: f64) -> f64 {
        self.received.retain(|(_, rate)| rate.is_finite());
        let most = told.max(self.most_received());
        self.received = VecDeque::from([(now, most)]);
        most
    }

    /// Step 4 of section 4.3.
    fn set_rate(&mut self, now: Time, rtt: Duration, limit: f64) {
        if self.loss_event_rate > 0.0 {
            self.equation_rate = equation::bytes_per_sec(self.size.0, rtt, self.loss_event_rate);
            self.rate = self.equation_rate.min(limit).max(self.least_rate());
        } else if now.since(self.doubled_at) >= rtt {
            self.rate = (2.0 * self.rate).min(limit).max(self.restart_rate(rtt));
            self.doubled_at = now;
        }
    }

    fn least_rate(&self) -> f64 {
        self.size.0 / MOST_SECONDS_APART
    }

    /// W_init per round trip (sections 4.2 and 4.4).
    fn restart_rate(&self, rtt: Duration) -> f64 {
        let size = self.size.0;
        (4.0 * size).min((2.0 * size).max(INITIAL_WINDOW_BYTES)) / rtt.as_secs_f64()
    }

    /// The time after which a missing report has an effect.
    fn timer_length(&self) -> Duration {
        let two_segments = Duration::from_secs_f64(2.0 * self.size.0 / self.rate);
        self.rtt.map_or(FIRST_TIMER, |rtt| rtt.saturating_mul(4)).max(two_segments)
    }

    fn set_timer(&mut self, now: Time) {
        self.timer = Some(now + self.timer_length());
        self.has_sent = false;
    }

    /// When to call [`Control::handle_timeout`].
    pub(in crate::udp) fn poll_timeout(&self) -> Option<Time> {
        self.timer
    }

    /// No report arrived in time (section 4.4).
    pub(in crate::udp) fn handle_timeout(&mut self, now: Time) {
        if self.timer.is_none_or(|at| at > now) {
            return;
        }
        let halved = (self.rate / 2.0).max(self.least_rate());
        let told = self.most_received();
        let has_loss = self.loss_event_rate > 0.0;
        match self.rtt {
            None if self.has_sent => self.rate = halved,
            None => {}
            Some(rtt) => {
                let restart = self.restart_rate(rtt);
                let is_low = if has_loss { told < restart } else { self.rate < 2.0 * restart };
                if is_low && !self.has_sent {
                    // An idle sender may restart at its initial rate.
                } else if !has_loss {
                    self.rate = halved;
                } else {
                    let limit = told.min(self.equation_rate / 2.0).max(self.least_rate());
                    self.received = VecDeque::from([(now, limit / 2.0)]);
                    self.set_rate(now, rtt, limit);
                }
            }
        }
        self.timeouts += u64::from(self.has_sent);
        self.set_timer(now);
    }

    /// Expirations of the no-feedback timer after something was sent.
    pub(in crate::udp) fn timeouts(&self) -> u64 {
        self.timeouts
    }

    /// Round-trip samples.
    pub(in crate::udp) fn rtt_summary(&self) -> Summary {
        self.rtt_histogram.summary()
    }

    /// Bytes that the receiver has reported.
    pub(in crate::udp) fn acked_bytes(&self) -> u64 {
        self.acked_bytes
    }

    /// A row of the sender's state; `next_number` is its next datagram's number. The window is the
    /// bytes per round trip at the current rate.
    pub(in crate::udp) fn record(&self, now: Time, flow: u32, next_number: u64) -> FlowRecord {
        let rtt = self.rtt.unwrap_or(Duration::ZERO);
        let behind = self.highest.map_or(0, |highest| highest.saturating_add(1));
        let told = self.received.back().map(|&(_, rate)| rate).filter(|rate| rate.is_finite());
        FlowRecord {
            at: now,
            flow,
            cwnd_bytes: (self.rate * rtt.as_secs_f64()) as u64,
            ssthresh_bytes: u64::MAX,
            in_flight_bytes: (next_number.saturating_sub(behind) as f64 * self.size.0) as u64,
            srtt: rtt,
            rtt: self.last_rtt,
            rto: self.timer_length(),
            acked_bytes: self.acked_bytes,
            retransmits: 0,
            timeouts: self.timeouts,
            delivery_rate_bps: told.map(|rate| (8.0 * rate) as u64),
            round: self.reports,
            phase: if self.loss_event_rate > 0.0 {
                Phase::CongestionAvoidance
            } else {
                Phase::SlowStart
            },
        }
    }
}
