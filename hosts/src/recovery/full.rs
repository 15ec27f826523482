//! Fast retransmit and recovery of ns-2's two-way TCP.
//!
//! Source: ns-2.35 Agent/TCP/FullTcp and /Newreno (tcp-full.cc), after 4.4BSD. Differences from the
//! one-way agents (`reno.rs`, `newreno.rs`):
//! - Several losses in one window cut it several times, except losses among the data outstanding at
//!   a time-out.
//! - The duplicate that starts recovery sends the retransmission and nothing else.
//! - Every new ACK restarts the timer and ends its back-off.
//! - With Newreno a partial ACK removes all inflation and moves the end of recovery to the data
//!   sent by then. From the first one on, an event sends at most two new segments
//!   (`recov_maxburst_`).

use crate::api::Stage;
use crate::outstanding::scoreboard::Scoreboard;
use crate::recovery::rule::{
    NextSegment, Outcome, Recovery, Rule, Setup, Transmission, resend_oldest, send_after_rto,
    send_new,
};
use narrows_common::Time;

/// The entry of FullTcp's rule.
pub const RULE: Rule = Rule {
    name: "full-reno",
    title: "Reno's fast recovery as in ns-2's FullTcp",
    reference: "ns-2.35 Agent/TCP/FullTcp",
    needs: &[],
    not_implemented: &["the permanent inflation of the window by duplicates after a time-out"],
    build: |setup| Box::new(Full::new(setup, false)),
};

/// The entry of its Newreno's rule.
pub const NEWRENO_RULE: Rule = Rule {
    name: "full-newreno",
    title: "NewReno's partial ACKs as in ns-2's FullTcp",
    reference: "ns-2.35 Agent/TCP/FullTcp/Newreno",
    build: |setup| Box::new(Full::new(setup, true)),
    ..RULE
};

/// The most new segments per event of NewReno's recovery.
const MAX_BURST: u32 = 2;

/// The state of the rule.
#[derive(Debug)]
pub struct Full {
    setup: Setup,
    takes_partial_acks: bool,
    stage: Stage,
    dupacks: u32,
    /// The end of the data sent when the latest loss was detected or partly repaired.
    recover: u64,
    /// A time-out detected the latest loss.
    was_timeout: bool,
    inflation_bytes: u64,
    must_send_first: bool,
    had_partial_ack: bool,
    /// New segments that the current event may still send.
    burst_left: u32,
}

impl Full {
    fn new(setup: &Setup, takes_partial_acks: bool) -> Self {
        Full {
            setup: *setup,
            takes_partial_acks,
            stage: Stage::Open,
            dupacks: 0,
            recover: 0,
            was_timeout: false,
            inflation_bytes: 0,
            must_send_first: false,
            had_partial_ack: false,
            burst_left: u32::MAX,
        }
    }

    fn begin_event(&mut self) {
        self.burst_left = if self.had_partial_ack { MAX_BURST } else { u32::MAX };
    }
}

impl Recovery for Full {
    fn on_sent(&mut self, _board: &Scoreboard, _transmission: &Transmission<'_>) {
        self.burst_left = self.burst_left.saturating_sub(1);
    }

    fn on_ack(&mut self, board: &mut Scoreboard, _acked_bytes: u64) -> Outcome {
        let is_past = board.una() >= self.recover;
        self.inflation_bytes = 0;
        if self.stage == Stage::Recovery && !is_past && self.takes_partial_acks {
            self.recover = board.nxt();
            self.must_send_first = true;
            self.had_partial_ack = true;
            // The retransmission does not count.
            self.burst_left = MAX_BURST + 1;
            return Outcome { may_grow: false, clears_backoff: true, ..Outcome::PLAIN };
        }
        let is_repaired = self.stage == Stage::Recovery;
        if is_repaired || is_past {
            self.stage = Stage::Open;
        }
        self.dupacks = 0;
        self.must_send_first = false;
        self.had_partial_ack = false;
        self.begin_event();
        Outcome { is_repaired, clears_backoff: true, ..Outcome::PLAIN }
    }

    fn on_duplicate_ack(&mut self, board: &mut Scoreboard, _newly_sacked_bytes: u64) -> Outcome {
        self.dupacks += 1;
        self.begin_event();
        let may_enter = !self.was_timeout || board.una() > self.recover;
        if self.dupacks == self.setup.dupack_threshold && may_enter {
            self.stage = Stage::Recovery;
            self.recover = board.nxt();
            self.was_timeout = false;
            self.inflation_bytes = u64::from(self.dupacks) * u64::from(self.setup.mss);
            self.must_send_first = true;
            self.burst_left = 1;
            return Outcome::LOSS;
        }
        if self.stage == Stage::Recovery && self.dupacks > self.setup.dupack_threshold {
            self.inflation_bytes += u64::from(self.setup.mss);
        }
        Outcome::NOTHING
    }

    fn on_timeout(&mut self, board: &mut Scoreboard, _now: Time) {
        board.mark_all_lost();
        self.stage = Stage::Loss;
        self.recover = board.nxt();
        self.was_timeout = true;
        self.dupacks = 0;
        self.inflation_bytes = 0;
        self.must_send_first = false;
        self.had_partial_ack = false;
        self.begin_event();
    }

    fn poll_send(&self, board: &Scoreboard, cwnd_bytes: u64, _has_new: bool) -> NextSegment {
        if self.must_send_first {
            return resend_oldest(board);
        }
        if self.burst_left == 0 {
            return NextSegment::New { room_bytes: 0 };
        }
        if self.stage == Stage::Loss {
            return send_after_rto(board, self.setup.mss, cwnd_bytes);
        }
        let window_bytes = cwnd_bytes + self.inflation_bytes;
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

    const MSS: u64 = 536;

    #[test]
    fn full_newreno_takes_the_inflation_off_and_releases_two() {
        let setup =
            Setup { mss: 536, dupack_threshold: 3, limited_transmit: false, ns2_newreno: true };
        let mut board = Scoreboard::default();
        board.on_sent(1);
        board.on_cumulative_ack(1);
        board.on_sent(1 + 10 * MSS);
        let mut rule = Full::new(&setup, true);
        for n in 1..=3 {
            assert_eq!(rule.on_duplicate_ack(&mut board, 0).is_loss_found, n == 3);
        }
        rule.on_retransmitted(&mut board, 1, 1 + MSS);
        rule.on_duplicate_ack(&mut board, 0);
        // 5 and 4 duplicates, minus the 10 outstanding.
        assert_eq!(rule.poll_send(&board, 6 * MSS, true), NextSegment::New { room_bytes: 0 });
        assert_eq!(rule.poll_send(&board, 7 * MSS, true), NextSegment::New { room_bytes: MSS });
        board.on_cumulative_ack(1 + 4 * MSS);
        let outcome = rule.on_ack(&mut board, 4 * MSS);
        assert!(!outcome.may_grow && outcome.restarts_timer && !outcome.is_repaired);
        rule.on_retransmitted(&mut board, 1 + 4 * MSS, 1 + 5 * MSS);
        assert_eq!(rule.poll_send(&board, 7 * MSS, true), NextSegment::New { room_bytes: MSS });
    }
}
