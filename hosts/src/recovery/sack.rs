//! SACK-based loss recovery (RFC 6675).
//!
//! A duplicate ACK is one with new SACK information (section 2). Recovery starts at DupThresh
//! duplicates, or if IsLost(HighACK + 1). It sends what NextSeg returns while cwnd - pipe >= 1
//! SMSS, and ends when the HighData of its start is acknowledged. Scoreboard and pipe:
//! [`crate::outstanding::scoreboard`]. SACKs survive a time-out (section 5.1) unless the peer
//! is found to have reneged.

use crate::api::{Need, Stage};
use crate::outstanding::scoreboard::Scoreboard;
use crate::recovery::rule::{NextSegment, Outcome, Recovery, Rule, Setup, send_after_rto};
use narrows_common::Time;

/// The rule's entry in the list.
pub const RULE: Rule = Rule {
    name: "sack",
    title: "selective acknowledgments with a computed pipe",
    reference: "RFC 6675, RFC 2018",
    needs: &[Need::Sack],
    not_implemented: &["D-SACK (RFC 2883)"],
    build: |setup| Box::new(Sack::new(setup)),
};

/// The state of the rule.
#[derive(Debug)]
pub struct Sack {
    setup: Setup,
    stage: Stage,
    dupacks: u32,
    /// RecoveryPoint + 1.
    recover: u64,
    must_send_first: bool,
    /// RescueRxt + 1; 0 undefined.
    rescued_to: u64,
}

impl Sack {
    fn new(setup: &Setup) -> Self {
        Sack {
            setup: *setup,
            stage: Stage::Open,
            dupacks: 0,
            recover: 0,
            must_send_first: false,
            rescued_to: 0,
        }
    }

    fn update_lost_edge(&self, board: &mut Scoreboard) {
        // After a time-out everything sent before is lost already; losses in the rest belong to the
        // next recovery.
        if self.stage != Stage::Loss {
            board.update_lost_edge(self.setup.dupack_threshold, self.setup.mss);
        }
    }

    fn enter(&mut self, board: &mut Scoreboard) -> Outcome {
        self.stage = Stage::Recovery;
        self.recover = board.nxt();
        self.must_send_first = true;
        self.rescued_to = 0;
        board.restart_retransmission();
        Outcome::LOSS
    }

    /// NextSeg rule 4: once per recovery, the highest segment that is not SACKed.
    fn rescue(&self, board: &Scoreboard) -> Option<NextSegment> {
        let may_rescue = self.rescued_to == 0 || board.una() > self.rescued_to;
        let (start, end) = board.highest_hole().filter(|_| may_rescue)?;
        Some(NextSegment::Retransmit {
            start: start.max(end.saturating_sub(self.setup.mss.into())),
            end,
        })
    }

    /// NextSeg (section 4), if a segment has room.
    fn next_seg(&self, board: &Scoreboard, room_bytes: u64, has_new: bool) -> NextSegment {
        let again = |(start, end)| NextSegment::Retransmit { start, end };
        let new = NextSegment::New { room_bytes };
        match board.next_lost_hole() {
            Some(hole) => again(hole),
            None if has_new => new,
            None => board
                .next_hole_below_sacked()
                .map(again)
                .or_else(|| self.rescue(board))
                .unwrap_or(new),
        }
    }
}

impl Recovery for Sack {
    fn on_ack(&mut self, board: &mut Scoreboard, _acked_bytes: u64) -> Outcome {
        self.update_lost_edge(board);
        let is_past = board.una() >= self.recover;
        match self.stage {
            Stage::Recovery if !is_past => {
                return Outcome { may_grow: false, ..Outcome::PLAIN };
            }
            Stage::Recovery => {
                self.stage = Stage::Open;
                self.dupacks = 0;
                self.must_send_first = false;
                return Outcome { is_repaired: true, may_grow: false, ..Outcome::PLAIN };
            }
            Stage::Loss if is_past => self.stage = Stage::Open,
            Stage::Loss | Stage::Open => {}
        }
        self.dupacks = 0;
        Outcome::PLAIN
    }

    fn on_duplicate_ack(&mut self, board: &mut Scoreboard, newly_sacked_bytes: u64) -> Outcome {
        if newly_sacked_bytes == 0 {
            return Outcome::NOTHING;
        }
        self.update_lost_edge(board);
        self.dupacks += 1;
        let is_lost = self.dupacks >= self.setup.dupack_threshold || board.is_first_lost();
        // Section 5.1: none until the data outstanding at a time-out has been acknowledged.
        if self.stage == Stage::Open && is_lost && board.una() >= self.recover {
            return self.enter(board);
        }
        Outcome::NOTHING
    }

    fn on_timeout(&mut self, board: &mut Scoreboard, _now: Time) {
        if board.is_reneged() {
            board.forget_sacked();
        }
        board.mark_all_lost();
        self.stage = Stage::Loss;
        self.recover = board.nxt();
        self.dupacks = 0;
        self.must_send_first = false;
    }

    fn poll_send(&self, board: &Scoreboard, cwnd_bytes: u64, has_new: bool) -> NextSegment {
        if self.must_send_first {
            return NextSegment::Retransmit { start: board.una(), end: board.first_hole_end() };
        }
        let in_flight = match self.stage {
            Stage::Loss => return send_after_rto(board, self.setup.mss, cwnd_bytes),
            Stage::Open if !self.setup.limited_transmit => board.flight_bytes(),
            Stage::Open | Stage::Recovery => board.pipe_bytes(),
        };
        let room_bytes = cwnd_bytes.saturating_sub(in_flight);
        match self.stage {
            Stage::Recovery if room_bytes >= self.setup.mss.into() => {
                self.next_seg(board, room_bytes, has_new)
            }
            Stage::Recovery => NextSegment::New { room_bytes: 0 },
            _ => NextSegment::New { room_bytes },
        }
    }

    fn on_retransmitted(&mut self, board: &mut Scoreboard, start: u64, end: u64) {
        if self.must_send_first || self.stage == Stage::Loss {
            self.must_send_first = false;
            board.on_retransmitted(end);
        } else if self.next_is(board, start) {
            board.on_retransmitted(end);
        } else {
            // A rescue does not change HighRxt.
            self.rescued_to = self.recover;
        }
    }

    fn stage(&self) -> Stage {
        self.stage
    }
}

impl Sack {
    /// True if `start` is the next hole and not a rescue.
    fn next_is(&self, board: &Scoreboard, start: u64) -> bool {
        let hole = board.next_lost_hole().or_else(|| board.next_hole_below_sacked());
        hole.is_some_and(|(at, _)| at == start)
    }
}

#[cfg(test)]
#[path = "sack_tests.rs"]
mod tests;
