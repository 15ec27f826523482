//! Recovery by time: RACK-TLP (RFC 8985), alone or with what Linux has around it.
//!
//! `rack` is the RFC: what [`detect`] finds lost is retransmitted, a window of congestion control's
//! size is kept in flight, the tail is probed ([`probe`]). Lost retransmissions are found as any
//! other loss, and limited transmit (RFC 3042) follows from counting SACKed segments out.
//!
//! `linux` adds proportional rate reduction ([`prr`], after echoed marks too), F-RTO after a
//! time-out (RFC 5682 section 3, the SACK form) and taking back what was no loss ([`undo`]): the
//! variant is as it was before it.
//!
//! Linux differences: a retransmission that is lost again after a time-out does not cut the window
//! a second time; pacing does not change what a time-out leaves in flight.

mod detect;
mod probe;
mod prr;
mod undo;

use crate::recovery::rule::{NextSegment, Outcome, Recovery, Rule, Setup, Transmission};
use crate::tcp::api::{Delivery, Need, Stage};
use crate::tcp::outstanding::scoreboard::Scoreboard;
use crate::tcp::outstanding::sent_segments::SentSegment;
use detect::Detector;
use narrows_common::{Duration, Time};
use probe::TailProbe;
use prr::Reduction;
use undo::Undo;

/// Recovery as in Linux.
pub const LINUX_RULE: Rule = Rule {
    name: "linux",
    title: "RACK-TLP, proportional rate reduction, F-RTO, undo: as Linux recovers",
    reference: "RFC 8985, RFC 9937 (RFC 6937), RFC 5682, RFC 2883, RFC 3522; Linux tcp_input.c",
    needs: NEEDS,
    not_implemented: &[
        "a second cut when a retransmission is lost after a time-out",
        "adaptive reordering degree in segments (net.ipv4.tcp_reordering); RACK's window in time only",
    ],
    build: |setup| Box::new(Rack::new(setup, true)),
};

/// RACK-TLP by itself.
pub const RULE: Rule = Rule {
    name: "rack",
    title: "losses by time, and probes of the tail",
    reference: "RFC 8985",
    needs: NEEDS,
    not_implemented: &[],
    build: |setup| Box::new(Rack::new(setup, false)),
};

const NEEDS: &[Need] = &[Need::Sack, Need::SegmentTimes];

/// F-RTO's steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Frto {
    Off,
    /// Step 1: the first segment was retransmitted.
    SentFirst,
    /// Step 2b: the ACK moved; until the next, only new data is sent.
    SendsNew,
}

/// The state of the rule.
#[derive(Debug)]
pub struct Rack {
    setup: Setup,
    /// PRR, F-RTO and undo.
    is_linux: bool,
    stage: Stage,
    detector: Detector,
    probe: TailProbe,
    undo: Undo,
    reduction: Option<Reduction>,
    frto: Frto,
    /// What was sent when the latest loss was found ends here.
    recover: u64,
    /// The left edge at the latest time-out.
    timed_out_at: u64,
    /// The first segment is to be sent at once.
    must_send_first: bool,
    /// Left in flight by a time-out; the window stands on top of it.
    kept_bytes: u64,
    /// A segment sent once, before the time-out, was newly delivered.
    has_original_arrived: bool,
    delivery: Option<Delivery>,
    /// The latest smoothed round trip and time-out, for the probe.
    srtt: Duration,
    rto: Duration,
}

impl Rack {
    fn new(setup: &Setup, is_linux: bool) -> Self {
        Rack {
            setup: *setup,
            is_linux,
            stage: Stage::Open,
            detector: Detector::default(),
            probe: TailProbe::default(),
            undo: Undo::default(),
            reduction: None,
            frto: Frto::Off,
            recover: 0,
            timed_out_at: 0,
            must_send_first: false,
            kept_bytes: 0,
            has_original_arrived: false,
            delivery: None,
            srtt: Duration::ZERO,
            rto: Duration::from_secs(1),
        }
    }

    /// Three segments SACKed, or a loss under repair: no time for reordering.
    fn is_certain(&self, board: &Scoreboard) -> bool {
        let enough_bytes = u64::from(self.setup.dupack_threshold) * u64::from(self.setup.mss);
        self.stage != Stage::Open || board.sacked_bytes() >= enough_bytes
    }

    fn detect(&mut self, board: &mut Scoreboard, now: Time) -> u64 {
        let is_certain = self.is_certain(board);
        self.detector.detect(board, now, is_certain)
    }

    /// True when the window is to be cut, which an echoed mark may have done already.
    fn enter_recovery(&mut self, board: &Scoreboard) -> bool {
        self.stage = Stage::Recovery;
        self.recover = board.nxt();
        self.must_send_first = true;
        self.undo.begin(board.una());
        self.probe.disarm();
        self.reduction.is_none()
    }

