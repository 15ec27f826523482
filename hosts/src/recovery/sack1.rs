//! SACK recovery of ns-2's Sack1 (Fall and Floyd 1996): the pipe is counted, not derived.
//!
//! Recovery starts at the third duplicate ACK with new information. The pipe is then the data
//! outstanding minus those three segments. Each ACK subtracts one segment, a partial ACK two, and
//! each sent segment adds one. While the pipe is below the window's whole segments, the sender
//! sends the next hole below the highest SACKed segment; one SACKed segment above it suffices.
//! Without a hole it sends new data. A partial ACK restarts the timer and ends its back-off.
//!
//! There is no rescue retransmission. A lost retransmission needs a time-out, and a time-out
//! discards all SACKs. FullTcp's rule (`full-sack`) differs in one point: the ACK that ends
//! recovery also increases the window.

use crate::api::{Need, Stage};
use crate::outstanding::scoreboard::Scoreboard;
use crate::recovery::rule::{
    NextSegment, Outcome, Recovery, Rule, Setup, send_after_rto, send_new,
};
use narrows_common::Time;

/// The rule's entry in the list.
pub const RULE: Rule = Rule {
    name: "sack1",
    title: "selective acknowledgments with a counted pipe, as in ns-2",
    reference: "ns-2.35 Agent/TCP/Sack1; Fall and Floyd, CCR 26(3) 1996",
    needs: &[Need::Sack],
    not_implemented: &["ns-2's partial_ack_ (two segments per partial ACK)", "numdupacksFrac_"],
    build: |setup| Box::new(Sack1::new(setup, false)),
};

/// The entry of FullTcp's rule.
pub const FULL_RULE: Rule = Rule {
    name: "full-sack",
    title: "selective acknowledgments with a counted pipe, as in ns-2's FullTcp",
    reference: "ns-2.35 Agent/TCP/FullTcp/Sack",
    not_implemented: &["counting duplicates without new information"],
    build: |setup| Box::new(Sack1::new(setup, true)),
    ..RULE
};

/// The state of the rule.
#[derive(Debug)]
pub struct Sack1 {
    setup: Setup,
    grows_at_exit: bool,
    stage: Stage,
    dupacks: u32,
    /// The end of the data sent when the latest loss was detected; 0 after its repair.
    recover: u64,
    must_send_first: bool,
    /// The pipe in bytes, without new data sent since the start of recovery.
    pipe_bytes: i64,
    /// Nothing has been acknowledged since the latest time-out: duplicates do not count.
    has_just_timed_out: bool,
}

impl Sack1 {
    fn new(setup: &Setup, grows_at_exit: bool) -> Self {
        Sack1 {
            setup: *setup,
            grows_at_exit,
            stage: Stage::Open,
            dupacks: 0,
            recover: 0,
            must_send_first: false,
            pipe_bytes: 0,
            has_just_timed_out: false,
        }
    }

    fn mss(&self) -> i64 {
        self.setup.mss.into()
    }

    fn enter(&mut self, board: &mut Scoreboard) -> Outcome {
        self.stage = Stage::Recovery;
        self.recover = board.nxt();
        self.must_send_first = true;
        self.pipe_bytes = board.flight_bytes() as i64 - i64::from(self.dupacks) * self.mss();
        board.restart_retransmission();
        Outcome::LOSS
    }

    /// Whole segments of the window that the pipe leaves free, in bytes.
    fn room_bytes(&self, board: &Scoreboard, cwnd_bytes: u64) -> u64 {
        let sent_since = (board.nxt() - self.recover) as i64;
        let pipe_bytes = (self.pipe_bytes + sent_since).max(0) as u64;
        let whole_bytes = cwnd_bytes - cwnd_bytes % u64::from(self.setup.mss);
        whole_bytes.saturating_sub(pipe_bytes)
    }
}

impl Recovery for Sack1 {
    fn on_ack(&mut self, board: &mut Scoreboard, _acked_bytes: u64) -> Outcome {
        self.has_just_timed_out = false;
        let is_past = board.una() >= self.recover;
        if self.stage == Stage::Recovery && !is_past {
            self.pipe_bytes -= 2 * self.mss();
            return Outcome { restarts_timer: true, clears_backoff: true, ..Outcome::NOTHING };
        }
        self.dupacks = 0;
        board.forget_sacked();
        match self.stage {
            Stage::Recovery => {
                self.stage = Stage::Open;
                self.recover = 0;
                self.must_send_first = false;
                let may_grow = self.grows_at_exit;
                return Outcome { is_repaired: true, may_grow, ..Outcome::PLAIN };
            }
            Stage::Loss if is_past => self.stage = Stage::Open,
            Stage::Loss | Stage::Open => {}
        }
        Outcome::PLAIN
    }

