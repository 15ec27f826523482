//! The acknowledgment of a segment: fifth step of RFC 9293 section 3.10.7.4.

use crate::api::State;
use crate::tcp::connection::Connection;
use crate::tcp::connection::step::{Step, segment_len};
use crate::tcp::receiver::AckDue;
use crate::tcp::seq;
use crate::tcp::timers::Timer;
use crate::wire::segment::{Ecn, Flags, Segment};
use narrows_common::{Duration, Time};

impl Connection {
    /// Fifth: the acknowledgment.
    pub(super) fn check_ack(&mut self, now: Time, segment: &Segment<'_>, start: u64) -> Step {
        if !segment.flags.has(Flags::ACK) {
            return Step::Stop;
        }
        let una = self.sender.una();
        let ack = seq::to_position(self.isn, segment.ack, una).unwrap_or(0);
        if self.state == State::SynReceived {
            if ack != 1 {
                return Step::Stop;
            }
            self.establish(now, segment);
        }
        if ack > self.sender.nxt() && ack <= self.probed_to {
            // The peer accepted a probe, so its bytes are sent and acknowledged together.
            if let Some(sender) = self.sender.active() {
                sender.board.on_sent(ack);
            }
            if self.is_closing && ack > self.sender.end() {
                self.follow_own_fin();
            }
        }
        if ack > self.sender.nxt() {
            self.receiver.due = AckDue::Now;
            return Step::Stop;
        }
        if ack < self.sender.una() {
            return Step::Continue;
        }
        self.must_echo_mark |= self.settings.reports_window && segment.ecn == Ecn::Ce;
        let is_window_update = self.update_window(segment, start, ack);
        if self.sender.active().is_none() {
            return Step::Continue;
        }
        let (echoes_mark, echoed_at) = (self.echoes_mark(segment), self.echoed_at(now, segment));
        let one_way = self.one_way(segment);
        let Some(sender) = self.sender.active() else { return Step::Continue };
        if echoes_mark {
            sender.on_ecn_echo(now);
        }
        sender.echoed_at = echoed_at;
        sender.one_way = one_way;
        let newly_sacked = self.take_sack_blocks(now, segment, ack);
        if ack > self.sender.una() {
            self.take_new_ack(now, segment, ack);
        } else if let Some(sender) = self.sender.active().filter(|s| s.board.flight_bytes() > 0) {
            // A duplicate ACK by RFC 6675 section 2, or by RFC 5681 section 2.
            let is_plain = segment_len(segment) == 0 && !is_window_update;
            if newly_sacked > 0 || sender.duplicate.is_some() || is_plain {
                let restarts_timer = sender.on_duplicate_ack(now, newly_sacked);
                self.rearm(now, restarts_timer);
            }
        }
        self.follow_fin(now)
    }

    pub(super) fn take_new_ack(&mut self, now: Time, segment: &Segment<'_>, ack: u64) {
        self.on_progress();
        let echoed = self.echoed_rtt(now, segment);
        let echoes_mark = self.echoes_mark(segment);
        if let Some(sender) = self.sender.active() {
            let restarts_timer = sender.on_ack(now, ack, echoed, echoes_mark);
            self.rearm(now, restarts_timer);
        }
        if self.is_closing && self.unacked_bytes() == 0 {
            self.all_acked_at.get_or_insert(now);
        }
    }

    pub(super) fn echoes_mark(&self, segment: &Segment<'_>) -> bool {
        self.has_ecn && segment.flags.has(Flags::ECE)
    }

    /// RFC 6298 rules 5.2 and 5.3.
    pub(super) fn rearm(&mut self, now: Time, restarts_timer: bool) {
        if self.sender.flight_bytes() == 0 {
            self.timers.stop(Timer::Retransmit);
        } else if restarts_timer {
            self.timers.set(Timer::Retransmit, now + self.sender.rto());
        }
    }

