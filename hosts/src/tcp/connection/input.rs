//! Segment input, step by step as in RFC 9293 section 3.10.7.

use crate::api::State;
use crate::tcp::connection::Connection;
use crate::tcp::connection::step::{Step, segment_len};
use crate::tcp::receiver::AckDue;
use crate::tcp::seq;
use crate::wire::segment::{Flags, Segment};
use narrows_common::Time;

impl Connection {
    /// A segment of this connection arrived; its checksums are verified.
    pub fn handle_segment(&mut self, now: Time, segment: &Segment<'_>) {
        self.on_heard(now);
        match self.state {
            State::Closed => {}
            State::Listen => self.handle_in_listen(now, segment),
            State::SynSent => self.handle_in_syn_sent(now, segment),
            _ => self.handle_synchronized(now, segment),
        }
    }

    /// Section 3.10.7.4.
    fn handle_synchronized(&mut self, now: Time, segment: &Segment<'_>) {
        let near = self.receiver.buffer.nxt();
        let Some(start) = seq::to_position(self.peer_isn, segment.seq, near) else {
            self.receiver.due = AckDue::Now;
            return;
        };
        // The next segment in order passes the first three steps unless it has one of their flags.
        let is_in_order = start == near && !segment.flags.has_any(Flags::SYN.with(Flags::RST));
        if !is_in_order || cfg!(debug_assertions) {
            for step in [Self::check_sequence, Self::check_reset, Self::check_syn] {
                if step(self, now, segment, start) == Step::Stop {
                    debug_assert!(!is_in_order, "a step stops at {start}: {segment:?}");
                    return;
                }
            }
        }
        for step in [Self::check_timestamp, Self::check_ack, Self::take_payload, Self::take_fin] {
            if step(self, now, segment, start) == Step::Stop {
                return;
            }
        }
    }

    /// First: is it inside the window?
    fn check_sequence(&mut self, _now: Time, segment: &Segment<'_>, start: u64) -> Step {
        let (nxt, edge) = (self.receiver.buffer.nxt(), self.receiver.offered_edge());
        let end = start + segment_len(segment);
        let is_acceptable = if end == start {
            // The ACKs of a peer that has filled the window are exactly at the edge.
            nxt <= start && start <= edge.max(nxt)
        } else {
            // Data beyond a closed window is cut off; the ACK still counts.
            end > nxt && (start < edge || start == nxt)
        };
        if is_acceptable {
            return Step::Continue;
        }
        if segment.flags.has(Flags::SYN) && self.state == State::SynReceived {
            // The peer did not receive our answer to its SYN.
            self.must_send_syn = true;
            self.has_lost_syn = true;
        } else if !segment.flags.has(Flags::RST) {
            self.receiver.due = AckDue::Now;
            self.receiver.on_old_payload(start, start + u64::from(segment.payload.len()));
            // An old pure ACK needs no answer. Otherwise two ends that have each accepted a probe
            // of the other would answer each other's ACKs forever.
            if start < nxt && end == start {
                return Step::Continue;
            }
        }
        Step::Stop
    }

    /// Second: a reset (RFC 5961 section 3.2: only exactly at RCV.NXT).
    fn check_reset(&mut self, _now: Time, segment: &Segment<'_>, start: u64) -> Step {
        if !segment.flags.has(Flags::RST) {
            return Step::Continue;
        }
        if start == self.receiver.buffer.nxt() {
            self.be_reset();
        } else {
            self.receiver.due = AckDue::Now;
        }
        Step::Stop
    }

    /// Fourth: a SYN inside the window gets a challenge ACK (RFC 5961 section 4.2).
    fn check_syn(&mut self, _now: Time, segment: &Segment<'_>, _start: u64) -> Step {
        if segment.flags.has(Flags::SYN) && self.state != State::SynReceived {
            self.receiver.due = AckDue::Now;
            return Step::Stop;
        }
        Step::Continue
    }

    /// Protection against wrapped sequence numbers, and the timestamp to echo (RFC 7323 sections
    /// 4.3 and 5.3).
    fn check_timestamp(&mut self, _now: Time, segment: &Segment<'_>, start: u64) -> Step {
        let (true, Some((value, _))) = (self.has_timestamps, segment.options.timestamps) else {
            return Step::Continue;
        };
        if self.receiver.ts_recent.is_some_and(|recent| (value.wrapping_sub(recent) as i32) < 0) {
            self.receiver.due = AckDue::Now;
            return Step::Stop;
        }
        if start <= self.receiver.last_ack_sent {
            self.receiver.ts_recent = Some(value);
        }
        Step::Continue
    }

    pub(super) fn be_reset(&mut self) {
        self.was_reset = true;
        self.enter_closed();
    }
}
