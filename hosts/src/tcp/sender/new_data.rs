//! New data: how much may be sent, and whether it fills a worthwhile segment.

use crate::recovery::rule::Transmission;
use crate::tcp::sender::Sender;
use narrows_common::Time;

impl Sender {
    /// New payload that the peer's window admits, in bytes.
    pub fn new_bytes(&self) -> u64 {
        self.buffer.end().min(self.window_edge).saturating_sub(self.board.nxt())
    }

    /// All data has been sent, and the peer's window admits a FIN.
    pub fn has_room_for_fin(&self) -> bool {
        self.board.nxt() == self.buffer.end() && self.board.nxt() < self.window_edge
    }

    /// The sender's silly-window avoidance (RFC 9293 section 3.8.6.2.1) with Nagle's rule (section
    /// 3.7.4), for a payload of at most `limit_bytes`. With `is_closing` a FIN follows the last
    /// byte.
    pub fn is_worth_sending(&self, payload_bytes: u64, limit_bytes: u64, is_closing: bool) -> bool {
        if payload_bytes == 0 {
            return is_closing && self.has_room_for_fin();
        }
        let is_all = || self.board.nxt() + payload_bytes == self.buffer.end();
        let may_be_small = || !self.profile.nagle || self.board.flight_bytes() == 0 || is_closing;
        payload_bytes >= limit_bytes
            || self.is_probing()
            || (is_all() && may_be_small())
            || payload_bytes * 2 >= self.max_window_bytes
    }

    /// True if a loss probe is due.
    pub(super) fn is_probing(&self) -> bool {
        self.follows_segments && self.recovery.is_probing()
    }

    /// New data up to `end` was sent.
    pub fn on_sent_new(&mut self, now: Time, payload_bytes: u32, end: u64) {
        self.counters.segments_sent += 1;
        self.counters.bytes_sent += u64::from(payload_bytes);
        let (start, flight_bytes) = (self.board.nxt(), self.board.flight_bytes());
        if self.keeps_segments {
            let departure = self.departure(now, end - start, flight_bytes);
            self.board.sent.on_sent(end, now, departure);
        }
        self.pace(now, end - start);
        self.board.on_sent(end);
        self.last_sent_at = now;
        if !self.profile.times_every_segment {
            self.timed.get_or_insert((end, now));
        }
        self.counters.loss_probes += u64::from(self.is_probing());
        self.tell_sent(now, start, end);
    }

    pub(super) fn tell_sent(&mut self, now: Time, start: u64, end: u64) {
        let transmission = Transmission { now, start, end, rtt: &self.rtt };
        self.recovery.on_sent(&self.board, &transmission);
    }
}