    /// The round trip by the echoed timestamp, in whole milliseconds.
    pub(super) fn echoed_rtt(&self, now: Time, segment: &Segment<'_>) -> Option<Duration> {
        let (_, echo) = segment.options.timestamps.filter(|_| self.has_timestamps)?;
        let elapsed = super::output::timestamp(now).wrapping_sub(echo);
        (elapsed < 1 << 31).then(|| Duration::from_ms(u64::from(elapsed.max(1))))
    }

    /// The peer's clock at its answer minus ours at the segment's departure.
    pub(super) fn one_way(&self, segment: &Segment<'_>) -> Option<Duration> {
        let (value, echo) = segment.options.timestamps.filter(|_| self.has_timestamps)?;
        Some(Duration::from_ms(value.wrapping_sub(echo).into()))
    }

    /// The departure of the segment with the echoed timestamp, in whole milliseconds.
    pub(super) fn echoed_at(&self, now: Time, segment: &Segment<'_>) -> Option<Time> {
        let (_, echo) = segment.options.timestamps.filter(|_| self.has_timestamps)?;
        let elapsed = super::output::timestamp(now).wrapping_sub(echo);
        let left_ms = (now.as_us() / 1000).checked_sub(elapsed.into())?;
        Some(Time::ZERO + Duration::from_ms(left_ms))
    }

    /// Updates the send window (section 3.10.7.4, fifth step). True if the segment changes it.
    pub(super) fn update_window(&mut self, segment: &Segment<'_>, start: u64, ack: u64) -> bool {
        if start < self.window_updated_by {
            return false;
        }
        self.window_updated_by = start;
        let shift = self.peer_shift.filter(|_| !segment.flags.has(Flags::SYN)).unwrap_or(0);
        let window_bytes = u64::from(segment.window) << shift;
        let edge = ack + window_bytes;
        let (known_edge, widest_bytes) = self.sender.window();
        let has_changed = edge != core::mem::replace(known_edge, edge);
        *widest_bytes = window_bytes.max(*widest_bytes);
        if self.timers.is_set(Timer::Persist) {
            self.on_progress();
        }
        if edge > self.sender.nxt() {
            self.timers.stop(Timer::Persist);
            self.must_probe = false;
            self.probe_backoff = 0;
        }
        has_changed
    }

    pub(super) fn take_sack_blocks(&mut self, now: Time, segment: &Segment<'_>, ack: u64) -> u64 {
        let blocks = segment.options.sack.as_slice();
        let Some(sender) = self.sender.active().filter(|s| s.uses_sack && !blocks.is_empty())
        else {
            return 0;
        };
        let (una, isn) = (sender.board.una(), self.isn);
        let position = |wire| seq::to_position(isn, wire, una);
        let (mut newly, mut newest_end) = (0, None);
        let range = |index: usize| {
            let &(left, right) = blocks.get(index)?;
            Some((position(left)?, position(right)?)).filter(|(left, right)| left < right)
        };
        // RFC 2883 section 4: the first block reports a duplicate if it is below the cumulative ACK
        // or inside the second block.
        sender.duplicate = range(0).filter(|&(left, right)| {
            let within = |(outer_left, outer_right)| outer_left <= left && right <= outer_right;
            right <= ack || range(1).is_some_and(within)
        });
        for index in 0..blocks.len() {
            if let Some((left, right)) = range(index).filter(|&(_, right)| right > una) {
                // The first block contains the segment that caused this ACK (RFC 2018 section 4).
                if index == 0 && !sender.board.is_sacked(right.saturating_sub(1)) {
                    newest_end = Some(right);
                }
                newly += sender.on_sack_block(now, left, right);
            }
        }
        if let (Some(end), false) = (newest_end, self.has_timestamps) {
            sender.on_segment_sacked(now, end);
        }
        newly
    }

    /// Handles the acknowledgment of our FIN.
    pub(super) fn follow_fin(&mut self, now: Time) -> Step {
        if !self.is_fin_acked() {
            return Step::Continue;
        }
        match self.state {
            State::FinWait1 => self.state = State::FinWait2,
            State::Closing => self.enter_time_wait(now),
            State::LastAck => {
                self.enter_closed();
                return Step::Stop;
            }
            _ => {}
        }
        Step::Continue
    }
}
