//! Vegas's retransmission: the oldest segment is retransmitted once it is older than a fine-grained
//! time-out, even at the first duplicate ACK.
//!
//! Source: ns-2.35 Agent/TCP/Vegas. The fine time-out is (srtt + 2 deviations) x 17/16, from
//! samples without tick rounding, with gains 1/8 and 1/4. It is checked at every duplicate, and at
//! the first two new ACKs after a retransmission. The third duplicate retransmits without the
//! check. The window is cut only if it has not changed since the segment left. Each retransmission
//! lengthens the fine time-out by an eighth; a second one of the same segment doubles it, and the
//! coarse time-out backs off too. Duplicates after the third inflate the window until the next new
//! ACK.

use crate::api::{Delivery, Need, Stage};
use crate::outstanding::scoreboard::Scoreboard;
use crate::outstanding::sent_segments::SentSegment;
use crate::recovery::rule::{
    NextSegment, Outcome, Recovery, Rule, Setup, resend_oldest, send_after_rto, send_new,
};
use narrows_common::{Duration, Time};

/// The rule's entry in the list.
pub const RULE: Rule = Rule {
    name: "vegas",
    title: "retransmits at the first duplicate ACK if a fine-grained time-out has passed",
    reference: "ns-2.35 Agent/TCP/Vegas; Brakmo and Peterson, JSAC 1995",
    needs: &[Need::SegmentTimes],
    not_implemented: &[
        "ns-2's error that sends a new segment twice",
        "ns-2's permanent inflation of the window by one or two duplicates",
    ],
    build: |setup| Box::new(Vegas::new(setup)),
};

/// New ACKs after a retransmission that also check the fine time-out.
const WORRIED_ACKS: u32 = 2;

/// The state of the rule.
#[derive(Debug)]
pub struct Vegas {
    setup: Setup,
    stage: Stage,
    dupacks: u32,
    /// The end of the data sent when the latest loss was detected.
    recover: u64,
    inflation_bytes: u64,
    must_send_first: bool,
    worried_acks: u32,
    fine: FineTimeout,
    /// The arrival of the current ACK, and the newest segment that it covers, if that was sent
    /// once.
    now: Time,
    sample: Option<Duration>,
    /// The time of the last cut.
    cut_at: Option<Time>,
}

/// The fine-grained time-out in picoseconds: the mean times 8, the deviation times 4.
#[derive(Debug)]
struct FineTimeout {
    mean8: i64,
    deviation4: i64,
    timeout: i64,
}

impl FineTimeout {
    fn on_sample(&mut self, rtt: Duration) {
        let rtt = rtt.as_ps() as i64;
        if self.mean8 == 0 {
            (self.mean8, self.deviation4) = (8 * rtt, rtt);
        }
        let error = rtt - self.mean8 / 8;
        self.mean8 += error;
        self.deviation4 += error.abs() - self.deviation4 / 4;
        let timeout = (self.mean8 / 4 + self.deviation4) / 2;
        self.timeout = timeout + timeout / 16;
    }

    fn lengthen(&mut self, was_retransmitted: bool) {
        self.timeout = self.timeout.saturating_add(if was_retransmitted {
            self.timeout
        } else {
            self.timeout / 8
        });
    }
}

impl Vegas {
    fn new(setup: &Setup) -> Self {
        Vegas {
            setup: *setup,
            stage: Stage::Open,
            dupacks: 0,
            recover: 0,
            inflation_bytes: 0,
            must_send_first: false,
            worried_acks: 0,
            fine: FineTimeout { mean8: 0, deviation4: 0, timeout: i64::MAX },
            now: Time::ZERO,
            sample: None,
            cut_at: None,
        }
    }

    /// The oldest segment is older than the fine time-out.
    fn has_expired(&self, oldest: &SentSegment) -> bool {
        self.now.since(oldest.at).as_ps() as i64 >= self.fine.timeout
    }

