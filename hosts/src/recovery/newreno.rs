//! NewReno (RFC 6582) on top of fast retransmit (RFC 5681 section 3.2) and limited transmit
//! (RFC 3042).
//!
//! RFC 6582 inflates cwnd. Here the inflation is a separate number, which a partial ACK may make
//! negative, so congestion control sees only its own window. The timer restarts at the first
//! partial ACK (section 4, "impatient"), or at each one (`newreno-slow`, "slow-but-steady"; ns-2's
//! `newreno_changes1_` 0). A full ACK leaves the window at ssthresh (section 3.2 step 3, option 2).
//! If any new ACK ends recovery, the rule is Reno: `reno.rs`.

use crate::api::Stage;
use crate::outstanding::scoreboard::Scoreboard;
use crate::recovery::rule::{
    NextSegment, Outcome, Recovery, Rule, Setup, resend_oldest, send_after_rto, send_new,
};
use narrows_common::Time;

/// The rule's entry in the list.
pub const RULE: Rule = Rule {
    name: "newreno",
    title: "fast retransmit and recovery with partial ACKs",
    reference: "RFC 6582, RFC 5681 section 3.2, RFC 3042",
    needs: &[],
    not_implemented: NOT_IMPLEMENTED,
    build: |setup| Box::new(NewReno::new(setup, PartialAck::RestartsTimerOnce)),
};

/// NewReno that restarts the timer at each partial ACK.
pub const SLOW_RULE: Rule = Rule {
    name: "newreno-slow",
    title: "NewReno, slow-but-steady: the timer restarts at each partial ACK",
    reference: "RFC 6582 section 4; ns-2.35 newreno_changes1_ 0",
    needs: &[],
    not_implemented: NOT_IMPLEMENTED,
    build: |setup| Box::new(NewReno::new(setup, PartialAck::RestartsTimer)),
};

const NOT_IMPLEMENTED: &[&str] = &[
    "the heuristics of RFC 6582 section 4 (timestamp, ACK ambiguity)",
    "ns-2's limit of two packets per ACK during recovery, and its permanent cut of cwnd by partial ACKs",
];

/// The meaning of a new ACK that leaves part of the lost window unacknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PartialAck {
    /// The loss is repaired (Reno).
    EndsRecovery,
    /// The next segment is lost; the first such ACK restarts the timer.
    RestartsTimerOnce,
    /// The next segment is lost; each such ACK restarts the timer.
    RestartsTimer,
}

/// The state of the rule.
#[derive(Debug)]
pub struct NewReno {
    setup: Setup,
    partial_ack: PartialAck,
    stage: Stage,
    dupacks: u32,
    /// The end of the data sent when the latest loss was detected (RFC 6582's recover, plus 1).
    recover: u64,
    /// The bytes that recovery adds to the window.
    inflation_bytes: i64,
    /// The segment at the left edge must be sent next.
    must_send_first: bool,
    had_partial_ack: bool,
}

impl NewReno {
    pub(super) fn new(setup: &Setup, partial_ack: PartialAck) -> Self {
        NewReno {
            setup: *setup,
            partial_ack,
            stage: Stage::Open,
            dupacks: 0,
            recover: 0,
            inflation_bytes: 0,
            must_send_first: false,
            had_partial_ack: false,
        }
    }

    fn mss(&self) -> i64 {
        self.setup.mss.into()
    }

    fn enter(&mut self, board: &mut Scoreboard) -> Outcome {
        self.stage = Stage::Recovery;
        self.recover = board.nxt();
        self.inflation_bytes = i64::from(self.dupacks) * self.mss();
        self.must_send_first = true;
        self.had_partial_ack = false;
        Outcome::LOSS
    }

    fn on_partial_ack(&mut self, acked_bytes: u64) -> Outcome {
        let acked_bytes = acked_bytes as i64;
        self.inflation_bytes -= acked_bytes;
        if acked_bytes >= self.mss() {
            self.inflation_bytes += self.mss();
        }
        self.must_send_first = true;
        let restarts_timer = self.partial_ack == PartialAck::RestartsTimer || !self.had_partial_ack;
        self.had_partial_ack = true;
        Outcome { restarts_timer, ..Outcome::NOTHING }
    }

