//! The sending end of a flow of datagrams.

use super::Settings;
use super::wire::Emitter;
use crate::ip::Ecn;
use crate::tcp::sender::SenderCounters;
use crate::user::Stream;
use narrows_common::{Duration, Packet, Time};
use narrows_traffic::Content;
use narrows_traffic::message::{HEADER_BYTES, Header};
use std::collections::VecDeque;

/// A flow counts as complete so long after its last datagram, whose arrival nobody tells the sender.
const LINGER: Duration = Duration::from_secs(1);

/// The sending end.
#[derive(Debug)]
pub struct Sender {
    settings: Settings,
    emitter: Emitter,
    /// Written and not sent; their numbers are those of the messages.
    waiting: VecDeque<Header>,
    waiting_bytes: u64,
    next_number: u64,
    is_closing: bool,
    last_sent_at: Option<Time>,
    has_lingered: bool,
    counters: SenderCounters,
}

impl Sender {
    /// Before the first datagram.
    pub fn new(settings: Settings, emitter: Emitter) -> Self {
        Sender {
            settings,
            emitter,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            next_number: 0,
            is_closing: false,
            last_sent_at: None,
            has_lingered: false,
            counters: SenderCounters::default(),
        }
    }

    /// Writes the next datagram into `packet`; false when there is nothing to send.
    pub fn poll_transmit(&mut self, now: Time, packet: &mut Packet) -> bool {
        let Some(message) = self.waiting.pop_front() else { return false };
        self.waiting_bytes -= u64::from(message.length_bytes);
        let header = Header { number: self.next_number, ..message };
        let zeros = header.length_bytes - HEADER_BYTES;
        self.emitter.emit(Ecn::NotEct, &[&header.emit()], zeros, packet);
        self.next_number += 1;
        self.last_sent_at = Some(now);
        self.counters.segments_sent += 1;
        self.counters.bytes_sent += u64::from(message.length_bytes);
        true
    }

    /// When [`Sender::handle_timeout`] is to be called.
    pub fn poll_timeout(&self) -> Option<Time> {
        self.completed_at().filter(|_| !self.has_lingered).map(|at| at + LINGER)
    }

    /// Does what is due at `now`.
    pub fn handle_timeout(&mut self, now: Time) {
        self.has_lingered |= self.completed_at().is_some_and(|at| at + LINGER <= now);
    }

    /// When the last datagram of an application that has closed left.
    pub fn completed_at(&self) -> Option<Time> {
        self.last_sent_at.filter(|_| self.is_closing && self.waiting.is_empty())
    }

    /// True when the last datagram has left and had time to arrive.
    pub fn is_complete(&self) -> bool {
        self.has_lingered
    }

    /// What it has sent.
    pub fn counters(&self) -> SenderCounters {
        self.counters
    }
}

impl Stream for Sender {
    fn is_open(&self) -> bool {
        true
    }

    fn write(&mut self, _content: Content) {
        unreachable!("an application without messages was refused");
    }

    fn write_message(&mut self, message: &Header) {
        if self.is_closing {
            return;
        }
        let length_bytes = message.length_bytes;
        self.waiting_bytes += u64::from(length_bytes);
        let parts = length_bytes.div_ceil(self.settings.segment_bytes);
        let (short, longer) = (length_bytes / parts, length_bytes % parts);
        for part in 0..parts {
            let length_bytes = short + u32::from(part < longer);
            self.waiting.push_back(Header { length_bytes, ..*message });
        }
    }

    fn close(&mut self) {
        self.is_closing = true;
    }

    fn unacked_bytes(&self) -> u64 {
        self.waiting_bytes
    }

    fn readable_bytes(&self) -> u64 {
        0
    }

    fn read(&mut self, _limit_bytes: u64, _out: Option<&mut Vec<u8>>) -> u64 {
        0
    }

    fn is_read_to_end(&self) -> bool {
        false
    }
}