    /// The latest loss was none.
    fn take_back(&mut self, board: &mut Scoreboard) -> Outcome {
        let is_repaired = self.stage == Stage::Recovery;
        self.detector.take_back(board, is_repaired);
        self.undo.end();
        self.open();
        Outcome { is_spurious: true, is_repaired, ..Outcome::NOTHING }
    }

    fn open(&mut self) {
        self.stage = Stage::Open;
        self.reduction = None;
        self.frto = Frto::Off;
        self.must_send_first = false;
        self.kept_bytes = 0;
    }

    /// The ACK's part in taking back a loss, whatever the stage.
    fn is_spurious(&self, delivery: &Delivery) -> bool {
        let is_delayed = self.stage != Stage::Open && self.undo.is_delayed(delivery.echoed_at);
        self.is_linux && (self.undo.is_explained() || (is_delayed && delivery.acked_bytes > 0))
    }

    /// F-RTO (RFC 5682 section 3): `None` while it does not know.
    fn frto_verdict(&mut self, board: &Scoreboard, delivery: &Delivery) -> Option<bool> {
        if self.frto == Frto::Off {
            return Some(false);
        }
        if core::mem::take(&mut self.has_original_arrived) {
            return Some(true);
        }
        let moved = delivery.acked_bytes > 0;
        let sent_new = board.nxt() > self.recover;
        if self.frto == Frto::SentFirst && moved && !sent_new {
            self.frto = Frto::SendsNew;
        } else if self.frto == Frto::SendsNew && (!sent_new || !moved || delivery.sacked_bytes > 0)
        {
            // Step 3a, or there was nothing new to send.
            self.frto = Frto::Off;
        }
        None
    }

    /// What an ACK means in this stage, losses newly found left aside.
    fn on_any_ack(&mut self, board: &mut Scoreboard) -> Outcome {
        let Some(delivery) = self.delivery else { return Outcome::NOTHING };
        let moved = delivery.acked_bytes > 0;
        let mut outcome = if moved { Outcome::PLAIN } else { Outcome::NOTHING };
        let was_loss = self.stage == Stage::Loss;
        let is_spurious = self.is_spurious(&delivery)
            || (was_loss && self.frto_verdict(board, &delivery) == Some(true));
        let is_past = board.una() >= self.recover;
        if is_spurious {
            let restarts_timer = moved;
            outcome = Outcome { restarts_timer, ..self.take_back(board) };
            self.detect(board, delivery.now);
        } else if self.stage == Stage::Recovery {
            outcome.may_grow = false;
            outcome.is_repaired = is_past;
            if is_past {
                self.open();
                self.detector.on_recovery_exit();
            }
        } else if is_past && (was_loss || self.reduction.is_some()) {
            self.open();
        } else if self.reduction.is_some() {
            outcome.may_grow = false;
        }
        let masked =
            self.probe.on_ack(board.una(), delivery.duplicate.is_some(), says_nothing(&delivery));
        if self.stage == Stage::Open && self.detector.next_lost(board).is_some() {
            let is_loss_found = self.enter_recovery(board);
            outcome = Outcome { is_loss_found, may_grow: false, restarts_timer: true, ..outcome };
        } else if self.stage == Stage::Open && masked {
            // Repaired already: only the window is to come down.
            outcome = Outcome { is_loss_found: true, may_grow: false, ..outcome };
        }
        self.rearm_probe(board, delivery.now);
        outcome
    }

    fn rearm_probe(&mut self, board: &Scoreboard, now: Time) {
        let is_quiet = self.stage == Stage::Open && board.sacked_bytes() == 0;
        if is_quiet && board.flight_bytes() > 0 {
            let is_alone = board.flight_bytes() <= self.setup.mss.into();
            self.probe.arm(now, self.srtt, self.rto, is_alone);
        } else {
            self.probe.disarm();
        }
    }

    fn window_bytes(&self, cwnd_bytes: u64) -> u64 {
        match &self.reduction {
            Some(reduction) => reduction.window_bytes(),
            None => cwnd_bytes.saturating_add(self.kept_bytes),
        }
    }

    fn reduce(&mut self, board: &Scoreboard, delivery: &Delivery, is_safe: bool) {
        let (in_flight_bytes, mss) = (self.pipe_bytes(board), self.setup.mss);
        if let Some(reduction) = &mut self.reduction {
            let Delivery { delivered_bytes, cwnd_bytes, .. } = *delivery;
            reduction.on_ack(delivered_bytes, in_flight_bytes, cwnd_bytes, mss, is_safe);
        }
    }
}

/// An ACK that neither moves nor reports anything.
fn says_nothing(delivery: &Delivery) -> bool {
    delivery.acked_bytes == 0 && delivery.delivered_bytes == 0
}

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
