//! The loss-recovery interface: hooks, their outcome, and a rule's record.

use crate::tcp::api::{Delivery, Need, Stage};
use crate::tcp::outstanding::scoreboard::Scoreboard;
use crate::tcp::outstanding::sent_segments::SentSegment;
use crate::tcp::rtt::RttEstimator;
use core::fmt;
use narrows_common::Time;
use schemars::JsonSchema;
use serde::Serialize;

/// What there is to know about a rule, for help, docs and checks.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[schemars(rename = "RecoveryRecord")]
pub struct Rule {
    /// The name in a scenario.
    pub name: &'static str,
    /// One line on what it is.
    pub title: &'static str,
    /// Where it comes from.
    pub reference: &'static str,
    /// What the connection must have.
    pub needs: &'static [Need],
    /// What of the source is not implemented.
    pub not_implemented: &'static [&'static str],
    /// Makes one.
    #[serde(skip)]
    pub build: fn(&Setup) -> Box<dyn Recovery>,
}

/// What a rule starts from.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// Duplicate ACKs that begin fast retransmit.
    pub dupack_threshold: u32,
    /// New segments on the first duplicate ACKs (RFC 3042).
    pub limited_transmit: bool,
    /// NewReno as in ns-2 (see [`crate::compat::profiles::Profile::ns2_newreno`]).
    pub ns2_newreno: bool,
}

impl Setup {
    /// RFC 3042: one more segment on each of the first two duplicate ACKs.
    pub(super) fn limited_transmit_bytes(&self, dupacks: u32) -> u64 {
        let has_allowance = self.limited_transmit && dupacks < self.dupack_threshold;
        if has_allowance { u64::from(dupacks.min(2)) * u64::from(self.mss) } else { 0 }
    }

    /// The same while lost data is retransmitted, which is ns-2's `singledup_` only.
    pub(super) fn extra_after_loss_bytes(&self, dupacks: u32) -> u64 {
        if self.ns2_newreno { self.limited_transmit_bytes(dupacks) } else { 0 }
    }
}

/// What an ACK meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// A loss was found: the window is to be cut.
    pub is_loss_found: bool,
    /// With a loss: what was lost had been retransmitted before.
    pub was_retransmitted: bool,
    /// With a loss: the window restarts at one segment, as after a time-out.
    pub restarts_window: bool,
    /// With a loss: the window is halved before it is cut.
    pub is_overdamped: bool,
    /// A loss has been repaired without a time-out.
    pub is_repaired: bool,
    /// The window may grow by this ACK.
    pub may_grow: bool,
    /// The retransmission timer starts again.
    pub restarts_timer: bool,
    /// The time-out no longer backs off.
    pub clears_backoff: bool,
    /// The time-out backs off, though none expired.
    pub backs_off: bool,
    /// The latest loss was none: the window is to be what it was before.
    pub is_spurious: bool,
    /// The window is to be this at most, so that no burst leaves.
    pub most_window_bytes: Option<u64>,
}

impl Outcome {
    /// A new ACK with nothing lost.
    pub(super) const PLAIN: Outcome =
        Outcome { may_grow: true, restarts_timer: true, ..Outcome::NOTHING };
    /// A duplicate ACK that says nothing yet.
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

/// A segment that left.
#[derive(Clone, Copy, Debug)]
pub struct Transmission<'a> {
    /// When.
    pub now: Time,
    /// Its first position.
    pub start: u64,
    /// The position behind its last.
    pub end: u64,
    /// What is known of the round trip.
    pub rtt: &'a RttEstimator,
}

/// What to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextSegment {
    /// Again the front of `[start, end)`, one segment at most.
    Retransmit {
        /// First position.
        start: u64,
        /// Position behind the last.
        end: u64,
    },
    /// New data, at most so many bytes.
    New {
        /// What the congestion window has open.
        room_bytes: u64,
    },
}

/// A rule of loss recovery.
pub trait Recovery: fmt::Debug + core::marker::Send {
    /// A segment left, for the first time or again; the scoreboard knows of it.
    fn on_sent(&mut self, _board: &Scoreboard, _transmission: &Transmission<'_>) {}

    /// A segment that begins at `start` has arrived, by ACK or SACK; `sent` as it was before. This
    /// hook and the next are for rules that need [`Need::SegmentTimes`].
    fn on_segment_delivered(&mut self, _now: Time, _start: u64, _sent: &SentSegment) {}

    /// All of an ACK has been taken; one of the two hooks that follow is called next.
    fn on_delivered(&mut self, _board: &mut Scoreboard, _delivery: &Delivery) {}

    /// The ACK moved the left edge by `acked_bytes`; the scoreboard has been brought up to date.
    fn on_ack(&mut self, board: &mut Scoreboard, acked_bytes: u64) -> Outcome;

    /// The ACK moved nothing while data was outstanding; its SACK blocks reported
    /// `newly_sacked_bytes`.
    fn on_duplicate_ack(&mut self, board: &mut Scoreboard, newly_sacked_bytes: u64) -> Outcome;

    /// Congestion control was told of a loss or a mark: the window was `before_bytes`, and is to
    /// come down to `cwnd_bytes`.
    fn on_window_cut(&mut self, _board: &Scoreboard, _before_bytes: u64, _cwnd_bytes: u64) {}

    /// The retransmission time-out expired.
    fn on_timeout(&mut self, board: &mut Scoreboard, now: Time);

    /// When [`Recovery::handle_timeout`] is to be called.
    fn poll_timeout(&self) -> Option<Time> {
        None
    }

    /// Does what is due at `now`.
    fn handle_timeout(&mut self, _board: &mut Scoreboard, _now: Time) -> Outcome {
        Outcome::NOTHING
    }

    /// What to send next under a window of `cwnd_bytes`. `has_new` says that there is new data
    /// which the peer's window admits.
    fn poll_send(&self, board: &Scoreboard, cwnd_bytes: u64, has_new: bool) -> NextSegment;

    /// `[start, end)` was retransmitted.
    fn on_retransmitted(&mut self, board: &mut Scoreboard, start: u64, end: u64);

    /// What it is doing about loss.
    fn stage(&self) -> Stage;

    /// Bytes believed to be in the network.
    fn pipe_bytes(&self, board: &Scoreboard) -> u64 {
        board.pipe_bytes()
    }

    /// It says of each segment when it is lost. Otherwise a segment is when it is retransmitted.
    fn marks_losses(&self) -> bool {
        false
    }

    /// A loss probe is due, which no rule against small segments holds back; asked of a rule that
    /// needs [`Need::SegmentTimes`].
    fn is_probing(&self) -> bool {
        false
    }

    /// A time-out now is of the same loss event, and leaves the threshold as it is.
    fn has_cut_before(&self, _board: &Scoreboard) -> bool {
        false
    }

    /// Every ACK is now a sample of the round trip: of the segment that last moved the left edge,
    /// whose time of departure the peer goes on echoing.
    fn samples_every_ack(&self, _board: &Scoreboard) -> bool {
        false
    }

    /// It may find a loss to have been none ([`Outcome::is_spurious`]).
    fn can_take_back(&self) -> bool {
        false
    }
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
