//! Transmission, step by step.

use crate::api::State;
use crate::recovery::rule::NextSegment;
use crate::tcp::connection::Connection;
use crate::tcp::receiver::AckDue;
use crate::tcp::seq;
use crate::tcp::timers::Timer;
use crate::wire::options::Options;
use crate::wire::segment::{Ecn, Flags, Header};
use narrows_common::{Packet, Time};

/// MSS, window scale and SACK permitted, padded.
const SYN_OPTION_BYTES: u32 = 12;

/// The timestamp clock: milliseconds (RFC 7323 section 5.4 allows 1 ms to 1 s).
pub(super) fn timestamp(now: Time) -> u32 {
    (now.as_us() / 1000) as u32
}

impl Connection {
    /// Writes the next segment into `packet`; false if there is none. Call it after every input
    /// until it returns false.
    #[inline]
    pub fn poll_transmit(&mut self, now: Time, packet: &mut Packet) -> bool {
        let has_sent = (self.has_rare_segment() && self.send_first(now, packet))
            || self.send_data(now, packet)
            || (self.has_rare_segment() && self.send_probes(now, packet))
            || (self.receiver.due == AckDue::Now && self.send_ack(now, packet));
        self.follow_waiting(now);
        has_sent
    }

    /// Sends what precedes data.
    #[inline(never)]
    fn send_first(&mut self, now: Time, packet: &mut Packet) -> bool {
        (self.must_reset && self.send_reset(now, packet))
            || (self.must_send_syn && self.send_syn(now, packet))
            || (self.receiver.early_ack.is_some() && self.send_early_ack(now, packet))
    }

    fn send_data(&mut self, now: Time, packet: &mut Packet) -> bool {
        self.state.sends_data() && self.sender.may_send() && self.send_next(now, packet)
    }

    /// Sends what follows data.
    #[inline(never)]
    fn send_probes(&mut self, now: Time, packet: &mut Packet) -> bool {
        (self.must_probe && self.send_probe(now, packet))
            || (self.liveness.must_probe && self.send_keep_alive(now, packet))
    }

    /// False if [`Connection::poll_transmit`] would do nothing, which need not be called then: an
    /// end that only receives, and has no ACK to send.
    #[inline(always)]
    pub fn may_transmit(&mut self) -> bool {
        let must_send = self.has_rare_segment()
            | (self.receiver.due == AckDue::Now)
            | self.settings.user_timeout.is_some();
        must_send || (self.state.sends_data() && self.sender.may_send())
    }

    /// A segment waits that is neither data nor a usual ACK.
    #[inline(always)]
    fn has_rare_segment(&self) -> bool {
        self.must_reset
            | self.must_send_syn
            | self.must_probe
            | self.liveness.must_probe
            | self.receiver.early_ack.is_some()
    }

    fn send_reset(&mut self, now: Time, packet: &mut Packet) -> bool {
        self.must_reset = false;
        let position = self.sender.nxt();
        self.emit(now, position, 0, Flags::RST.with(Flags::ACK), packet);
        true
    }

    fn send_syn(&mut self, now: Time, packet: &mut Packet) -> bool {
        let flags = match self.state {
            State::SynSent if self.has_ecn => Flags::SYN.with(Flags::ECE).with(Flags::CWR),
            State::SynReceived if self.has_ecn => Flags::SYN.with(Flags::ACK).with(Flags::ECE),
            State::SynSent => Flags::SYN,
            State::SynReceived => Flags::SYN.with(Flags::ACK),
            _ => return false,
        };
        self.must_send_syn = false;
        let is_active = self.state == State::SynSent;
        let shift = (is_active || self.peer_shift.is_some()).then_some(self.receiver.shift);
        let mss = self.settings.segment_bytes + self.timestamps_bytes();
        let options = Options {
            mss: Some(mss.min(u16::MAX.into()) as u16),
            window_scale: shift,
            sack_permitted: self.has_sack,
            timestamps: self.timestamps(now),
            ..Options::default()
        };
        // Acknowledges the data of the peer's SYN with the SYN.
        let ack =
            if is_active { 0 } else { seq::to_wire(self.peer_isn, self.receiver.buffer.nxt()) };
        let window = self.settings.window_bytes.min(0xffff) as u16;
        let header = Header { seq: self.isn, ack, flags, window, ecn: Ecn::NotEct, options };
        let data_bytes = if is_active { self.syn_data_bytes() } else { 0 };
        self.write_segment(now, &header, 1, data_bytes, packet);
        if data_bytes > 0 {
            // Not in flight until acknowledged: the peer may ignore it.
            self.probed_to = 1 + u64::from(data_bytes);
        }
        self.syn_sent_at = now;
        if !is_active {
            self.receiver.on_ack_sent();
        }
        self.receiver.due = AckDue::No;
        self.timers.set(Timer::Retransmit, now + self.sender.rto());
        true
    }

    /// The data that our SYN carries: a segment minus the options that only a SYN has.
    fn syn_data_bytes(&self) -> u32 {
        if !self.settings.data_on_syn {
            return 0;
        }
        let limit = self.settings.segment_bytes.saturating_sub(SYN_OPTION_BYTES);
        (self.sender.end() - 1).min(limit.into()) as u32
    }

    fn send_next(&mut self, now: Time, packet: &mut Packet) -> bool {
        let Some(sender) = self.sender.active() else { return false };
        let has_new = sender.new_bytes() > 0 || (self.is_closing && sender.has_room_for_fin());
        if has_new && sender.board.flight_bytes() == 0 {
            sender.check_idle(now);
        }
        let send = sender.poll_send(has_new);
        let wants = has_new || matches!(send, NextSegment::Retransmit { .. });
        if let Some(at) = sender.paced_until(now).filter(|_| wants) {
            self.timers.set(Timer::Pace, at);
            return false;
        }
        match send {
            NextSegment::Retransmit { start, end } => self.retransmit(now, start, end, packet),
            NextSegment::New { room_bytes } => self.send_new(now, room_bytes, packet),
        }
    }

