//! Keep-alives (RFC 9293 section 3.8.4) and the user timeout (section 3.9.1; RFC 5482), after which
//! the connection is aborted with a reset.
//!
//! Both are off unless the flow enables them, as the RFC requires for keep-alives.

use crate::api::State;
use crate::config::KeepAlive;
use crate::tcp::connection::Connection;
use crate::tcp::timers::Timer;
use crate::wire::segment::Flags;
use narrows_common::{Packet, Time};

impl Connection {
    /// A segment from the peer arrived.
    pub(super) fn on_heard(&mut self, now: Time) {
        self.liveness.heard_at = now;
        self.liveness.unanswered = 0;
        if let (Some(keep_alive), false) =
            (self.settings.keep_alive, self.timers.is_set(Timer::KeepAlive))
        {
            self.timers.set(Timer::KeepAlive, now + keep_alive.idle);
        }
    }

    /// The peer acknowledged data, or reported a closed window.
    pub(super) fn on_progress(&mut self) {
        self.timers.stop(Timer::User);
    }

    /// The user timeout runs while data waits for the peer.
    pub(super) fn follow_waiting(&mut self, now: Time) {
        let Some(timeout) = self.settings.user_timeout else { return };
        let waits = self.timers.is_set(Timer::Retransmit) || self.timers.is_set(Timer::Persist);
        if !waits {
            self.timers.stop(Timer::User);
        } else if !self.timers.is_set(Timer::User) {
            self.timers.set(Timer::User, now + timeout);
        }
    }

    pub(super) fn give_up(&mut self) {
        self.abort();
        self.was_reset = true;
        self.liveness.has_given_up = true;
    }

    pub(super) fn on_keep_alive_timer(&mut self, now: Time) {
        let Some(KeepAlive { idle, interval, probes }) = self.settings.keep_alive else { return };
        let silent_at = self.liveness.heard_at + idle;
        if !self.is_synchronized() || self.state == State::TimeWait {
            return;
        }
        if now < silent_at {
            self.timers.set(Timer::KeepAlive, silent_at);
        } else if self.sender.flight_bytes() > 0 {
            // Retransmissions also probe the peer.
            self.timers.set(Timer::KeepAlive, now + interval);
        } else if self.liveness.unanswered >= probes {
            self.give_up();
        } else {
            self.liveness.unanswered += 1;
            self.liveness.must_probe = true;
            self.timers.set(Timer::KeepAlive, now + interval);
        }
    }

    /// An empty segment below the peer's expected sequence number, which the peer must answer.
    pub(super) fn send_keep_alive(&mut self, now: Time, packet: &mut Packet) -> bool {
        self.liveness.must_probe = false;
        let position = self.sender.nxt() - 1;
        self.emit(now, position, 0, Flags::ACK, packet);
        true
    }
}
