//! Payload, marks and FIN of a segment: last steps of RFC 9293 section 3.10.7.4.

use crate::api::Need;
use crate::api::State;
use crate::compat::ns2::ack_control::Report;
use crate::tcp::connection::Connection;
use crate::tcp::connection::step::Step;
use crate::tcp::receiver::AckDue;
use crate::tcp::seq;
use crate::tcp::timers::Timer;
use crate::wire::segment::{Ecn, Flags, Segment};
use crate::wire::stamp;
use narrows_common::Time;

impl Connection {
    /// Seventh: the payload.
    pub(super) fn take_payload(&mut self, now: Time, segment: &Segment<'_>, start: u64) -> Step {
        if segment.payload.is_empty() {
            return Step::Continue;
        }
        if !matches!(self.state, State::Established | State::FinWait1 | State::FinWait2) {
            self.receiver.due = AckDue::Now;
            return Step::Continue;
        }
        self.receiver.counters.segments_received += 1;
        self.take_marks(segment);
        if let Some(sent_at) = stamp::parse(self.settings.flow, segment.payload.bytes) {
            self.receiver.on_stamp(now.saturating_since(sent_at));
        }
        let delay = self.settings.profile.delayed_ack;
        let is_in_order = self.receiver.on_payload(now, start, &segment.payload, delay.is_some());
        self.control_acks(segment, is_in_order);
        if let (AckDue::Later, Some(delay)) = (self.receiver.due, delay) {
            if !self.timers.is_set(Timer::DelayedAck) {
                self.timers.set(Timer::DelayedAck, now + delay);
            }
        }
        Step::Continue
    }

    /// With ACK congestion control the ACK may wait for more than two segments.
    pub(super) fn control_acks(&mut self, segment: &Segment<'_>, is_in_order: bool) {
        let Some(control) = &mut self.receiver.ack_control else { return };
        let received = self.receiver.buffer.nxt();
        let report = segment.options.sender_report.and_then(|(acked, window)| {
            let acked = seq::to_position(self.peer_isn, acked, received)?;
            Some(Report { acked, window_bytes: window.into() })
        });
        let echoes_mark = segment.flags.has(Flags::ECE);
        let segment_bytes = segment.payload.len();
        let is_due = control.on_segment(received, segment_bytes, echoes_mark, report, is_in_order);
        self.receiver.due = if is_due { AckDue::Now } else { AckDue::Later };
    }

    /// Congestion marks (RFC 3168 section 6.1.3).
    pub(super) fn take_marks(&mut self, segment: &Segment<'_>) {
        if !self.has_ecn {
            return;
        }
        let is_marked = segment.ecn == Ecn::Ce;
        self.receiver.counters.ce_marks += u64::from(is_marked);
        if self.settings.needs(Need::Ecn) {
            self.receiver.on_exact_mark(is_marked);
            return;
        }
        if segment.flags.has(Flags::CWR) {
            self.receiver.echoes_ce = false;
        }
        self.receiver.echoes_ce |= is_marked;
    }

    /// Eighth: the FIN, once everything before it has arrived.
    #[inline(always)]
    pub(super) fn take_fin(&mut self, now: Time, segment: &Segment<'_>, start: u64) -> Step {
        if segment.flags.has(Flags::FIN) {
            let at = start + u64::from(segment.payload.len());
            return self.take_fin_at(now, at);
        }
        Step::Continue
    }

    fn take_fin_at(&mut self, now: Time, at: u64) -> Step {
        self.receiver.due = AckDue::Now;
        if at != self.receiver.buffer.nxt() {
            return Step::Continue;
        }
        match self.state {
            State::Established => self.state = State::CloseWait,
            State::FinWait1 => self.state = State::Closing,
            State::FinWait2 => self.enter_time_wait(now),
            _ => return Step::Continue,
        }
        self.receiver.buffer.take_fin();
        Step::Continue
    }
}
