//! The receiver's half: records arrivals, and decides when to report (RFC 5348 section 6).

use crate::udp::tfrc::equation;
use crate::udp::tfrc::loss_history::LossHistory;
use crate::udp::tfrc::mean_size::MeanSize;
use crate::udp::tfrc::wire::{Data, Report};
use narrows_common::{Duration, Time};
use std::collections::VecDeque;

/// The receiver's half.
#[derive(Debug)]
pub(in crate::udp) struct Observer {
    history: LossHistory,
    loss_event_rate: f64,
    size: MeanSize,
    /// Arrivals of the last round trip: time and bytes.
    recent: VecDeque<(Time, u32)>,
    recent_bytes: u64,
    received_bytes: u64,
    /// The last datagram, and its arrival.
    last: Option<(Data, Time)>,
    has_reported: bool,
    /// Something arrived since the last report.
    has_news: bool,
    is_due: bool,
    timer: Option<Time>,
}

impl Observer {
    /// The state before the first datagram; assumes segments of this length until some arrive.
    pub(in crate::udp) fn new(segment_bytes: u32) -> Self {
        Observer {
            history: LossHistory::default(),
            loss_event_rate: 0.0,
            size: MeanSize(segment_bytes.into()),
            recent: VecDeque::new(),
            recent_bytes: 0,
            received_bytes: 0,
            last: None,
            has_reported: false,
            has_news: false,
            is_due: false,
            timer: None,
        }
    }

    /// A datagram with a message of this many bytes arrived (section 6.1).
    pub(in crate::udp) fn handle(&mut self, now: Time, number: u64, data: &Data, bytes: u32) {
        self.size.add(bytes);
        self.received_bytes += u64::from(bytes);
        self.recent.push_back((now, bytes));
        self.recent_bytes += u64::from(bytes);
        self.forget(now, data.rtt);
        self.last = Some((*data, now));
        self.has_news = true;
        let (rtt, size) = (data.rtt, self.size.0);
        // Section 6.3.1: at least half a segment per round trip.
        let received = (self.recent_bytes as f64).max(size / 2.0) / rtt.as_secs_f64();
        self.history.handle(now, number, rtt, || match rtt {
            Duration::ZERO => 1.0,
            _ => 1.0 / equation::loss_event_rate(size, rtt, received),
        });
        let before = core::mem::replace(&mut self.loss_event_rate, self.history.loss_event_rate());
        self.is_due |= self.timer.is_none() || self.loss_event_rate > before;
    }

    /// Drops arrivals older than a round trip.
    fn forget(&mut self, now: Time, rtt: Duration) {
        while self.recent.front().is_some_and(|&(at, _)| now.saturating_since(at) >= rtt) {
            let (_, bytes) = self.recent.pop_front().expect("it was looked at");
            self.recent_bytes -= u64::from(bytes);
        }
    }

    /// When to call [`Observer::handle_timeout`].
    pub(in crate::udp) fn poll_timeout(&self) -> Option<Time> {
        self.timer
    }

    /// Handles everything due at `now` (section 6.2). Without new arrivals the timer stops until
    /// one comes.
    pub(in crate::udp) fn handle_timeout(&mut self, now: Time) {
        if self.timer.is_some_and(|at| at <= now) {
            self.timer = None;
            self.is_due |= self.has_news;
        }
    }

    /// The report that is due.
    pub(in crate::udp) fn poll_report(&mut self, now: Time) -> Option<Report> {
        let (data, came_at) = self.last.filter(|_| self.is_due)?;
        self.forget(now, data.rtt);
        let seconds = data.rtt.as_secs_f64();
        // Section 6.3: the first report has no rate.
        let rate = match self.has_reported && seconds > 0.0 {
            true => self.recent_bytes as f64 / seconds,
            false => 0.0,
        };
        self.has_reported = true;
        self.has_news = false;
        self.is_due = false;
        // Until the sender has a round trip, each datagram is reported.
        self.timer = (data.rtt > Duration::ZERO).then(|| now + data.rtt);
        Some(Report {
            sent_at: data.sent_at,
            held: now.saturating_since(came_at),
            received_bytes_per_sec: rate as u64,
            loss_event_rate: self.loss_event_rate,
            highest: self.history.highest(),
            received_bytes: self.received_bytes,
        })
    }
}
