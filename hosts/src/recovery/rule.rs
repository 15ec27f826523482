//! The loss-recovery interface: hooks, their outcome, and a rule's record.

use crate::api::{Delivery, Need, Stage};
use crate::outstanding::scoreboard::Scoreboard;
use crate::outstanding::sent_segments::SentSegment;
use crate::rtt::RttEstimator;
use core::fmt;
use narrows_common::Time;
use schemars::JsonSchema;
use serde::Serialize;

/// A rule's record, for help, documentation and checks.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[schemars(rename = "RecoveryRecord")]
pub struct Rule {
    /// The name in a scenario.
    pub name: &'static str,
    /// A one-line description.
    pub title: &'static str,
    /// The source.
    pub reference: &'static str,
    /// What it requires of the connection.
    pub needs: &'static [Need],
    /// The parts of the source that are not implemented.
    pub not_implemented: &'static [&'static str],
    /// Creates an instance.
    #[serde(skip)]
    pub build: fn(&Setup) -> Box<dyn Recovery>,
}

/// The initial state of a rule.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// Duplicate ACKs that start fast retransmit.
    pub dupack_threshold: u32,
    /// New segments on the first duplicate ACKs (RFC 3042).
    pub limited_transmit: bool,
    /// NewReno as in ns-2 (see [`crate::api::Profile::ns2_newreno`]).
    pub ns2_newreno: bool,
}

impl Setup {
    /// RFC 3042: one more segment on each of the first two duplicate ACKs.
    pub(super) fn limited_transmit_bytes(&self, dupacks: u32) -> u64 {
        let has_allowance = self.limited_transmit && dupacks < self.dupack_threshold;
        if has_allowance { u64::from(dupacks.min(2)) * u64::from(self.mss) } else { 0 }
    }

    /// Like `limited_transmit_bytes`, while lost data is retransmitted; only with ns-2's
    /// `singledup_`.
    pub(super) fn extra_after_loss_bytes(&self, dupacks: u32) -> u64 {
        if self.ns2_newreno { self.limited_transmit_bytes(dupacks) } else { 0 }
    }
}

/// The consequences of an ACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// A loss was detected, so the window must be cut.
    pub is_loss_found: bool,
    /// With a loss: the lost segment had been retransmitted before.
    pub was_retransmitted: bool,
    /// With a loss: the window restarts at one segment, as after a time-out.
    pub restarts_window: bool,
    /// With a loss: the window is halved before the cut.
    pub is_overdamped: bool,
    /// Loss recovery without a time-out is complete.
    pub is_repaired: bool,
    /// The window may grow with this ACK.
    pub may_grow: bool,
    /// The retransmission timer restarts.
    pub restarts_timer: bool,
    /// The time-out's back-off ends.
    pub clears_backoff: bool,
    /// The time-out backs off although none expired.
    pub backs_off: bool,
    /// The latest loss was spurious: the window returns to its former value.
    pub is_spurious: bool,
    /// The window's limit, to avoid a burst.
    pub most_window_bytes: Option<u64>,
}

impl Outcome {
    /// A new ACK without a loss.
    pub(super) const PLAIN: Outcome =
        Outcome { may_grow: true, restarts_timer: true, ..Outcome::NOTHING };
    /// A duplicate ACK that means nothing yet.
    pub(super) const NOTHING: Outcome = Outcome {
        is_loss_found: false,
        was_retransmitted: false,
        restarts_window: false,
        is_overdamped: false,
        is_repaired: false,
        may_grow: false,
        restarts_timer: false,
        clears_backoff: false,
        backs_off: false,
        is_spurious: false,
        most_window_bytes: None,
    };
    /// A loss that cuts the window.
    pub(super) const LOSS: Outcome =
        Outcome { is_loss_found: true, restarts_timer: true, ..Outcome::NOTHING };
}

/// A sent segment.
#[derive(Clone, Copy, Debug)]
pub struct Transmission<'a> {
    /// When.
    pub now: Time,
    /// Its first position.
    pub start: u64,
    /// The position after its last.
    pub end: u64,
    /// The round-trip estimator.
    pub rtt: &'a RttEstimator,
}

/// What to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextSegment {
    /// Retransmit the front of `[start, end)`, at most one segment.
    Retransmit {
        /// First position.
        start: u64,
        /// The position after the last.
        end: u64,
    },
    /// New data, at most this many bytes.
    New {
        /// The free part of the congestion window.
        room_bytes: u64,
    },
}

