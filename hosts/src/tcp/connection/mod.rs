//! A connection: RFC 9293's state machine between a sender and a receiver.
//!
//! Inputs are [`Connection::handle_segment`] and [`Connection::handle_timeout`], outputs
//! [`Connection::poll_transmit`] and [`Connection::poll_timeout`]; spurious calls are no-ops.
//! Input and transmission are lists of named steps, in `input.rs` and `output.rs`.
//!
//! Not implemented: urgent data.
//! TIME-WAIT lasts 60 s, as in Linux (RFC 9293 recommends 4 minutes).

mod ack_input;
mod emission;
mod handshake;
mod input;
mod keep_alive;
mod lazy_sender;
mod liveness;
mod output;
mod payload_input;
mod step;

use crate::api::State;
use crate::app::stream::Stream;
use crate::config::Settings;
use crate::report::{ReceiverCounters, SenderCounters};
use crate::tcp::receiver::{AckDue, Receiver};
use crate::tcp::sender::Sender;
use crate::tcp::timers::{Timer, TimerTable};
use crate::wire::segment::Emitter;
use lazy_sender::{Handshake, LazySender};
use liveness::Liveness;
use narrows_common::histogram::Summary;
use narrows_common::record::FlowRecord;
use narrows_common::{Duration, Rng, Time};
use narrows_traffic::Content;

/// 2 MSL.
const TIME_WAIT: Duration = Duration::from_secs(60);

/// One connection. The fields that every segment touches come first, flags and numbers in one cache
/// line; its parts are ordered likewise.
#[derive(Debug)]
#[repr(C)]
pub struct Connection {
    liveness: Liveness,
    /// The position of the peer's segment that last updated its window (SND.WL1).
    window_updated_by: u64,
    /// The end of bytes sent only as a probe.
    probed_to: u64,
    /// Our initial sequence number.
    isn: u32,
    /// The peer's initial sequence number.
    peer_isn: u32,
    /// Doublings of the zero-window probe's interval.
    probe_backoff: u32,
    /// The peer's window shift; our own applies only if the peer has one.
    peer_shift: Option<u8>,
    state: State,
    has_sack: bool,
    has_timestamps: bool,
    has_ecn: bool,
    /// A SYN must be sent, or sent again.
    must_send_syn: bool,
    has_lost_syn: bool,
    /// A marked ACK arrived; the next segment must echo the mark.
    must_echo_mark: bool,
    /// The application has finished writing.
    is_closing: bool,
    must_probe: bool,
    must_reset: bool,
    was_reset: bool,
    timers: TimerTable,
    sender: LazySender,
    receiver: Receiver,
    emitter: Emitter,
    all_acked_at: Option<Time>,
    settings: Settings,
    syn_sent_at: Time,
    established_at: Option<Time>,
}

impl Connection {
    fn new(settings: Settings, emitter: Emitter, state: State, rng: &mut Rng) -> Self {
        let tick_phase = Duration::from_ps(rng.range(0, Duration::from_ms(10).as_ps() - 1));
        Connection {
            state,
            emitter,
            sender: LazySender::new(&settings, tick_phase),
            receiver: Receiver::new(
                settings.window_bytes,
                settings.keeps_content,
                settings.ack_control,
            ),
            timers: TimerTable::default(),
            isn: rng.u32(),
            peer_isn: 0,
            window_updated_by: 0,
            peer_shift: None,
            has_sack: settings.profile.sack,
            has_timestamps: settings.profile.timestamps,
            has_ecn: settings.ecn,
            must_send_syn: state == State::SynSent,
            syn_sent_at: Time::ZERO,
            has_lost_syn: false,
            must_echo_mark: false,
            is_closing: false,
            must_probe: false,
            probed_to: 0,
            probe_backoff: 0,
            liveness: Liveness::default(),
            must_reset: false,
            was_reset: false,
            established_at: None,
            all_acked_at: None,
            settings,
        }
    }

    /// An active open: its SYN leaves at the next [`Connection::poll_transmit`].
    pub fn connect(settings: Settings, emitter: Emitter, rng: &mut Rng) -> Self {
        Connection::new(settings, emitter, State::SynSent, rng)
    }

    /// A passive open for one peer.
    pub fn listen(settings: Settings, emitter: Emitter, rng: &mut Rng) -> Self {
        Connection::new(settings, emitter, State::Listen, rng)
    }

