//! Segment input, step by step as in RFC 9293 section 3.10.7.

use crate::compat::ns2::ack_control::Report;
use crate::tcp::api::Need;
use crate::tcp::connection::Connection;
use crate::tcp::receiver::AckDue;
use crate::tcp::seq;
use crate::tcp::state::State;
use crate::tcp::timers::Timer;
use crate::wire::options::Options;
use crate::wire::segment::{Ecn, Flags, Segment};
use crate::wire::stamp;
use narrows_common::{Duration, Time};

/// What a step decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// On to the next.
    Continue,
    /// The segment is done with.
    Stop,
}

impl Connection {
    /// A segment of this connection arrived, its checksums verified.
    pub fn handle_segment(&mut self, now: Time, segment: &Segment<'_>) {
        self.on_heard(now);
        match self.state {
            State::Closed => {}
            State::Listen => self.handle_in_listen(now, segment),
            State::SynSent => self.handle_in_syn_sent(now, segment),
            _ => self.handle_synchronized(now, segment),
        }
    }

    /// Section 3.10.7.2.
    fn handle_in_listen(&mut self, now: Time, segment: &Segment<'_>) {
        if segment.flags.has(Flags::RST) || !segment.flags.has(Flags::SYN) {
            return;
        }
        self.take_syn(segment);
        if self.settings.data_on_syn && !segment.payload.is_empty() {
            // T/TCP and TCP Fast Open hand it over before the handshake is done.
            self.receiver.on_payload(now, 1, &segment.payload, false);
        }
        self.has_ecn &= segment.flags.has(Flags::ECE.with(Flags::CWR));
        self.state = State::SynReceived;
        self.must_send_syn = true;
        self.syn_sent_at = now;
    }

    /// Section 3.10.7.3.
    fn handle_in_syn_sent(&mut self, now: Time, segment: &Segment<'_>) {
        let acks_syn = segment.flags.has(Flags::ACK);
        let acks_data = self.probed_to > 1 && segment.ack == seq::to_wire(self.isn, self.probed_to);
        if acks_syn && !acks_data && segment.ack != seq::to_wire(self.isn, 1) {
            return;
        }
        if segment.flags.has(Flags::RST) {
            if acks_syn {
                self.be_reset();
            }
            return;
        }
        if !segment.flags.has(Flags::SYN) {
            return;
        }
        self.take_syn(segment);
        if acks_syn {
            self.has_ecn &= segment.flags.has(Flags::ECE) && !segment.flags.has(Flags::CWR);
            self.establish(now, segment);
            if acks_data {
                if let Some(sender) = self.sender.active() {
                    sender.board.on_sent(self.probed_to);
                    sender.window_edge += self.probed_to - 1;
                }
                self.take_new_ack(now, segment, self.probed_to);
            }
            self.receiver.due = AckDue::Now;
        } else {
            // A simultaneous open.
            self.has_ecn &= segment.flags.has(Flags::ECE.with(Flags::CWR));
            self.state = State::SynReceived;
            self.must_send_syn = true;
        }
    }

    /// Takes over what the peer's SYN says.
    fn take_syn(&mut self, segment: &Segment<'_>) {
        let Options { mss, window_scale, sack_permitted, timestamps, .. } = segment.options;
        self.peer_isn = segment.seq;
        self.receiver.start();
        self.peer_shift = window_scale.map(|shift| shift.min(14));
        self.has_sack &= sack_permitted;
        self.has_timestamps &= timestamps.is_some();
        self.receiver.ts_recent = timestamps.map(|(value, _)| value);
        // RFC 9293 section 3.7.1: 536 bytes when the peer names none.
        self.sender.set_mss(self.segment_bytes_for(mss.unwrap_or(536)));
        *self.sender.window().0 = 1 + u64::from(segment.window);
    }