    /// Duplicates of data sent before the last recovery or time-out start no recovery (section 3.2
    /// step 2; ns-2's `bugFix_`). RFC 5681's Reno has no such rule.
    fn may_enter(&self, board: &Scoreboard) -> bool {
        let is_textbook_reno =
            self.partial_ack == PartialAck::EndsRecovery && !self.setup.ns2_newreno;
        is_textbook_reno || board.una() > self.recover
    }
}

impl Recovery for NewReno {
    fn on_ack(&mut self, board: &mut Scoreboard, acked_bytes: u64) -> Outcome {
        let is_past = board.una() >= self.recover;
        match self.stage {
            Stage::Recovery if !is_past && self.partial_ack != PartialAck::EndsRecovery => {
                return self.on_partial_ack(acked_bytes);
            }
            Stage::Recovery => {
                self.stage = Stage::Open;
                self.dupacks = 0;
                self.inflation_bytes = 0;
                self.must_send_first = false;
                let may_grow = self.setup.ns2_newreno;
                return Outcome { is_repaired: true, may_grow, ..Outcome::PLAIN };
            }
            Stage::Loss if is_past => self.stage = Stage::Open,
            Stage::Loss | Stage::Open => {}
        }
        self.dupacks = 0;
        Outcome::PLAIN
    }

    fn on_duplicate_ack(&mut self, board: &mut Scoreboard, _newly_sacked_bytes: u64) -> Outcome {
        self.dupacks += 1;
        match self.stage {
            Stage::Recovery => self.inflation_bytes += self.mss(),
            Stage::Open if self.dupacks >= self.setup.dupack_threshold && self.may_enter(board) => {
                return self.enter(board);
            }
            Stage::Open | Stage::Loss => {}
        }
        Outcome::NOTHING
    }

    fn on_timeout(&mut self, board: &mut Scoreboard, _now: Time) {
        board.mark_all_lost();
        self.stage = Stage::Loss;
        self.recover = board.nxt();
        self.dupacks = 0;
        self.inflation_bytes = 0;
        self.must_send_first = false;
    }

    fn poll_send(&self, board: &Scoreboard, cwnd_bytes: u64, _has_new: bool) -> NextSegment {
        if self.must_send_first {
            return resend_oldest(board);
        }
        let extra_bytes = match self.stage {
            Stage::Loss => {
                let window_bytes = cwnd_bytes + self.setup.extra_after_loss_bytes(self.dupacks);
                return send_after_rto(board, self.setup.mss, window_bytes);
            }
            Stage::Recovery => self.inflation_bytes,
            Stage::Open => self.setup.limited_transmit_bytes(self.dupacks) as i64,
        };
        // Even a window deflated to zero admits one segment (RFC 5681 section 3.1).
        let window_bytes = cwnd_bytes.saturating_add_signed(extra_bytes).max(self.setup.mss.into());
        send_new(board, window_bytes)
    }

    fn on_retransmitted(&mut self, board: &mut Scoreboard, _start: u64, end: u64) {
        self.must_send_first = false;
        board.on_retransmitted(end);
    }

