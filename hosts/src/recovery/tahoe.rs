//! Tahoe: fast retransmit without fast recovery.
//!
//! The third duplicate ACK has the effect of a time-out, except that the timer does not back off.
//! The window restarts at one segment, and outstanding data is retransmitted from the left edge
//! (go-back-N) as the window allows. When the ACK jumps, data that arrived out of order is skipped.
//! Once per window: data sent before the last loss does not count.

use crate::api::Stage;
use crate::outstanding::scoreboard::Scoreboard;
use crate::recovery::rule::{
    NextSegment, Outcome, Recovery, Rule, Setup, send_after_rto, send_new,
};
use narrows_common::Time;

/// The rule's entry in the list.
pub const RULE: Rule = Rule {
    name: "tahoe",
    title: "fast retransmit, then slow start from one segment (go-back-N)",
    reference: "Jacobson, Congestion avoidance and control, SIGCOMM 1988; ns-2.35 Agent/TCP",
    needs: &[],
    not_implemented: &[],
    build: |setup| Box::new(Tahoe::new(setup)),
};

/// The state of the rule.
#[derive(Debug)]
pub struct Tahoe {
    setup: Setup,
    stage: Stage,
    dupacks: u32,
    /// The end of the data sent when the latest loss was detected.
    recover: u64,
}

impl Tahoe {
    fn new(setup: &Setup) -> Self {
        Tahoe { setup: *setup, stage: Stage::Open, dupacks: 0, recover: 0 }
    }

    fn go_back(&mut self, board: &mut Scoreboard) {
        board.mark_all_lost();
        self.stage = Stage::Loss;
        self.recover = board.nxt();
    }
}

impl Recovery for Tahoe {
    fn on_ack(&mut self, board: &mut Scoreboard, _acked_bytes: u64) -> Outcome {
        if board.una() >= self.recover {
            self.stage = Stage::Open;
        }
        self.dupacks = 0;
        Outcome::PLAIN
    }

    fn on_duplicate_ack(&mut self, board: &mut Scoreboard, _newly_sacked_bytes: u64) -> Outcome {
        self.dupacks += 1;
        if self.dupacks == self.setup.dupack_threshold && board.una() > self.recover {
            self.go_back(board);
            return Outcome { restarts_window: true, ..Outcome::LOSS };
        }
        Outcome::NOTHING
    }

    fn on_timeout(&mut self, board: &mut Scoreboard, _now: Time) {
        self.go_back(board);
        self.dupacks = 0;
    }

    fn poll_send(&self, board: &Scoreboard, cwnd_bytes: u64, _has_new: bool) -> NextSegment {
        if self.stage == Stage::Loss {
            let window_bytes = cwnd_bytes + self.setup.extra_after_loss_bytes(self.dupacks);
            return send_after_rto(board, self.setup.mss, window_bytes);
        }
        let window_bytes = cwnd_bytes + self.setup.limited_transmit_bytes(self.dupacks);
        send_new(board, window_bytes)
    }

    fn on_retransmitted(&mut self, board: &mut Scoreboard, _start: u64, end: u64) {
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

    #[test]
    fn one_loss_in_ten_goes_back_and_skips_what_had_arrived() {
        let setup =
            Setup { mss: 1000, dupack_threshold: 3, limited_transmit: false, ns2_newreno: false };
        let mut board = Scoreboard::default();
        board.on_sent(1);
        board.on_cumulative_ack(1);
        board.on_sent(1 + 10 * MSS);
        let mut rule = Tahoe::new(&setup);
        for n in 1..=9 {
            let outcome = rule.on_duplicate_ack(&mut board, 0);
            assert_eq!((outcome.is_loss_found, outcome.restarts_window), (n == 3, n == 3));
        }
        let again = NextSegment::Retransmit { start: 1, end: 1 + 10 * MSS };
        assert_eq!(rule.poll_send(&board, MSS, true), again);
        rule.on_retransmitted(&mut board, 1, 1 + MSS);
        assert_eq!(rule.poll_send(&board, MSS, true), NextSegment::New { room_bytes: 0 });
        // The gap is closed: none of the nine is retransmitted.
        board.on_cumulative_ack(1 + 10 * MSS);
        assert!(rule.on_ack(&mut board, 10 * MSS).may_grow);
        assert_eq!(rule.poll_send(&board, 2 * MSS, true), NextSegment::New { room_bytes: 2 * MSS });
    }
}
