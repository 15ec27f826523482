//! Time-based recovery: RACK-TLP (RFC 8985), alone or with Linux's additions.
//!
//! `rack` is the RFC: it retransmits what [`detect`] finds lost, keeps a window's worth of data in
//! flight, and probes the tail ([`probe`]). It detects lost retransmissions like any other loss.
//! Limited transmit (RFC 3042) follows, because SACKed segments do not count as in flight.
//!
//! `linux` adds proportional rate reduction ([`prr`], also after echoed marks), F-RTO after a
//! time-out (RFC 5682 section 3, the SACK form), and undo of spurious losses ([`undo`]), which
//! restores the variant's earlier state.
//!
//! Differences from Linux: a retransmission lost again after a time-out does not cut the window a
//! second time; pacing does not change the data in flight after a time-out.

mod detect;
mod frto;
mod hooks;
mod probe;
mod prr;
mod undo;

use crate::api::{Delivery, Need, Stage};
use crate::outstanding::scoreboard::Scoreboard;
use crate::recovery::rule::{Outcome, Recovery, Rule, Setup};
use detect::Detector;
use frto::Frto;
use narrows_common::{Duration, Time};
use probe::TailProbe;
use prr::Reduction;
use undo::Undo;

/// Recovery as in Linux.
pub const LINUX_RULE: Rule = Rule {
    name: "linux",
    title: "Linux's recovery: RACK-TLP, proportional rate reduction, F-RTO, undo",
    reference: "RFC 8985, RFC 9937 (RFC 6937), RFC 5682, RFC 2883, RFC 3522; Linux tcp_input.c",
    needs: NEEDS,
    not_implemented: &[
        "a second cut if a retransmission is lost after a time-out",
        "adaptive reordering degree in segments (net.ipv4.tcp_reordering); RACK's window in time only",
    ],
    build: |setup| Box::new(Rack::new(setup, true)),
};

/// RACK-TLP as in the RFC.
pub const RULE: Rule = Rule {
    name: "rack",
    title: "detects losses by time, and probes the tail (RACK-TLP)",
    reference: "RFC 8985",
    needs: NEEDS,
    not_implemented: &[],
    build: |setup| Box::new(Rack::new(setup, false)),
};

const NEEDS: &[Need] = &[Need::Sack, Need::SegmentTimes];

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
    /// The end of the data sent when the latest loss was detected.
    recover: u64,
    /// The left edge at the latest time-out.
    timed_out_at: u64,
    /// The first segment must be sent next.
    must_send_first: bool,
    /// Bytes that a time-out left in flight; the window is added to them.
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

    /// Three segments are SACKed, or a loss is being repaired: no allowance for reordering.
    fn is_certain(&self, board: &Scoreboard) -> bool {
        let enough_bytes = u64::from(self.setup.dupack_threshold) * u64::from(self.setup.mss);
        self.stage != Stage::Open || board.sacked_bytes() >= enough_bytes
    }

    fn detect(&mut self, board: &mut Scoreboard, now: Time) -> u64 {
        let is_certain = self.is_certain(board);
        self.detector.detect(board, now, is_certain)
    }

    /// True if the window must be cut, unless an echoed mark has cut it already.
    fn enter_recovery(&mut self, board: &Scoreboard) -> bool {
        self.stage = Stage::Recovery;
        self.recover = board.nxt();
        self.must_send_first = true;
        self.undo.begin(board.una());
        self.probe.disarm();
        self.reduction.is_none()
    }

    /// Withdraws the latest loss.
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

    /// Whether the ACK shows the loss to be spurious, in any stage.
    fn is_spurious(&self, delivery: &Delivery) -> bool {
        let is_delayed = self.stage != Stage::Open && self.undo.is_delayed(delivery.echoed_at);
        self.is_linux && (self.undo.is_explained() || (is_delayed && delivery.acked_bytes > 0))
    }

    /// F-RTO (RFC 5682 section 3): `None` while undecided.
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
            // Step 3a, or no new data to send.
            self.frto = Frto::Off;
        }
        None
    }

    /// The outcome of an ACK in this stage, apart from newly detected losses.
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
            // Already repaired: only reduce the window.
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

/// The ACK neither advances nor reports anything.
fn says_nothing(delivery: &Delivery) -> bool {
    delivery.acked_bytes == 0 && delivery.delivered_bytes == 0
}
