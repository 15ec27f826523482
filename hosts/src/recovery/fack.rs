//! Forward acknowledgment (Mathis and Mahdavi, SIGCOMM 1996): an octet below the highest SACKed one
//! that is not SACKed itself has left the network.
//!
//! With snd.fack the end of the highest SACKed range, awnd = snd.nxt - snd.fack + unaccounted
//! retransmissions. A segment may be sent while awnd is below the window. Recovery starts when
//! snd.fack - snd.una > 3 segments, regardless of the number of duplicates. It ends when everything
//! sent before its start is acknowledged and nothing is SACKed.
//!
//! The paper halves the window (`fack-half`). ns-2.35 restarts it at one segment and lets every ACK
//! of recovery increase it, including duplicates (`fack`). Between the first SACK and recovery ns-2
//! neither sends nor grows. From the start of recovery on, every ACK restarts its timer and is a
//! round-trip sample.
//!
//! Rampdown (`fack-rampdown`, ns-2's `rampdown_`) spreads the cut: it adds half of the bytes in
//! flight at the loss to the window, minus half of what snd.fack has advanced since. With
//! overdamping (`fack-overdamping`, plus `ss-div4_`) a loss in slow start halves the window before
//! the cut, and the factors are three quarters instead of one half.
//!
//! If a SACK reports data sent after the retransmission at the left edge, that retransmission was
//! lost. Nothing is then sent until the time-out, which discards all SACKs.

use crate::api::{Delivery, Need, Stage};
use crate::outstanding::scoreboard::Scoreboard;
use crate::recovery::rule::{NextSegment, Outcome, Recovery, Rule, Setup, send_after_rto};
use narrows_common::Time;
use std::collections::VecDeque;

/// The entry of ns-2's rule.
pub const RULE: Rule = Rule {
    name: "fack",
    title: "forward acknowledgment as in ns-2: the window restarts at one segment",
    reference: "ns-2.35 Agent/TCP/Fack; Mathis and Mahdavi, SIGCOMM 1996",
    needs: &[Need::Sack, Need::SegmentTimes],
    not_implemented: &[],
    build: |setup| Box::new(Fack::new(setup, Cut::Restart)),
};

/// ns-2's rule with `rampdown_`.
pub const RAMPDOWN_RULE: Rule = Rule {
    name: "fack-rampdown",
    title: "forward acknowledgment as in ns-2 with rampdown: spreads the cut over a round trip",
    build: |setup| Box::new(Fack::new(setup, Cut::Rampdown { overdamps: false })),
    ..RULE
};

/// ns-2's rule with `rampdown_` and `ss-div4_`.
pub const OVERDAMPING_RULE: Rule = Rule {
    name: "fack-overdamping",
    title: "forward acknowledgment as in ns-2 with rampdown; a loss in slow start leaves a quarter",
    build: |setup| Box::new(Fack::new(setup, Cut::Rampdown { overdamps: true })),
    ..RULE
};

/// The entry of the paper's rule.
pub const HALF_RULE: Rule = Rule {
    name: "fack-half",
    title: "forward acknowledgment as in the paper: halves the window",
    reference: "Mathis and Mahdavi, Forward acknowledgement, SIGCOMM 1996",
    needs: &[Need::Sack],
    not_implemented: &["rampdown and overdamping; here ns-2's rule has them"],
    build: |setup| Box::new(Fack::new(setup, Cut::Half)),
};

/// The effect of a loss on the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cut {
    /// Halves it; no growth until the loss is repaired.
    Half,
    /// Restarts it at one segment; every ACK increases it.
    Restart,
    /// Like `Restart`, plus rampdown's share.
    Rampdown {
        /// A loss in slow start sets the threshold to a quarter.
        overdamps: bool,
    },
}

/// The state of the rule.
#[derive(Debug)]
pub struct Fack {
    setup: Setup,
    cut: Cut,
    /// The window is at or below its threshold.
    is_slow_start: bool,
    /// The highest SACKed octet at the latest ACK, and the bytes that rampdown adds to the window.
    /// Each byte by which the former advances reduces the latter by `trim_share`.
    fack: u64,
    trim_bytes: f64,
    trim_share: f64,
    stage: Stage,
    recover: u64,
    must_send_first: bool,
    /// Unacknowledged retransmissions: the end of each, and the highest position sent when it left.
    resent: VecDeque<(u64, u64)>,
    /// A retransmission was lost, so only a time-out can repair it.
    is_frozen: bool,
}

impl Fack {
    fn new(setup: &Setup, cut: Cut) -> Self {
        Fack {
            setup: *setup,
            cut,
            is_slow_start: true,
            fack: 0,
            trim_bytes: 0.0,
            trim_share: 0.0,
            stage: Stage::Open,
            recover: 0,
            must_send_first: false,
            resent: VecDeque::new(),
            is_frozen: false,
        }
    }

    fn restarts_window(&self) -> bool {
        self.cut != Cut::Half
    }