    /// Sets the initial sequence number, for tests of its wrap.
    #[must_use]
    pub fn with_isn(mut self, isn: u32) -> Self {
        self.isn = isn;
        self
    }

    /// Asks for the memory of its sending half, or else of what the receiving half points to: a
    /// segment arrives soon.
    pub fn prefetch_half(&self) {
        match self.sender.get() {
            Some(sender) => sender.prefetch(),
            None => self.receiver.prefetch(),
        }
    }

    /// The same of what that points to.
    pub fn prefetch_parts(&self) {
        match self.sender.get() {
            Some(sender) => sender.prefetch_parts(),
            None => self.receiver.prefetch_parts(),
        }
    }

    /// The state.
    pub fn state(&self) -> State {
        self.state
    }

    /// The application writes. Ignored once it has closed.
    pub fn write(&mut self, content: Content) {
        if !self.is_closing {
            let handshake = self.handshake();
            self.sender.activate(&self.settings, handshake).buffer.write(content);
        }
    }

    /// The application finishes writing: a FIN follows the last byte.
    pub fn close(&mut self) {
        self.is_closing = true;
        if matches!(self.state, State::Listen | State::Closed) {
            self.state = State::Closed;
        } else {
            let handshake = self.handshake();
            self.sender.activate(&self.settings, handshake);
        }
    }

    /// Ends the connection immediately, with a reset if the peer may know of it.
    pub fn abort(&mut self) {
        if !matches!(self.state, State::Closed | State::Listen | State::SynSent | State::TimeWait) {
            self.must_reset = true;
        }
        self.enter_closed();
    }

    /// The application reads at most `limit_bytes`, appended to `out` if content is kept.
    pub fn read(&mut self, limit_bytes: u64, out: Option<&mut Vec<u8>>) -> u64 {
        let bytes = self.receiver.buffer.read(limit_bytes, out);
        let tells =
            bytes > 0 && self.is_synchronized() && self.receiver.is_update_due(self.sender.mss());
        // While the window is wide, the next ACK reports the change; otherwise an ACK leaves
        // immediately, because the peer may be waiting.
        let left = self.receiver.offered_edge().saturating_sub(self.receiver.buffer.nxt());
        if tells && left < self.receiver.buffer.capacity_bytes() / 2 {
            self.receiver.due = AckDue::Now;
        }
        bytes
    }

    /// Bytes ready to read.
    pub fn readable_bytes(&self) -> u64 {
        self.receiver.buffer.unread_bytes()
    }

    /// True if the peer has closed and everything was read.
    pub fn is_read_to_end(&self) -> bool {
        let peer_closed = !matches!(
            self.state,
            State::Listen
                | State::SynSent
                | State::SynReceived
                | State::Established
                | State::FinWait1
                | State::FinWait2
        );
        peer_closed && self.receiver.buffer.unread_bytes() == 0
    }

    /// True if a reset ended the connection: the peer's, or ours when giving up.
    pub fn was_reset(&self) -> bool {
        self.was_reset
    }

    /// True if the peer did not answer keep-alives, or nothing arrived within the user timeout.
    pub fn has_given_up(&self) -> bool {
        self.liveness.has_given_up
    }

    /// When the handshake was complete.
    pub fn established_at(&self) -> Option<Time> {
        self.established_at
    }

    /// When the peer had acknowledged every byte of an application that has closed.
    pub fn all_acked_at(&self) -> Option<Time> {
        self.all_acked_at
    }

    /// When the latest byte became readable.
    pub fn last_delivered_at(&self) -> Option<Time> {
        self.receiver.last_delivered_at
    }

    /// The sender's counts.
    pub fn sender_counters(&self) -> SenderCounters {
        self.sender.counters()
    }

    /// The receiver's counts.
    pub fn receiver_counters(&self) -> ReceiverCounters {
        self.receiver.counters
    }

    /// Round-trip samples.
    pub fn rtt_summary(&self) -> Summary {
        self.sender.rtt_summary()
    }

    /// One-way delays of the stamped segments that arrived.
    pub fn one_way_delay_summary(&self) -> Summary {
        self.receiver.one_way_delay()
    }

    /// Application bytes acknowledged in sequence.
    pub fn acked_bytes(&self) -> u64 {
        self.sender.acked_bytes()
    }