    fn resend(&mut self, board: &mut Scoreboard, oldest: &SentSegment) -> Outcome {
        let was_timed_out = self.stage == Stage::Loss;
        if was_timed_out && board.una() <= self.recover {
            return Outcome::NOTHING;
        }
        self.stage = Stage::Recovery;
        self.recover = board.nxt();
        self.worried_acks = WORRIED_ACKS;
        self.fine.lengthen(oldest.was_retransmitted);
        self.must_send_first = true;
        let is_cut = self.cut_at.is_none_or(|cut_at| cut_at < oldest.at);
        if is_cut {
            self.inflation_bytes = u64::from(self.dupacks) * u64::from(self.setup.mss);
            self.cut_at = Some(self.now);
        }
        if !oldest.was_retransmitted {
            self.dupacks = self.setup.dupack_threshold;
        }
        let was_retransmitted = oldest.was_retransmitted;
        Outcome { is_loss_found: is_cut, was_retransmitted, backs_off: true, ..Outcome::LOSS }
    }
}

impl Recovery for Vegas {
    fn on_segment_delivered(&mut self, now: Time, _start: u64, sent: &SentSegment) {
        self.sample = (!sent.was_retransmitted).then(|| now.since(sent.at));
    }

    fn on_delivered(&mut self, _board: &mut Scoreboard, delivery: &Delivery) {
        self.now = delivery.now;
    }

    fn on_ack(&mut self, board: &mut Scoreboard, _acked_bytes: u64) -> Outcome {
        let was_inflated = self.dupacks > self.setup.dupack_threshold && self.inflation_bytes > 0;
        (self.dupacks, self.inflation_bytes) = (0, 0);
        // The segment to be retransmitted has arrived.
        self.must_send_first = false;
        if self.stage == Stage::Recovery || board.una() >= self.recover {
            self.stage = Stage::Open;
        }
        if let Some(rtt) = self.sample.take() {
            self.fine.on_sample(rtt);
        }
        if let Some(left) = self.worried_acks.checked_sub(1) {
            let has_expired =
                board.sent.iter().next().is_some_and(|oldest| self.has_expired(oldest));
            self.worried_acks = if has_expired { left } else { 0 };
            if has_expired {
                self.dupacks = self.setup.dupack_threshold;
                self.must_send_first = true;
            }
        }
        Outcome { is_repaired: was_inflated, ..Outcome::PLAIN }
    }

    fn on_duplicate_ack(&mut self, board: &mut Scoreboard, _newly_sacked_bytes: u64) -> Outcome {
        self.dupacks += 1;
        let Some(oldest) = board.sent.iter().next().copied() else { return Outcome::NOTHING };
        if self.has_expired(&oldest) || self.dupacks == self.setup.dupack_threshold {
            return self.resend(board, &oldest);
        }
        if self.dupacks > self.setup.dupack_threshold {
            self.inflation_bytes += u64::from(self.setup.mss);
        }
        Outcome::NOTHING
    }

    fn on_timeout(&mut self, board: &mut Scoreboard, now: Time) {
        board.mark_all_lost();
        self.stage = Stage::Loss;
        self.recover = board.nxt();
        (self.dupacks, self.inflation_bytes) = (0, 0);
        self.must_send_first = false;
        self.cut_at = Some(now);
    }

    fn poll_send(&self, board: &Scoreboard, cwnd_bytes: u64, _has_new: bool) -> NextSegment {
        if self.must_send_first {
            return resend_oldest(board);
        }
        // One or two duplicates block all sending.
        if self.dupacks > 0 && self.dupacks < self.setup.dupack_threshold {
            return NextSegment::New { room_bytes: 0 };
        }
        let window_bytes = cwnd_bytes + self.inflation_bytes;
        if self.stage == Stage::Loss {
            return send_after_rto(board, self.setup.mss, window_bytes);
        }
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

    #[test]
    fn the_fine_timeout_worked_by_hand() {
        let mut fine = FineTimeout { mean8: 0, deviation4: 0, timeout: i64::MAX };
        fine.on_sample(Duration::from_ms(160));
        // Mean 160, deviation 160/4 minus a quarter, 30: (160 + 2 x 30) x 17/16 = 233.75 ms.
        assert_eq!(fine.timeout, 233_750_000_000);
        fine.on_sample(Duration::from_ms(240));
        // Error 80: mean 170, deviation 30 + (80 - 30)/4 = 42.5: (170 + 85) x 17/16 = 270.9375.
        assert_eq!(fine.timeout, 270_937_500_000);
        fine.lengthen(false);
        assert_eq!(fine.timeout, 304_804_687_500);
        fine.lengthen(true);
        assert_eq!(fine.timeout, 609_609_375_000);
    }
}