    /// Evaluates the SACKs; starts recovery if they show a loss.
    fn take_sacks(&mut self, board: &mut Scoreboard, plain: Outcome) -> Outcome {
        if self.stage == Stage::Loss {
            return plain;
        }
        // Below the highest SACKed range everything not SACKed is lost.
        board.update_lost_edge(1, self.setup.mss);
        let fack = board.fack();
        let advance_bytes = fack.saturating_sub(core::mem::replace(&mut self.fack, fack));
        self.trim_bytes = (self.trim_bytes - advance_bytes as f64 * self.trim_share).max(0.0);
        let mss = u64::from(self.setup.mss);
        if self.stage == Stage::Open {
            let has_gap = fack - board.una() > u64::from(self.setup.dupack_threshold) * mss;
            return if has_gap { self.enter(board) } else { plain };
        }
        let was_lost_again = |&(end, sent_to): &(u64, u64)| {
            board.una() < end && end - board.una() <= mss && sent_to < fack
        };
        self.is_frozen |= self.resent.front().is_some_and(was_lost_again);
        plain
    }

    /// ns-2 neither sends nor grows between the first SACK and recovery.
    fn holds_back(&self, board: &Scoreboard) -> bool {
        self.restarts_window() && self.stage == Stage::Open && board.sacked_bytes() > 0
    }

    fn enter(&mut self, board: &mut Scoreboard) -> Outcome {
        self.stage = Stage::Recovery;
        self.recover = board.nxt();
        self.must_send_first = true;
        self.resent.clear();
        board.restart_retransmission();
        let mut is_overdamped = false;
        if let Cut::Rampdown { overdamps } = self.cut {
            is_overdamped = overdamps && self.is_slow_start;
            self.trim_share = if is_overdamped { 0.75 } else { 0.5 };
            self.trim_bytes = (board.nxt() - board.fack()) as f64 * self.trim_share;
        }
        Outcome { restarts_window: self.restarts_window(), is_overdamped, ..Outcome::LOSS }
    }
}

impl Recovery for Fack {
    fn on_delivered(&mut self, _board: &mut Scoreboard, delivery: &Delivery) {
        let mss = u64::from(self.setup.mss);
        self.is_slow_start = delivery.cwnd_bytes <= delivery.ssthresh_bytes.saturating_add(mss / 2);
    }

    fn on_ack(&mut self, board: &mut Scoreboard, _acked_bytes: u64) -> Outcome {
        while self.resent.front().is_some_and(|&(end, _)| end <= board.una()) {
            self.resent.pop_front();
        }
        let is_past = board.una() >= self.recover;
        match self.stage {
            Stage::Recovery if is_past && board.sacked_bytes() == 0 => {
                self.stage = Stage::Open;
                self.must_send_first = false;
                self.is_frozen = false;
                self.trim_bytes = 0.0;
                let may_grow = self.restarts_window();
                return Outcome { is_repaired: true, may_grow, ..Outcome::PLAIN };
            }
            Stage::Loss if is_past => self.stage = Stage::Open,
            _ => {}
        }
        let is_growing = self.restarts_window() || self.stage != Stage::Recovery;
        let may_grow = is_growing && !self.holds_back(board);
        self.take_sacks(board, Outcome { may_grow, ..Outcome::PLAIN })
    }

    fn on_duplicate_ack(&mut self, board: &mut Scoreboard, _newly_sacked_bytes: u64) -> Outcome {
        let may_grow = self.restarts_window() && self.stage != Stage::Open;
        let restarts_timer = self.restarts_window() && self.stage != Stage::Loss;
        self.take_sacks(board, Outcome { may_grow, restarts_timer, ..Outcome::NOTHING })
    }

    fn on_timeout(&mut self, board: &mut Scoreboard, _now: Time) {
        board.forget_sacked();
        board.mark_all_lost();
        self.stage = Stage::Loss;
        self.recover = board.nxt();
        self.must_send_first = false;
        self.resent.clear();
        self.is_frozen = false;
        self.trim_bytes = 0.0;
    }

    fn poll_send(&self, board: &Scoreboard, cwnd_bytes: u64, _has_new: bool) -> NextSegment {
        if self.must_send_first {
            return NextSegment::Retransmit { start: board.una(), end: board.first_hole_end() };
        }
        let window_bytes = cwnd_bytes + self.trim_bytes as u64;
        let room_bytes = window_bytes.saturating_sub(board.pipe_bytes());
        match self.stage {
            Stage::Loss => send_after_rto(board, self.setup.mss, cwnd_bytes),
            Stage::Recovery if self.is_frozen => NextSegment::New { room_bytes: 0 },
            Stage::Recovery => match board.next_lost_hole() {
                Some((start, end)) if room_bytes >= self.setup.mss.into() => {
                    NextSegment::Retransmit { start, end }
                }
                Some(_) => NextSegment::New { room_bytes: 0 },
                None => NextSegment::New { room_bytes },
            },
            Stage::Open if self.holds_back(board) => NextSegment::New { room_bytes: 0 },
            Stage::Open => NextSegment::New { room_bytes },
        }
    }

