//! The effect of an ACK on the sending half: samples, recovery, growth.

use crate::api::{Ack, Delivery, Growth, Stage};
use crate::recovery::rule::Outcome;
use crate::tcp::sender::Sender;
use narrows_common::{Duration, Time};

impl Sender {
    /// The ACK advances the left edge to `ack`. `echoed` is the round trip by the peer's timestamp;
    /// with `echoes_mark` the window does not grow (RFC 3168 section 6.1.2). Returns whether the
    /// retransmission timer restarts.
    pub fn on_ack(
        &mut self,
        now: Time,
        ack: u64,
        echoed: Option<Duration>,
        echoes_mark: bool,
    ) -> bool {
        let was_limited = self.board.una() < self.limited_to;
        let acked_bytes = ack - self.board.una();
        let had_sacked = self.board.sacked_bytes() > 0;
        let delivered_bytes = acked_bytes - self.board.on_cumulative_ack(ack);
        self.buffer.release(ack);
        self.timed_out_at = None;
        let rtt = self.sample(now, ack, had_sacked, echoed);
        self.burst.on_event(rtt);
        if ack >= self.round_end {
            self.round += 1;
            self.round_end = self.board.nxt();
        }
        self.tell_delivery(now, acked_bytes, delivered_bytes);
        let outcome = self.recovery.on_ack(&mut self.board, acked_bytes);
        self.take_back(now, outcome);
        let credit_bytes = self.credit_bytes(acked_bytes, delivered_bytes);
        let event = Ack { echoes_mark, ..self.ack(now, acked_bytes, credit_bytes, rtt) };
        self.cc.on_measurement(&event);
        if self.recovery.stage() == Stage::Recovery && !outcome.may_grow {
            self.cc.on_recovery_ack(&event);
        } else if outcome.may_grow
            && (!echoes_mark || self.profile.growth == Growth::EachSegment)
            && (was_limited || !self.profile.grows_only_when_limited)
        {
            self.grow(&event);
        }
        if outcome.clears_backoff {
            self.rtt.clear_backoff();
        }
        self.act_on(now, outcome);
        self.tell_path(now, was_limited);
        outcome.restarts_timer
    }

    /// A SACK block `[start, end)`; returns the bytes that it newly reports.
    pub fn on_sack_block(&mut self, now: Time, start: u64, end: u64) -> u64 {
        let Sender { board, recovery, rate, follows_segments, .. } = self;
        let newly = board.on_sacked_with(start, end, &mut |start, sent| {
            if *follows_segments {
                recovery.on_segment_delivered(now, start, sent);
            }
            rate.on_delivered(now, sent, sent.end - start);
        });
        self.newly_sacked_bytes += newly;
        newly
    }

    /// Passes the current ACK to recovery.
    pub(super) fn tell_delivery(&mut self, now: Time, acked_bytes: u64, cumulative_bytes: u64) {
        let sacked_bytes = core::mem::take(&mut self.newly_sacked_bytes);
        let (duplicate, echoed_at) = (self.duplicate.take(), self.echoed_at.take());
        if self.follows_segments {
            let delivery = Delivery {
                now,
                delivered_bytes: cumulative_bytes + sacked_bytes,
                sacked_bytes,
                acked_bytes,
                duplicate,
                echoed_at,
                srtt: self.rtt.srtt(),
                min_rtt: self.rtt.min_rtt(),
                rto: self.rtt.rto(),
                cwnd_bytes: self.cc.cwnd_bytes(),
                ssthresh_bytes: self.cc.ssthresh_bytes(),
            };
            self.recovery.on_delivered(&mut self.board, &delivery);
        }
        self.tell_losses(now);
    }

    /// Ends a repair that is complete or was unnecessary.
    pub(super) fn take_back(&mut self, now: Time, outcome: Outcome) {
        if outcome.is_repaired {
            self.cc.on_recovery_exit(now);
        }
        if let Some(bytes) = outcome.most_window_bytes {
            self.limit_window(bytes);
        }
        if let Some(before) = self.before_cut.take_if(|_| outcome.is_spurious) {
            self.counters.undone_cuts += 1;
            if let Some(before) = self.cc.on_undo(before) {
                self.cc = before;
            }
        }
    }

    /// Grows the window by an ACK: in one step, or segment by segment.
    pub(super) fn grow(&mut self, event: &Ack) {
        let mss = u64::from(self.mss);
        let times = match self.profile.growth {
            Growth::EachSegment => event.acked_bytes.div_ceil(mss).max(1),
            _ => 1,
        };
        for _ in 0..times {
            self.cc.on_growth(event);
        }
    }

    /// An ACK that does not advance while data is outstanding; its SACKs reported
    /// `newly_sacked_bytes`. Returns whether the retransmission timer restarts.
    pub fn on_duplicate_ack(&mut self, now: Time, newly_sacked_bytes: u64) -> bool {
        self.burst.on_event(None);
        if self.recovery.samples_every_ack(&self.board) {
            self.sample_edge(now);
        }
        self.tell_delivery(now, 0, 0);
        let outcome = self.recovery.on_duplicate_ack(&mut self.board, newly_sacked_bytes);
        self.take_back(now, outcome);
        if outcome.may_grow {
            let credit_bytes = self.credit_bytes(newly_sacked_bytes, newly_sacked_bytes).max(1);
            let event = self.ack(now, newly_sacked_bytes, credit_bytes, None);
            self.cc.on_growth(&event);
        }
        self.act_on(now, outcome);
        self.tell_path(now, self.board.una() < self.limited_to);
        outcome.restarts_timer
    }

    pub(super) fn ack(
        &self,
        now: Time,
        acked_bytes: u64,
        credit_bytes: u64,
        rtt: Option<Duration>,
    ) -> Ack {
        Ack {
            now,
            acked_bytes,
            credit_bytes,
            mss: self.mss,
            flight_bytes: self.board.flight_bytes(),
            rtt,
            srtt: self.rtt.srtt(),
            min_rtt: self.rtt.min_rtt(),
            delivered_bytes: self.board.una() + self.board.sacked_bytes(),
            round: self.round,
            echoes_mark: false,
            one_way: self.one_way,
        }
    }

    pub(super) fn act_on(&mut self, now: Time, outcome: Outcome) {
        if outcome.backs_off {
            self.rtt.on_timeout();
        }
        if outcome.is_loss_found {
            self.counters.fast_recoveries += 1;
            self.timed = None;
            let mut congestion = self.congestion(now, outcome.was_retransmitted);
            if outcome.is_overdamped {
                congestion.window_bytes = congestion.window_bytes.min(self.cc.cwnd_bytes() / 2);
            }
            if outcome.restarts_window {
                self.cc.on_rto(&congestion);
            } else {
                self.remember_window();
                self.cut(|cc| cc.on_congestion(&congestion));
            }
        }
    }

    pub(super) fn credit_bytes(&self, acked_bytes: u64, delivered_bytes: u64) -> u64 {
        match self.profile.growth {
            Growth::BytesUpToSegment => acked_bytes.min(self.mss.into()),
            // SACKed data was delivered before. When a retransmission fills a hole, the ACK jumps
            // over all of that data, and the window must not.
            Growth::Bytes => delivered_bytes,
            Growth::Segment | Growth::EachSegment => self.mss.into(),
        }
    }
}