    fn stage(&self) -> Stage {
        self.stage
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    fn rule(sent: u64) -> (NewReno, Scoreboard) {
        let setup =
            Setup { mss: 1000, dupack_threshold: 3, limited_transmit: true, ns2_newreno: false };
        let mut board = Scoreboard::default();
        board.on_sent(1);
        board.on_cumulative_ack(1);
        board.on_sent(1 + sent * MSS);
        (NewReno::new(&setup, PartialAck::RestartsTimerOnce), board)
    }

    fn ack(rule: &mut NewReno, board: &mut Scoreboard, segments: u64) -> Outcome {
        let to = 1 + segments * MSS;
        let acked = to - board.una();
        board.on_cumulative_ack(to);
        rule.on_ack(board, acked)
    }

    fn room(rule: &NewReno, board: &Scoreboard, cwnd: u64) -> NextSegment {
        rule.poll_send(board, cwnd * MSS, true)
    }

    #[test]
    fn two_losses_in_a_window_of_ten_as_rfc_6582_has_it() {
        let (mut rule, mut board) = rule(10);
        // Segments 0 and 4 are lost: 8 duplicates arrive. cwnd is 10.
        assert_eq!(rule.on_duplicate_ack(&mut board, 0), Outcome::NOTHING);
        assert_eq!(
            room(&rule, &board, 10),
            NextSegment::New { room_bytes: MSS },
            "limited transmit"
        );
        board.on_sent(1 + 11 * MSS);
        rule.on_duplicate_ack(&mut board, 0);
        assert_eq!(room(&rule, &board, 10), NextSegment::New { room_bytes: MSS });
        board.on_sent(1 + 12 * MSS);
        assert!(rule.on_duplicate_ack(&mut board, 0).is_loss_found);
        assert_eq!(room(&rule, &board, 5), NextSegment::Retransmit { start: 1, end: 1 + 12 * MSS });
        rule.on_retransmitted(&mut board, 1, 1 + MSS);
        // ssthresh 5, 3 duplicates: 8 below the 12 outstanding.
        assert_eq!(room(&rule, &board, 5), NextSegment::New { room_bytes: 0 });
        for _ in 0..5 {
            rule.on_duplicate_ack(&mut board, 0);
        }
        // 5 + 8 = 13.
        assert_eq!(room(&rule, &board, 5), NextSegment::New { room_bytes: MSS });
        board.on_sent(1 + 13 * MSS);
        // A partial ACK for segments 0..3: minus 4, plus 1: 5 + 5 = 10 against 9 outstanding.
        let partial = ack(&mut rule, &mut board, 4);
        assert!(partial.restarts_timer && !partial.may_grow && !partial.is_repaired);
        assert_eq!(
            room(&rule, &board, 5),
            NextSegment::Retransmit { start: 1 + 4 * MSS, end: 1 + 13 * MSS }
        );
        rule.on_retransmitted(&mut board, 1 + 4 * MSS, 1 + 5 * MSS);
        assert_eq!(room(&rule, &board, 5), NextSegment::New { room_bytes: MSS });
        // A second partial ACK would not restart the timer; the full one ends recovery.
        assert!(!ack(&mut rule, &mut board, 6).restarts_timer);
        assert!(ack(&mut rule, &mut board, 12).is_repaired);
        assert_eq!(rule.stage(), Stage::Open);
        assert_eq!(room(&rule, &board, 5), NextSegment::New { room_bytes: 4 * MSS });
    }

    #[test]
    fn duplicates_of_what_was_sent_before_a_timeout_start_nothing() {
        let (mut rule, mut board) = rule(5);
        rule.on_timeout(&mut board, Time::ZERO);
        assert_eq!(room(&rule, &board, 1), NextSegment::Retransmit { start: 1, end: 1 + 5 * MSS });
        rule.on_retransmitted(&mut board, 1, 1 + MSS);
        assert_eq!(room(&rule, &board, 1), NextSegment::New { room_bytes: 0 });
        for _ in 0..5 {
            assert_eq!(rule.on_duplicate_ack(&mut board, 0), Outcome::NOTHING);
        }
        // The retransmission fills the gap: everything except the last segment has arrived.
        ack(&mut rule, &mut board, 4);
        assert_eq!(
            room(&rule, &board, 2),
            NextSegment::Retransmit { start: 1 + 4 * MSS, end: 1 + 5 * MSS }
        );
        rule.on_retransmitted(&mut board, 1 + 4 * MSS, 1 + 5 * MSS);
        ack(&mut rule, &mut board, 5);
        assert_eq!(rule.stage(), Stage::Open);
        // The ACK stops exactly at recover, so these still start no recovery.
        board.on_sent(1 + 8 * MSS);
        for _ in 0..5 {
            assert_eq!(rule.on_duplicate_ack(&mut board, 0), Outcome::NOTHING);
        }
    }
}