    /// The FIN was sent.
    pub(super) fn follow_own_fin(&mut self) {
        self.state = match self.state {
            State::CloseWait => State::LastAck,
            _ => State::FinWait1,
        };
    }

    fn retransmit(&mut self, now: Time, start: u64, end: u64, packet: &mut Packet) -> bool {
        let data_end = self.sender.end().min(end);
        let limit = self.payload_limit();
        let payload_bytes = data_end.saturating_sub(start).min(limit.into()) as u32;
        let mut sent_to = start + u64::from(payload_bytes);
        let mut flags = Flags::ACK;
        if payload_bytes > 0 && sent_to == self.sender.end() {
            flags = flags.with(Flags::PSH);
        }
        if self.fin_end() == Some(end) && sent_to + 1 == end {
            flags = flags.with(Flags::FIN);
            sent_to = end;
        }
        debug_assert!(sent_to > start, "nothing to retransmit at {start}..{end}");
        let Some(sender) = self.sender.active() else { return false };
        sender.on_retransmitted(now, payload_bytes, start, sent_to);
        self.emit(now, start, payload_bytes, flags, packet);
        if !self.timers.is_set(Timer::Retransmit) {
            self.timers.set(Timer::Retransmit, now + self.sender.rto());
        }
        true
    }

    fn send_new(&mut self, now: Time, room_bytes: u64, packet: &mut Packet) -> bool {
        let (limit_bytes, is_closing) = (self.payload_limit().into(), self.is_closing);
        let Some(sender) = self.sender.active() else { return false };
        let start = sender.board.nxt();
        let payload_bytes = sender.new_bytes().min(limit_bytes);
        let has_room = payload_bytes <= room_bytes;
        if !(has_room && sender.is_worth_sending(payload_bytes, limit_bytes, is_closing)) {
            let mss = u64::from(sender.mss);
            if room_bytes >= mss && sender.buffer.end().saturating_sub(start) < mss {
                sender.on_app_limited();
            }
            self.arm_persist(now);
            return false;
        }
        let mut end = start + payload_bytes;
        let mut flags = Flags::ACK;
        if end == sender.buffer.end() {
            if payload_bytes > 0 {
                flags = flags.with(Flags::PSH);
            }
            if is_closing && end < sender.window_edge {
                flags = flags.with(Flags::FIN);
                end += 1;
            }
        }
        if core::mem::take(&mut sender.must_send_cwr) {
            flags = flags.with(Flags::CWR);
        }
        sender.on_sent_new(now, payload_bytes as u32, end);
        if flags.has(Flags::FIN) {
            self.follow_own_fin();
        }
        self.emit(now, start, payload_bytes as u32, flags, packet);
        if !self.timers.is_set(Timer::Retransmit) {
            self.timers.set(Timer::Retransmit, now + self.sender.rto());
        }
        true
    }

    /// Starts probing the peer if there is data to send, none outstanding, and no window for it.
    fn arm_persist(&mut self, now: Time) {
        if self.sender.flight_bytes() > 0 || self.must_probe || self.timers.is_set(Timer::Persist) {
            return;
        }
        if self.sender.nxt() < self.sender.end() || self.is_fin_left() {
            self.timers.set(Timer::Persist, now + self.probe_interval());
        }
    }

    /// Only the FIN remains to be sent.
    fn is_fin_left(&self) -> bool {
        self.is_closing && self.sender.nxt() == self.sender.end()
    }

    /// Sends one octet into the closed window, or what fits into a window too small for a segment
    /// (section 3.8.6.1). It is not in flight until acknowledged, because the peer may drop it.
    fn send_probe(&mut self, now: Time, packet: &mut Packet) -> bool {
        self.must_probe = false;
        let (is_fin, limit_bytes) = (self.is_fin_left(), self.payload_limit().into());
        let Some(sender) = self.sender.active() else { return false };
        let start = sender.board.nxt();
        if start >= sender.buffer.end() && !is_fin {
            return false;
        }
        let (payload_bytes, flags) = if is_fin {
            (0, Flags::ACK.with(Flags::FIN))
        } else {
            (sender.new_bytes().max(1).min(limit_bytes) as u32, Flags::ACK)
        };
        sender.counters.probes += 1;
        self.emit(now, start, payload_bytes, flags, packet);
        self.probed_to = start + u64::from(payload_bytes) + u64::from(is_fin);
        self.timers.set(Timer::Persist, now + self.probe_interval());
        true
    }

    /// Sends the ACK that was pending when the marks changed.
    fn send_early_ack(&mut self, now: Time, packet: &mut Packet) -> bool {
        let Some((ack, echoes)) = self.receiver.early_ack.take() else { return false };
        if !self.is_synchronized() {
            return false;
        }
        let due = self.receiver.due;
        let position = self.sender.nxt();
        self.emit_answering(now, position, 0, Flags::ACK, (ack, echoes), packet);
        self.receiver.counters.acks_sent += 1;
        self.receiver.due = due;
        true
    }

    fn send_ack(&mut self, now: Time, packet: &mut Packet) -> bool {
        if !self.is_synchronized() {
            return false;
        }
        let position = self.sender.nxt();
        self.emit(now, position, 0, Flags::ACK, packet);
        self.receiver.counters.acks_sent += 1;
        true
    }
}