    /// Application bytes written but not acknowledged.
    pub fn unacked_bytes(&self) -> u64 {
        self.sender.end() - 1 - self.acked_bytes()
    }

    /// A row of the sender's state.
    pub fn record(&self, now: Time) -> FlowRecord {
        let record = |sender: &Sender| sender.record(now, self.settings.flow);
        self.sender.inspect(&self.settings, self.handshake(), record)
    }

    /// When to call [`Connection::handle_timeout`].
    pub fn poll_timeout(&self) -> Option<Time> {
        Time::earliest([self.timers.next(), self.sender.poll_timeout()])
    }

    /// Handles everything due at `now`.
    pub fn handle_timeout(&mut self, now: Time) {
        // Before the time-out, which a tail probe postpones.
        if self.sender.active().is_some_and(|sender| sender.handle_timeout(now)) {
            self.timers.set(Timer::Retransmit, now + self.sender.rto());
        }
        while let Some(timer) = self.timers.take_due(now) {
            match timer {
                Timer::Retransmit => self.on_retransmit_timer(now),
                Timer::Persist => self.on_persist_timer(),
                // The next poll sends the segments that may leave now.
                Timer::Pace => {}
                Timer::DelayedAck => self.receiver.due = AckDue::Now,
                Timer::TimeWait => self.enter_closed(),
                Timer::KeepAlive => self.on_keep_alive_timer(now),
                Timer::User => self.give_up(),
            }
        }
    }

    fn on_retransmit_timer(&mut self, now: Time) {
        if matches!(self.state, State::SynSent | State::SynReceived) {
            self.must_send_syn = true;
            self.has_lost_syn = true;
            self.sender.on_syn_timeout();
        } else if let Some(sender) = self.sender.active().filter(|s| s.board.flight_bytes() > 0) {
            sender.on_timeout(now);
            self.timers.set(Timer::Retransmit, now + self.sender.rto());
        }
    }

    fn on_persist_timer(&mut self) {
        self.must_probe = true;
        self.probe_backoff = (self.probe_backoff + 1).min(32);
    }

    /// The interval before a zero-window probe: the time-out, doubled with each probe, at most 60
    /// s.
    fn probe_interval(&self) -> Duration {
        let interval = self.sender.rto().saturating_mul(1 << self.probe_backoff);
        interval.min(self.settings.profile.max_rto)
    }

    fn handshake(&self) -> Handshake {
        Handshake { has_sack: self.has_sack, has_lost_syn: self.has_lost_syn }
    }

    fn is_synchronized(&self) -> bool {
        !matches!(self.state, State::Closed | State::Listen | State::SynSent | State::SynReceived)
    }

    /// The position after the FIN, once the application has closed.
    fn fin_end(&self) -> Option<u64> {
        self.is_closing.then(|| self.sender.end() + 1)
    }

    /// True if the peer has acknowledged our FIN.
    fn is_fin_acked(&self) -> bool {
        self.fin_end().is_some_and(|end| self.sender.una() >= end)
    }

    fn enter_time_wait(&mut self, now: Time) {
        self.state = State::TimeWait;
        self.timers.stop(Timer::Retransmit);
        self.timers.stop(Timer::Persist);
        self.timers.set(Timer::TimeWait, now + TIME_WAIT);
    }

    fn enter_closed(&mut self) {
        self.state = State::Closed;
        self.timers = TimerTable::default();
        self.receiver.due = AckDue::No;
    }
}

impl Stream for Connection {
    fn is_open(&self) -> bool {
        self.established_at.is_some()
    }

    fn write(&mut self, content: Content) {
        Connection::write(self, content);
    }

    fn close(&mut self) {
        Connection::close(self);
    }

    fn unacked_bytes(&self) -> u64 {
        Connection::unacked_bytes(self)
    }

    fn readable_bytes(&self) -> u64 {
        Connection::readable_bytes(self)
    }

    fn read(&mut self, limit_bytes: u64, out: Option<&mut Vec<u8>>) -> u64 {
        Connection::read(self, limit_bytes, out)
    }

    fn is_read_to_end(&self) -> bool {
        Connection::is_read_to_end(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_and_numbers_are_a_line_of_memory() {
        assert_eq!(core::mem::offset_of!(Connection, timers), 64);
    }
}
