//! The recovery of ns-2's Agent/TCP/Linux (Wei, Cao 2006), which follows Linux 2.6.22: losses by
//! forward acknowledgment, and a window that shrinks by a segment every second ACK.
//!
//! A segment is lost if the fourth segment above it is SACKed (threshold 3, plus one). A
//! retransmission is lost if data sent after it is SACKed, or a retransmission more than four later
//! has arrived. Data in flight is sent data that is neither SACKed nor lost.
//!
//! The window starts at its former value. It is at most one segment above the data in flight, and
//! each departure lowers it by one: *rate halving*. Its floor is the window after the loss
//! (`linux-ns2`). Recovery ends when all data sent before the loss was detected is acknowledged.
//! The end of recovery resets the scoreboard; a time-out does not. Every ACK restarts the timer.
//!
//! Modules of 2.6.22 that set `min_cwnd` (reno, highspeed, hybla, illinois, scalable, vegas, yeah,
//! compound; not bic, cubic, htcp and veno) have half of that window as the floor
//! (`linux-ns2-min`). Their recovery ends with a window three segments (tcp_max_burst) above the
//! data in flight, and then slow-starts to its threshold.
//!
//! Source: ns-2.35 tcp-linux.cc, scoreboard1.cc. Windows are in whole segments.

use crate::api::{Delivery, Need, Stage};
use crate::outstanding::scoreboard::Scoreboard;
use crate::outstanding::sent_segments::{SegmentState, SentSegment};
use crate::recovery::rule::{NextSegment, Outcome, Recovery, Rule, Setup, Transmission};
use narrows_common::Time;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The rule's entry in the list.
pub const RULE: Rule = Rule {
    name: "linux-ns2",
    title: "rate halving down to the window after the loss, as in ns-2's Agent/TCP/Linux",
    reference: "ns-2.35 Agent/TCP/Linux; Wei, Cao, NS-2 TCP-Linux, WNS2 2006",
    needs: &[Need::Sack, Need::SegmentTimes],
    not_implemented: &["three more segments in flight at the end of a time-out's repair"],
    build: |setup| Box::new(RateHalving::new(setup, false)),
};

/// The entry of the rule for modules with `min_cwnd`.
pub const MIN_RULE: Rule = Rule {
    name: "linux-ns2-min",
    title: "rate halving down to half of the window after the loss, as with most modules of Linux 2.6.22",
    not_implemented: &["setting the window to the threshold at the end of a time-out's repair"],
    build: |setup| Box::new(RateHalving::new(setup, true)),
    ..RULE
};

/// The most segments that may leave together after recovery (tcp_max_burst).
const BURST: u64 = 3;

/// A retransmitted segment in flight.
#[derive(Clone, Copy, Debug)]
struct Resent {
    /// Its number among the retransmissions.
    number: u64,
    /// The highest position sent when it left.
    nxt: u64,
}

/// The state of the rule.
#[derive(Debug)]
pub struct RateHalving {
    setup: Setup,
    /// `linux-ns2-min`.
    halves_floor: bool,
    stage: Stage,
    /// The end of the data sent when the latest loss was detected.
    recover: u64,
    /// Below this, only retransmissions are in flight.
    examined: u64,
    /// The ends of lost segments that wait for retransmission.
    lost: BTreeSet<u64>,
    /// Retransmissions by their end, and in order as number and end. An entry of the latter counts
    /// only if the former has it.
    resent: BTreeMap<u64, Resent>,
    resent_order: VecDeque<(u64, u64)>,
    next_number: u64,
    /// The number of the latest one that has arrived.
    latest_number: Option<u64>,
    /// The decreasing window, and its floor; no floor if the window was not cut.
    halving_bytes: u64,
    floor_bytes: Option<u64>,
    /// This ACK reports a loss.
    has_found: bool,
}

impl RateHalving {
    fn new(setup: &Setup, halves_floor: bool) -> Self {
        RateHalving {
            setup: *setup,
            halves_floor,
            stage: Stage::Open,
            recover: 0,
            examined: 0,
            lost: BTreeSet::new(),
            resent: BTreeMap::new(),
            resent_order: VecDeque::new(),
            next_number: 0,
            latest_number: None,
            halving_bytes: 0,
            floor_bytes: None,
            has_found: false,
        }
    }

    fn mss(&self) -> u64 {
        self.setup.mss.into()
    }

    fn whole(&self, bytes: u64) -> u64 {
        bytes - bytes % self.mss()
    }

    fn mark_lost(&mut self, board: &mut Scoreboard, end: u64) {
        if board.sent.mark_lost(end).is_some() {
            self.lost.insert(end);
            self.has_found = true;
        }
    }

    /// Marks the segments that the SACKs show to be lost.
    fn detect(&mut self, board: &mut Scoreboard) {
        let (fack, allowed) = (board.fack(), u64::from(self.setup.dupack_threshold) + 1);
        while let Some(&(number, end)) = self.resent_order.front() {
            let resent = self.resent.get(&end).filter(|resent| resent.number == number).copied();
            let is_overtaken = |resent: Resent| {
                resent.nxt < fack || self.latest_number.is_some_and(|n| number + allowed < n)
            };
            if resent.is_some_and(|resent| !is_overtaken(resent)) {
                break;
            }
            self.resent_order.pop_front();
            if resent.is_some() {
                self.resent.remove(&end);
                self.mark_lost(board, end);
            }
        }
        self.examined = self.examined.max(board.una());
        while self.examined + (allowed + 1) * self.mss() <= fack {
            let Some(end) = board.sent.get(self.examined + 1).map(|sent| sent.end) else { break };
            self.mark_lost(board, end);
            self.examined = end;
        }
    }