    /// The handshake is done on our side.
    fn establish(&mut self, now: Time, segment: &Segment<'_>) {
        self.state = State::Established;
        self.established_at = Some(now);
        let rtt = (!self.has_lost_syn).then(|| now.since(self.syn_sent_at));
        let handshake = self.handshake();
        self.sender.establish(now, rtt, &self.settings, handshake);
        self.timers.stop(Timer::Retransmit);
        self.must_send_syn = false;
        // A SYN's window is never scaled.
        let shift = if segment.flags.has(Flags::SYN) { 0 } else { self.peer_shift.unwrap_or(0) };
        let window_bytes = u64::from(segment.window) << shift;
        let (edge, widest_bytes) = self.sender.window();
        (*edge, *widest_bytes) = (1 + window_bytes, window_bytes);
    }

    /// Section 3.10.7.4.
    fn handle_synchronized(&mut self, now: Time, segment: &Segment<'_>) {
        let near = self.receiver.buffer.nxt();
        let Some(start) = seq::to_position(self.peer_isn, segment.seq, near) else {
            self.receiver.due = AckDue::Now;
            return;
        };
        let steps = [
            Self::check_sequence,
            Self::check_reset,
            Self::check_syn,
            Self::check_timestamp,
            Self::check_ack,
            Self::take_payload,
            Self::take_fin,
        ];
        for step in steps {
            if step(self, now, segment, start) == Step::Stop {
                return;
            }
        }
    }

    /// First: does it lie in the window?
    fn check_sequence(&mut self, _now: Time, segment: &Segment<'_>, start: u64) -> Step {
        let (nxt, edge) = (self.receiver.buffer.nxt(), self.receiver.offered_edge());
        let end = start + segment_len(segment);
        let is_acceptable = if end == start {
            // At the very edge too: the ACKs of a peer that has filled the window stand there.
            nxt <= start && start <= edge.max(nxt)
        } else {
            // What lies behind a closed window is cut off; its ACK is taken all the same.
            end > nxt && (start < edge || start == nxt)
        };
        if is_acceptable {
            return Step::Continue;
        }
        if segment.flags.has(Flags::SYN) && self.state == State::SynReceived {
            // The peer did not get our answer to its SYN.
            self.must_send_syn = true;
            self.has_lost_syn = true;
        } else if !segment.flags.has(Flags::RST) {
            self.receiver.due = AckDue::Now;
            self.receiver.on_old_payload(start, start + u64::from(segment.payload.len()));
            // An old ACK says what it says. Two ends that have each taken a probe of the other
            // would otherwise answer each other's ACKs for ever.
            if start < nxt && end == start {
                return Step::Continue;
            }
        }
        Step::Stop
    }

    /// Second: a reset (RFC 5961 section 3.2: only at exactly RCV.NXT).
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

    /// Fourth: a SYN in the window is challenged (RFC 5961 section 4.2).
    fn check_syn(&mut self, _now: Time, segment: &Segment<'_>, _start: u64) -> Step {
        if segment.flags.has(Flags::SYN) && self.state != State::SynReceived {
            self.receiver.due = AckDue::Now;
            return Step::Stop;
        }
        Step::Continue
    }

    /// Protection against wrapped sequence numbers, and the timestamp to echo (RFC 7323
    /// sections 4.3 and 5.3).
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

