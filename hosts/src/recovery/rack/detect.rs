//! RACK (RFC 8985 section 6): a segment is lost if a segment sent later has arrived and the
//! reordering window has passed since.
//!
//! The reordering window is zero if three segments are SACKed or a loss is being repaired, until
//! reordering has been seen. Otherwise it is a quarter of the minimum round trip. Each round with a
//! D-SACK that shows it too short adds another quarter, for 16 recoveries (section 6.2 step 4). It
//! is at most a smoothed round trip.
//!
//! Departures are in a queue in time order, so an ACK looks at the newly lost segments and one
//! more. The timer is set to the end of the wait of a segment that left with the latest delivered
//! one. The RFC takes the longest wait of the segments that left before it, which is at most that.

use crate::api::Delivery;
use crate::outstanding::scoreboard::Scoreboard;
use crate::outstanding::sent_segments::{SegmentState, SentSegment};
use narrows_common::{Duration, Time};
use std::collections::{BTreeSet, VecDeque};

/// The number of recoveries for which a widened window lasts.
const PERSISTS: u32 = 16;

/// The delivered segments, and the losses that they imply.
#[derive(Clone, Debug, Default)]
pub struct Detector {
    /// Departures in time order: the time, and the end of the segment. Entries that are not the
    /// latest departure of a segment in flight are skipped.
    departures: VecDeque<(Time, u64)>,
    /// The ends of lost segments that wait for retransmission.
    lost: BTreeSet<u64>,
    /// The latest departure that was delivered (RACK.xmit_ts, RACK.end_seq), and its round trip.
    latest: Option<(Time, u64)>,
    rtt: Duration,
    srtt: Duration,
    min_rtt: Option<Duration>,
    /// The highest end delivered (RACK.fack), now and before this ACK.
    fack: u64,
    fack_before: u64,
    has_seen_reordering: bool,
    /// What D-SACKs add to the window, in quarters of a round trip, and for how many recoveries.
    extra_quarters: u64,
    persists: u32,
    /// The next D-SACK counts once this is acknowledged.
    duplicate_round: u64,
    deadline: Option<Time>,
}

impl Detector {
    /// The segment that ends at `end` left.
    pub fn on_sent(&mut self, now: Time, end: u64) {
        self.departures.push_back((now, end));
        self.lost.remove(&end);
    }

    /// Steps 1 to 3: a segment has arrived.
    pub fn on_segment_delivered(&mut self, now: Time, sent: &SentSegment) {
        if sent.state == SegmentState::Lost {
            self.lost.remove(&sent.end);
        }
        if sent.end < self.fack_before && !sent.was_retransmitted {
            self.has_seen_reordering = true;
        }
        self.fack = self.fack.max(sent.end);
        let rtt = now.saturating_since(sent.at);
        // Too early to be the answer to a retransmission.
        if sent.was_retransmitted && self.min_rtt.is_some_and(|least| rtt < least) {
            return;
        }
        self.rtt = rtt;
        self.latest = self.latest.max(Some((sent.at, sent.end)));
    }

    /// Handles an ACK as a whole; `is_probe_twice` means that its D-SACK answers a tail probe.
    pub fn on_delivered(&mut self, board: &Scoreboard, delivery: &Delivery, is_probe_twice: bool) {
        self.fack_before = self.fack;
        self.srtt = delivery.srtt;
        self.min_rtt = (delivery.min_rtt != Duration::MAX).then_some(delivery.min_rtt);
        let counts = delivery.duplicate.is_some() && !is_probe_twice;
        if counts && board.una() >= self.duplicate_round {
            self.duplicate_round = board.nxt();
            self.extra_quarters += 1;
            self.persists = PERSISTS;
        }
    }

    /// Recovery is complete.
    pub fn on_recovery_exit(&mut self) {
        self.persists = self.persists.saturating_sub(1);
        if self.persists == 0 {
            self.extra_quarters = 0;
        }
    }

    fn window(&self, is_certain: bool) -> Duration {
        match self.min_rtt {
            Some(least) if self.has_seen_reordering || !is_certain => {
                least.mul_div_floor(1 + self.extra_quarters, 4).min(self.srtt)
            }
            _ => Duration::ZERO,
        }
    }

    /// Step 5: detects losses by `now`; returns their bytes. `is_certain` means that a loss is
    /// being repaired, or three segments are SACKed.
    pub fn detect(&mut self, board: &mut Scoreboard, now: Time, is_certain: bool) -> u64 {
        self.deadline = None;
        let Some(latest) = self.latest else { return 0 };
        let wait = self.rtt + self.window(is_certain);
        let mut newly_lost_bytes = 0;
        while let Some(&(at, end)) = self.departures.front() {
            let is_current = board.sent.get(end).is_some_and(|sent| {
                sent.end == end && sent.at == at && sent.state == SegmentState::InFlight
            });
            if is_current && (at, end) >= latest {
                break;
            }
            if is_current && at + wait > now {
                self.deadline = Some(latest.0 + wait);
                break;
            }
            self.departures.pop_front();
            if is_current {
                newly_lost_bytes += self.mark_lost(board, end);
            }
        }
        newly_lost_bytes
    }

    fn mark_lost(&mut self, board: &mut Scoreboard, end: u64) -> u64 {
        let bytes = board.sent.mark_lost(end).unwrap_or(0);
        self.lost.insert(end);
        bytes
    }

    /// The time-out expired (section 6.3): the first segment is lost, and so are segments that left
    /// long enough ago.
    pub fn on_timeout(&mut self, board: &mut Scoreboard, now: Time) {
        self.deadline = None;
        let mut wait = self.rtt + self.window(true);
        if board.is_reneged() {
            board.forget_sacked();
            board.sent.turn(SegmentState::Sacked, SegmentState::InFlight);
            wait = Duration::ZERO;
        }
        let first = board.sent.iter().next().map(|sent| sent.end);
        let is_lost = |sent: &&SentSegment| {
            sent.state == SegmentState::InFlight
                && (Some(sent.end) == first || sent.at + wait <= now)
        };
        let lost: Vec<u64> = board.sent.iter().filter(is_lost).map(|sent| sent.end).collect();
        for end in lost {
            self.mark_lost(board, end);
        }
    }

    /// Withdraws the losses; `is_reordered` if segments overtook one another.
    pub fn take_back(&mut self, board: &mut Scoreboard, is_reordered: bool) {
        self.has_seen_reordering |= is_reordered;
        board.sent.turn(SegmentState::Lost, SegmentState::InFlight);
        self.lost.clear();
        let in_flight = board.sent.iter().filter(|sent| sent.state == SegmentState::InFlight);
        let mut departures: Vec<_> = in_flight.map(|sent| (sent.at, sent.end)).collect();
        departures.sort_unstable();
        self.departures = departures.into();
    }

    /// The first lost segment that has not been retransmitted, `[start, end)`.
    pub fn next_lost(&self, board: &Scoreboard) -> Option<(u64, u64)> {
        let end = *self.lost.first()?;
        Some((board.sent.start_before(end), end))
    }

    /// When to call [`Detector::detect`] without an ACK.
    pub fn poll_timeout(&self) -> Option<Time> {
        self.deadline
    }
}