    fn on_duplicate_ack(&mut self, board: &mut Scoreboard, newly_sacked_bytes: u64) -> Outcome {
        match self.stage {
            Stage::Recovery => self.pipe_bytes -= self.mss(),
            Stage::Loss if self.has_just_timed_out => board.forget_sacked(),
            Stage::Loss | Stage::Open if newly_sacked_bytes == 0 => {}
            Stage::Loss => {
                board.forget_sacked();
                self.dupacks += 1;
            }
            Stage::Open => {
                self.dupacks += 1;
                if self.dupacks == self.setup.dupack_threshold && board.una() > self.recover {
                    return self.enter(board);
                }
            }
        }
        Outcome::NOTHING
    }

    fn on_timeout(&mut self, board: &mut Scoreboard, _now: Time) {
        board.forget_sacked();
        board.mark_all_lost();
        self.stage = Stage::Loss;
        self.recover = board.nxt();
        self.dupacks = 0;
        self.must_send_first = false;
        self.has_just_timed_out = true;
    }

    fn poll_send(&self, board: &Scoreboard, cwnd_bytes: u64, _has_new: bool) -> NextSegment {
        if self.must_send_first {
            return NextSegment::Retransmit { start: board.una(), end: board.first_hole_end() };
        }
        match self.stage {
            Stage::Open => {
                let window_bytes = cwnd_bytes + self.setup.limited_transmit_bytes(self.dupacks);
                send_new(board, window_bytes)
            }
            Stage::Loss => {
                let window_bytes = cwnd_bytes + self.setup.extra_after_loss_bytes(self.dupacks);
                send_after_rto(board, self.setup.mss, window_bytes)
            }
            Stage::Recovery => {
                let room_bytes = self.room_bytes(board, cwnd_bytes);
                match board.next_hole_below_sacked() {
                    Some((start, end)) if room_bytes > 0 => NextSegment::Retransmit { start, end },
                    _ => NextSegment::New { room_bytes },
                }
            }
        }
    }

    fn on_retransmitted(&mut self, board: &mut Scoreboard, _start: u64, end: u64) {
        if self.must_send_first {
            self.must_send_first = false;
        } else {
            self.pipe_bytes += self.mss();
        }
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

    fn at(segment: u64) -> u64 {
        1 + segment * MSS
    }

    #[test]
    fn the_pipe_counts_acks_and_segments() {
        let setup =
            Setup { mss: 1000, dupack_threshold: 3, limited_transmit: true, ns2_newreno: true };
        let mut board = Scoreboard::default();
        board.on_sent(1);
        board.on_cumulative_ack(1);
        board.on_sent(at(10));
        let mut rule = Sack1::new(&setup, false);
        let sack = |rule: &mut Sack1, board: &mut Scoreboard, from, to| {
            let newly = board.on_sacked(at(from), at(to));
            rule.on_duplicate_ack(board, newly)
        };
        // 0 and 2 of ten are lost. A repeated SACK does not count.
        sack(&mut rule, &mut board, 1, 2);
        sack(&mut rule, &mut board, 1, 2);
        sack(&mut rule, &mut board, 3, 4);
        assert!(sack(&mut rule, &mut board, 3, 5).is_loss_found);
        rule.on_retransmitted(&mut board, at(0), at(1));
        // Pipe 10 - 3 = 7 against 5.5, rounded to 5: three more ACKs.
        for n in 6..=7 {
            sack(&mut rule, &mut board, 3, n);
            assert_eq!(rule.poll_send(&board, 5500, true), NextSegment::New { room_bytes: 0 });
        }
        sack(&mut rule, &mut board, 3, 8);
        assert_eq!(
            rule.poll_send(&board, 5500, true),
            NextSegment::Retransmit { start: at(2), end: at(3) }
        );
        rule.on_retransmitted(&mut board, at(2), at(3));
        assert_eq!(rule.poll_send(&board, 5500, true), NextSegment::New { room_bytes: 0 });
        // A partial ACK subtracts two: two new segments.
        board.on_cumulative_ack(at(2));
        let partial = rule.on_ack(&mut board, 2 * MSS);
        assert!(partial.restarts_timer && partial.clears_backoff && !partial.may_grow);
        assert_eq!(rule.poll_send(&board, 5500, true), NextSegment::New { room_bytes: 2 * MSS });
        board.on_sent(at(12));
        assert_eq!(rule.poll_send(&board, 5500, true), NextSegment::New { room_bytes: 0 });
        board.on_cumulative_ack(at(10));
        let full = rule.on_ack(&mut board, 8 * MSS);
        assert!(full.is_repaired && !full.may_grow);
        assert_eq!(rule.poll_send(&board, 5500, true), NextSegment::New { room_bytes: 3500 });
    }
}