    /// Fifth: the acknowledgment.
    fn check_ack(&mut self, now: Time, segment: &Segment<'_>, start: u64) -> Step {
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
            // The peer took a probe: its bytes are sent and acknowledged at once.
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
            // A duplicate by RFC 6675 section 2, or by RFC 5681 section 2.
            let is_plain = segment_len(segment) == 0 && !is_window_update;
            if newly_sacked > 0 || sender.duplicate.is_some() || is_plain {
                let restarts_timer = sender.on_duplicate_ack(now, newly_sacked);
                self.rearm(now, restarts_timer);
            }
        }
        self.follow_fin(now)
    }

    fn take_new_ack(&mut self, now: Time, segment: &Segment<'_>, ack: u64) {
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

    fn echoes_mark(&self, segment: &Segment<'_>) -> bool {
        self.has_ecn && segment.flags.has(Flags::ECE)
    }

    /// RFC 6298 rules 5.2 and 5.3.
    fn rearm(&mut self, now: Time, restarts_timer: bool) {
        if self.sender.flight_bytes() == 0 {
            self.timers.stop(Timer::Retransmit);
        } else if restarts_timer {
            self.timers.set(Timer::Retransmit, now + self.sender.rto());
        }
    }

    /// The round trip by the echoed timestamp, in its whole milliseconds.
    fn echoed_rtt(&self, now: Time, segment: &Segment<'_>) -> Option<Duration> {
        let (_, echo) = segment.options.timestamps.filter(|_| self.has_timestamps)?;
        let elapsed = super::output::timestamp(now).wrapping_sub(echo);
        (elapsed < 1 << 31).then(|| Duration::from_ms(u64::from(elapsed.max(1))))
    }

    /// The peer's clock when it answered less ours when the segment left.
    fn one_way(&self, segment: &Segment<'_>) -> Option<Duration> {
        let (value, echo) = segment.options.timestamps.filter(|_| self.has_timestamps)?;
        Some(Duration::from_ms(value.wrapping_sub(echo).into()))
    }

    /// When the segment left whose timestamp is echoed, in whole milliseconds.
    fn echoed_at(&self, now: Time, segment: &Segment<'_>) -> Option<Time> {
        let (_, echo) = segment.options.timestamps.filter(|_| self.has_timestamps)?;
        let elapsed = super::output::timestamp(now).wrapping_sub(echo);
        let left_ms = (now.as_us() / 1000).checked_sub(elapsed.into())?;
        Some(Time::ZERO + Duration::from_ms(left_ms))
    }

    /// The send window (section 3.10.7.4, fifth step). True when the segment changes it.
    fn update_window(&mut self, segment: &Segment<'_>, start: u64, ack: u64) -> bool {
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

    fn take_sack_blocks(&mut self, now: Time, segment: &Segment<'_>, ack: u64) -> u64 {
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
        // RFC 2883 section 4: the first block tells of a duplicate when it lies below the
        // cumulative ACK or within the second.
        sender.duplicate = range(0).filter(|&(left, right)| {
            let within = |(outer_left, outer_right)| outer_left <= left && right <= outer_right;
            right <= ack || range(1).is_some_and(within)
        });
        for index in 0..blocks.len() {
            if let Some((left, right)) = range(index).filter(|&(_, right)| right > una) {
                // The first block holds the segment that caused this ACK (RFC 2018 section 4).
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

    /// What the acknowledgment of our FIN changes.
    fn follow_fin(&mut self, now: Time) -> Step {
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

    /// Seventh: the payload.
    fn take_payload(&mut self, now: Time, segment: &Segment<'_>, start: u64) -> Step {
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

    /// With ACK congestion control the ACK may wait for more segments than two.
    fn control_acks(&mut self, segment: &Segment<'_>, is_in_order: bool) {
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
    fn take_marks(&mut self, segment: &Segment<'_>) {
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

    /// Eighth: the FIN, once everything before it is there.
    fn take_fin(&mut self, now: Time, segment: &Segment<'_>, start: u64) -> Step {
        let at = start + u64::from(segment.payload.len());
        if !segment.flags.has(Flags::FIN) {
            return Step::Continue;
        }
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

    fn be_reset(&mut self) {
        self.was_reset = true;
        self.enter_closed();
    }
}

/// Sequence numbers that a segment takes (SEG.LEN).
fn segment_len(segment: &Segment<'_>) -> u64 {
    u64::from(segment.payload.len())
        + u64::from(segment.flags.has(Flags::FIN))
        + u64::from(segment.flags.has(Flags::SYN))
}