    fn forget_resent(&mut self) {
        self.resent.clear();
        self.resent_order.clear();
        (self.next_number, self.latest_number) = (0, None);
    }

    /// Ends the repair, and forgets the SACKs beyond it.
    fn open(&mut self, board: &mut Scoreboard) {
        self.stage = Stage::Open;
        if board.sacked_bytes() > 0 {
            board.forget_sacked();
            board.sent.turn(SegmentState::Sacked, SegmentState::InFlight);
        }
        if !self.lost.is_empty() {
            board.sent.turn(SegmentState::Lost, SegmentState::InFlight);
            self.lost.clear();
        }
        self.forget_resent();
        self.examined = board.una();
        (self.halving_bytes, self.floor_bytes) = (0, None);
    }

    fn on_any_ack(&mut self, board: &mut Scoreboard, moved: bool) -> Outcome {
        let was_recovering = self.stage == Stage::Recovery;
        let mut outcome = Outcome {
            may_grow: moved && !was_recovering,
            restarts_timer: true,
            clears_backoff: moved,
            ..Outcome::NOTHING
        };
        let has_found = core::mem::take(&mut self.has_found);
        if self.stage != Stage::Open && board.una() >= self.recover {
            self.open(board);
            let burst_bytes = self.pipe_bytes(board) + BURST * self.mss();
            let is_limited = self.halves_floor && was_recovering;
            outcome.is_repaired = was_recovering;
            outcome.most_window_bytes = is_limited.then_some(burst_bytes);
        } else if has_found && !was_recovering {
            self.begin(board);
            outcome.is_loss_found = true;
        }
        self.halving_bytes = self.halving_bytes.min(self.pipe_bytes(board) + self.mss());
        outcome
    }

    fn begin(&mut self, board: &Scoreboard) {
        self.stage = Stage::Recovery;
        self.recover = board.nxt();
        (self.halving_bytes, self.floor_bytes) = (0, None);
    }
}

impl Recovery for RateHalving {
    fn on_sent(&mut self, board: &Scoreboard, _transmission: &Transmission<'_>) {
        let in_flight_bytes = self.pipe_bytes(board);
        let lowered = in_flight_bytes.saturating_sub(self.mss()).max(self.mss());
        self.halving_bytes = self.halving_bytes.min(lowered);
    }

    fn on_segment_delivered(&mut self, _now: Time, _start: u64, sent: &SentSegment) {
        if sent.state == SegmentState::Lost {
            self.lost.remove(&sent.end);
        }
        if let Some(resent) = self.resent.remove(&sent.end) {
            self.latest_number = self.latest_number.max(Some(resent.number));
        }
    }

    fn on_delivered(&mut self, board: &mut Scoreboard, _delivery: &Delivery) {
        self.detect(board);
    }

    fn on_ack(&mut self, board: &mut Scoreboard, _acked_bytes: u64) -> Outcome {
        self.on_any_ack(board, true)
    }

    fn on_duplicate_ack(&mut self, board: &mut Scoreboard, _newly_sacked_bytes: u64) -> Outcome {
        self.on_any_ack(board, false)
    }

    fn on_window_cut(&mut self, board: &Scoreboard, before_bytes: u64, cwnd_bytes: u64) {
        if self.stage == Stage::Open {
            self.begin(board);
        }
        self.halving_bytes = self.whole(before_bytes).min(self.pipe_bytes(board) + self.mss());
        let share = if self.halves_floor { 2 } else { 1 };
        self.floor_bytes = Some(self.whole(self.whole(cwnd_bytes) / share));
    }

    fn on_timeout(&mut self, board: &mut Scoreboard, _now: Time) {
        if board.is_reneged() {
            board.forget_sacked();
            board.sent.turn(SegmentState::Sacked, SegmentState::InFlight);
        }
        let in_flight = board.sent.iter().filter(|sent| sent.state == SegmentState::InFlight);
        let ends: Vec<u64> = in_flight.map(|sent| sent.end).collect();
        for end in ends {
            self.mark_lost(board, end);
        }
        self.has_found = false;
        self.forget_resent();
        self.stage = Stage::Loss;
        (self.recover, self.examined) = (board.nxt(), board.nxt());
        (self.halving_bytes, self.floor_bytes) = (0, None);
    }

    fn poll_send(&self, board: &Scoreboard, cwnd_bytes: u64, _has_new: bool) -> NextSegment {
        let window_bytes = self.floor_bytes.unwrap_or(self.whole(cwnd_bytes));
        let window_bytes = window_bytes.max(self.halving_bytes).max(self.mss());
        let room_bytes = window_bytes.saturating_sub(self.pipe_bytes(board));
        match self.lost.first() {
            Some(&end) if room_bytes > 0 => {
                NextSegment::Retransmit { start: board.sent.start_before(end), end }
            }
            Some(_) => NextSegment::New { room_bytes: 0 },
            None => NextSegment::New { room_bytes },
        }
    }

    fn on_retransmitted(&mut self, board: &mut Scoreboard, _start: u64, end: u64) {
        self.lost.remove(&end);
        let number = self.next_number;
        self.resent.insert(end, Resent { number, nxt: board.nxt() });
        self.resent_order.push_back((number, end));
        self.next_number += 1;
    }

    fn stage(&self) -> Stage {
        self.stage
    }

    fn pipe_bytes(&self, board: &Scoreboard) -> u64 {
        board.sent.in_flight_bytes()
    }

    fn marks_losses(&self) -> bool {
        true
    }
}