    fn on_retransmitted(&mut self, board: &mut Scoreboard, _start: u64, end: u64) {
        self.must_send_first = false;
        if self.stage == Stage::Recovery {
            self.resent.push_back((end, board.nxt()));
        }
        board.on_retransmitted(end);
    }

    fn stage(&self) -> Stage {
        self.stage
    }

    fn samples_every_ack(&self, board: &Scoreboard) -> bool {
        self.restarts_window() && (self.stage != Stage::Open || board.sacked_bytes() > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    fn at(segment: u64) -> u64 {
        1 + segment * MSS
    }

    fn sack(rule: &mut Fack, board: &mut Scoreboard, from: u64, to: u64) -> Outcome {
        let newly = board.on_sacked(at(from), at(to));
        rule.on_duplicate_ack(board, newly)
    }

    /// Ten segments sent, 0 and 2 lost; 1 and 3 are SACKed.
    fn recovering(cut: Cut) -> (Fack, Scoreboard) {
        let setup =
            Setup { mss: 1000, dupack_threshold: 3, limited_transmit: true, ns2_newreno: true };
        let mut board = Scoreboard::default();
        board.on_sent(1);
        board.on_cumulative_ack(1);
        board.on_sent(at(10));
        let mut rule = Fack::new(&setup, cut);
        let restarts_timer = cut != Cut::Half;
        let waits = Outcome { restarts_timer, ..Outcome::NOTHING };
        assert_eq!(sack(&mut rule, &mut board, 1, 2), waits);
        // snd.fack - snd.una is 4 segments: the second duplicate suffices.
        let outcome = sack(&mut rule, &mut board, 3, 4);
        assert_eq!((outcome.is_loss_found, outcome.restarts_window), (true, cut != Cut::Half));
        rule.on_retransmitted(&mut board, at(0), at(1));
        (rule, board)
    }

    #[test]
    fn awnd_admits_what_the_paper_says() {
        let (mut rule, mut board) = recovering(Cut::Half);
        // awnd: 10 - 4 + 1 = 7 segments.
        assert_eq!(rule.poll_send(&board, 7 * MSS, true), NextSegment::New { room_bytes: 0 });
        assert!(!sack(&mut rule, &mut board, 3, 5).may_grow);
        assert_eq!(
            rule.poll_send(&board, 7 * MSS, true),
            NextSegment::Retransmit { start: at(2), end: at(3) }
        );
        rule.on_retransmitted(&mut board, at(2), at(3));
        // 10 - 5 + 2 = 7 again.
        assert_eq!(rule.poll_send(&board, 8 * MSS, true), NextSegment::New { room_bytes: MSS });
        board.on_cumulative_ack(at(10));
        assert!(rule.on_ack(&mut board, 10 * MSS).is_repaired);
    }

    #[test]
    fn fack_rampdown_worked_by_hand() {
        let (mut rule, mut board) = recovering(Cut::Rampdown { overdamps: false });
        // 10 sent, snd.fack 4: half of the 6 in flight is 3 segments. With cwnd 1 the window is 4,
        // and awnd is 6 + 1.
        assert_eq!(rule.poll_send(&board, MSS, true), NextSegment::New { room_bytes: 0 });
        // Each SACKed segment removes half a segment: after four more, 1 of the 3 remains; awnd is
        // 2 + 1.
        sack(&mut rule, &mut board, 3, 8);
        assert_eq!(
            rule.poll_send(&board, 3 * MSS, true),
            NextSegment::Retransmit { start: at(2), end: at(3) }
        );
        assert_eq!(rule.poll_send(&board, 2 * MSS, true), NextSegment::New { room_bytes: 0 });
    }

    #[test]
    fn fack_overdamping_in_slow_start_worked_by_hand() {
        // Three quarters of the 6 in flight, and three quarters per segment.
        let (rule, board) = recovering(Cut::Rampdown { overdamps: true });
        assert_eq!(rule.poll_send(&board, 3 * MSS, true), NextSegment::New { room_bytes: 0 });
        assert_eq!(rule.trim_bytes, 4.5 * MSS as f64);
    }

    #[test]
    fn a_lost_retransmission_waits_for_the_timeout() {
        let (mut rule, mut board) = recovering(Cut::Restart);
        assert!(sack(&mut rule, &mut board, 3, 10).may_grow);
        rule.on_retransmitted(&mut board, at(2), at(3));
        board.on_sent(at(11));
        assert_eq!(rule.poll_send(&board, 9 * MSS, true), NextSegment::New { room_bytes: 6 * MSS });
        // Segment 10 left after the retransmission of 0 and arrived before it.
        sack(&mut rule, &mut board, 10, 11);
        assert_eq!(rule.poll_send(&board, 9 * MSS, true), NextSegment::New { room_bytes: 0 });
        rule.on_timeout(&mut board, Time::ZERO);
        assert_eq!(
            rule.poll_send(&board, MSS, true),
            NextSegment::Retransmit { start: at(0), end: at(11) }
        );
    }
}