/// A rule of loss recovery.
pub trait Recovery: fmt::Debug + core::marker::Send {
    /// A segment was sent, for the first time or as a retransmission; the scoreboard includes it.
    fn on_sent(&mut self, _board: &Scoreboard, _transmission: &Transmission<'_>) {}

    /// A segment that begins at `start` has arrived, by ACK or SACK; `sent` is its state before.
    /// This hook and the next are for rules that need [`Need::SegmentTimes`].
    fn on_segment_delivered(&mut self, _now: Time, _start: u64, _sent: &SentSegment) {}

    /// The ACK's SACKs are in the scoreboard; one of the next two hooks follows.
    fn on_delivered(&mut self, _board: &mut Scoreboard, _delivery: &Delivery) {}

    /// The ACK advanced the left edge by `acked_bytes`; the scoreboard includes it.
    fn on_ack(&mut self, board: &mut Scoreboard, acked_bytes: u64) -> Outcome;

    /// The ACK did not advance while data was outstanding; its SACK blocks reported
    /// `newly_sacked_bytes`.
    fn on_duplicate_ack(&mut self, board: &mut Scoreboard, newly_sacked_bytes: u64) -> Outcome;

    /// Congestion control handled a loss or a mark: the window was `before_bytes`, and must
    /// decrease to `cwnd_bytes`.
    fn on_window_cut(&mut self, _board: &Scoreboard, _before_bytes: u64, _cwnd_bytes: u64) {}

    /// The retransmission time-out expired.
    fn on_timeout(&mut self, board: &mut Scoreboard, now: Time);

    /// When to call [`Recovery::handle_timeout`].
    fn poll_timeout(&self) -> Option<Time> {
        None
    }

    /// Handles everything due at `now`.
    fn handle_timeout(&mut self, _board: &mut Scoreboard, _now: Time) -> Outcome {
        Outcome::NOTHING
    }

    /// What to send next with a window of `cwnd_bytes`. `has_new`: there is new data that the
    /// peer's window admits.
    fn poll_send(&self, board: &Scoreboard, cwnd_bytes: u64, has_new: bool) -> NextSegment;

    /// `[start, end)` was retransmitted.
    fn on_retransmitted(&mut self, board: &mut Scoreboard, start: u64, end: u64);

    /// The stage of loss recovery.
    fn stage(&self) -> Stage;

    /// Bytes believed to be in the network.
    fn pipe_bytes(&self, board: &Scoreboard) -> u64 {
        board.pipe_bytes()
    }

    /// True if it reports each lost segment. Otherwise a segment counts as lost when it is
    /// retransmitted.
    fn marks_losses(&self) -> bool {
        false
    }

    /// True if a loss probe is due, which the rules against small segments must not delay. For
    /// rules that need [`Need::SegmentTimes`].
    fn is_probing(&self) -> bool {
        false
    }

    /// True if a time-out now belongs to the same loss event, so the threshold stays.
    fn has_cut_before(&self, _board: &Scoreboard) -> bool {
        false
    }

    /// True if every ACK is a round-trip sample, of the segment that last advanced the left edge
    /// and whose timestamp the peer keeps echoing.
    fn samples_every_ack(&self, _board: &Scoreboard) -> bool {
        false
    }

    /// True if it may find a loss to be spurious ([`Outcome::is_spurious`]).
    fn can_take_back(&self) -> bool {
        false
    }
}

/// What to send for a loss that duplicate ACKs show: the oldest outstanding data.
pub(super) fn resend_oldest(board: &Scoreboard) -> NextSegment {
    NextSegment::Retransmit { start: board.una(), end: board.nxt() }
}

/// What to send without a loss: new data, in the window that outstanding data leaves free.
pub(super) fn send_new(board: &Scoreboard, window_bytes: u64) -> NextSegment {
    NextSegment::New { room_bytes: window_bytes.saturating_sub(board.flight_bytes()) }
}

/// What to send after a time-out: lost holes from the first on, then new data.
pub(super) fn send_after_rto(board: &Scoreboard, mss: u32, cwnd_bytes: u64) -> NextSegment {
    let room_bytes = cwnd_bytes.saturating_sub(board.pipe_bytes());
    match board.next_lost_hole() {
        Some((start, end)) if room_bytes >= (end - start).min(mss.into()) => {
            NextSegment::Retransmit { start, end }
        }
        Some(_) => NextSegment::New { room_bytes: 0 },
        None => NextSegment::New { room_bytes },
    }
}
