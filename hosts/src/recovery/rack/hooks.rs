//! RACK's handlers for the events of a connection.

use crate::api::{Delivery, Stage};
use crate::outstanding::scoreboard::Scoreboard;
use crate::outstanding::sent_segments::SentSegment;
use crate::recovery::rack::prr::Reduction;
use crate::recovery::rack::{Frto, Rack};
use crate::recovery::rule::{NextSegment, Outcome, Recovery, Transmission};
use narrows_common::Time;

impl Recovery for Rack {
    fn on_sent(&mut self, board: &Scoreboard, transmission: &Transmission<'_>) {
        let Transmission { now, start, end, rtt } = *transmission;
        (self.srtt, self.rto) = (rtt.srtt(), rtt.rto());
        let is_retransmission = board.sent.get(end).is_some_and(|sent| sent.was_retransmitted);
        self.detector.on_sent(now, end);
        if let Some(reduction) = &mut self.reduction {
            reduction.on_sent(end - start);
        }
        if self.probe.is_due() {
            self.probe.on_sent(board.nxt(), is_retransmission);
        } else if is_retransmission {
            self.undo.on_retransmitted(now);
        } else {
            self.rearm_probe(board, now);
        }
    }

    fn on_segment_delivered(&mut self, now: Time, _start: u64, sent: &SentSegment) {
        self.detector.on_segment_delivered(now, sent);
        let is_original = !sent.was_retransmitted && sent.end <= self.recover;
        self.has_original_arrived |= is_original && self.stage == Stage::Loss;
    }

    fn on_delivered(&mut self, board: &mut Scoreboard, delivery: &Delivery) {
        (self.srtt, self.rto) = (delivery.srtt, delivery.rto);
        let answers_probe = delivery.duplicate.is_some_and(|(_, end)| self.probe.is_end(end));
        self.detector.on_delivered(board, delivery, answers_probe);
        if let Some(duplicate) = delivery.duplicate {
            self.undo.on_duplicate(duplicate, self.setup.mss);
        }
        let newly_lost_bytes = self.detect(board, delivery.now);
        self.reduce(board, delivery, delivery.acked_bytes > 0 && newly_lost_bytes == 0);
        self.delivery = Some(*delivery);
    }

    fn on_ack(&mut self, board: &mut Scoreboard, _acked_bytes: u64) -> Outcome {
        self.on_any_ack(board)
    }

    fn on_duplicate_ack(&mut self, board: &mut Scoreboard, _newly_sacked_bytes: u64) -> Outcome {
        self.on_any_ack(board)
    }

    fn on_window_cut(&mut self, board: &Scoreboard, before_bytes: u64, cwnd_bytes: u64) {
        if !self.is_linux || self.stage == Stage::Loss {
            return;
        }
        let mut delivered_bytes = 0;
        if self.stage == Stage::Open {
            self.recover = board.nxt();
        } else if let Some(delivery) = &self.delivery {
            delivered_bytes = delivery.delivered_bytes;
        }
        let mut reduction = Reduction::new(before_bytes);
        let in_flight_bytes = self.pipe_bytes(board);
        reduction.on_ack(delivered_bytes, in_flight_bytes, cwnd_bytes, self.setup.mss, false);
        self.reduction = Some(reduction);
    }

    fn on_timeout(&mut self, board: &mut Scoreboard, now: Time) {
        let has_cut_before = self.has_cut_before(board);
        let is_repeated = self.stage == Stage::Loss && board.una() == self.timed_out_at;
        if !has_cut_before && !is_repeated {
            self.undo.begin(board.una());
        }
        self.timed_out_at = board.una();
        self.detector.on_timeout(board, now);
        self.probe.forget();
        self.open();
        self.stage = Stage::Loss;
        self.recover = board.nxt();
        self.must_send_first = true;
        self.kept_bytes = self.pipe_bytes(board);
        self.has_original_arrived = false;
        if self.is_linux && !has_cut_before {
            self.frto = Frto::SentFirst;
        }
    }

    fn poll_timeout(&self) -> Option<Time> {
        Time::earliest([self.detector.poll_timeout(), self.probe.poll_timeout()])
    }

    fn handle_timeout(&mut self, board: &mut Scoreboard, now: Time) -> Outcome {
        if self.detector.poll_timeout().is_some_and(|at| at <= now) {
            self.delivery = None;
            self.detect(board, now);
            if self.stage == Stage::Open && self.detector.next_lost(board).is_some() {
                let is_loss_found = self.enter_recovery(board);
                return Outcome { is_loss_found, ..Outcome::LOSS };
            }
        }
        if self.probe.poll_timeout().is_some_and(|at| at <= now) {
            self.probe.on_timeout();
            return Outcome { restarts_timer: true, ..Outcome::NOTHING };
        }
        Outcome::NOTHING
    }

    fn poll_send(&self, board: &Scoreboard, cwnd_bytes: u64, has_new: bool) -> NextSegment {
        let mss = u64::from(self.setup.mss);
        if self.probe.is_due() {
            let end = board.nxt();
            return if has_new {
                NextSegment::New { room_bytes: mss }
            } else {
                NextSegment::Retransmit { start: board.sent.start_before(end), end }
            };
        }
        let lost = self.detector.next_lost(board);
        if let (true, Some((start, end))) = (self.must_send_first, lost) {
            return NextSegment::Retransmit { start, end };
        }
        let room_bytes = self.window_bytes(cwnd_bytes).saturating_sub(self.pipe_bytes(board));
        if self.frto == Frto::SendsNew && (has_new || board.nxt() > self.recover) {
            return NextSegment::New { room_bytes };
        }
        match lost {
            Some((start, end)) if room_bytes >= (end - start).min(mss) => {
                NextSegment::Retransmit { start, end }
            }
            Some(_) => NextSegment::New { room_bytes: 0 },
            None => NextSegment::New { room_bytes },
        }
    }

    fn on_retransmitted(&mut self, _board: &mut Scoreboard, _start: u64, _end: u64) {
        self.must_send_first = false;
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

    fn is_probing(&self) -> bool {
        self.probe.is_due()
    }

    fn has_cut_before(&self, board: &Scoreboard) -> bool {
        let is_reducing = self.stage == Stage::Recovery || self.reduction.is_some();
        is_reducing && board.una() < self.recover
    }

    fn can_take_back(&self) -> bool {
        self.is_linux
    }
}
