//! Data that an application has written to a flow of datagrams: split, numbered, and counted when
//! sent.

use crate::app::stream::Stream;
use crate::report::SenderCounters;
use crate::udp::settings::Settings;
use narrows_common::{Duration, Time};
use narrows_traffic::Content;
use narrows_traffic::message::{HEADER_BYTES, Header};
use std::collections::VecDeque;

/// A flow counts as complete this long after its last datagram, because nothing reports that
/// datagram's arrival.
const LINGER: Duration = Duration::from_secs(1);

/// Messages waiting to be sent.
#[derive(Debug)]
pub(crate) struct Outbox {
    segment_bytes: u32,
    /// Written but not sent, with the messages' numbers.
    waiting: VecDeque<Header>,
    waiting_bytes: u64,
    /// Unsent bytes of a stream without messages.
    stream_bytes: u64,
    is_closing: bool,
    last_sent_at: Option<Time>,
    has_lingered: bool,
    counters: SenderCounters,
}

impl Outbox {
    /// Before the first message.
    pub(crate) fn new(settings: &Settings) -> Self {
        Outbox {
            segment_bytes: settings.segment_bytes,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            stream_bytes: 0,
            is_closing: false,
            last_sent_at: None,
            has_lingered: false,
            counters: SenderCounters::default(),
        }
    }

    /// The header and length of the next datagram; a stream's header is written at `now`. `None` if
    /// there is nothing to send.
    pub(crate) fn next(&self, now: Time) -> Option<Header> {
        let number = self.next_number();
        if let Some(message) = self.waiting.front() {
            return Some(Header { number, ..*message });
        }
        let bytes = self.stream_bytes.min(self.segment_bytes.into());
        // The last datagram of a stream is padded to the length of a header.
        let length_bytes = (bytes as u32).max(HEADER_BYTES);
        (bytes > 0).then_some(Header { length_bytes, number, written_at: now })
    }

    /// The next datagram, of this length, was sent.
    pub(crate) fn handle_sent(&mut self, now: Time, length_bytes: u32) {
        match self.waiting.pop_front() {
            Some(message) => self.waiting_bytes -= u64::from(message.length_bytes),
            None => self.stream_bytes = self.stream_bytes.saturating_sub(length_bytes.into()),
        }
        self.last_sent_at = Some(now);
        self.counters.segments_sent += 1;
        self.counters.bytes_sent += u64::from(length_bytes);
    }

    /// True if there is something to send.
    pub(crate) fn has_more(&self) -> bool {
        !self.waiting.is_empty() || self.stream_bytes > 0
    }

    /// The number of the next datagram, which is the count of sent ones.
    pub(crate) fn next_number(&self) -> u64 {
        self.counters.segments_sent
    }

    /// When to call [`Outbox::handle_timeout`].
    pub(crate) fn poll_timeout(&self) -> Option<Time> {
        self.completed_at().filter(|_| !self.has_lingered).map(|at| at + LINGER)
    }

    /// Handles everything due at `now`.
    pub(crate) fn handle_timeout(&mut self, now: Time) {
        self.has_lingered |= self.completed_at().is_some_and(|at| at + LINGER <= now);
    }

    /// When the last datagram of an application that has closed left.
    pub(crate) fn completed_at(&self) -> Option<Time> {
        self.last_sent_at.filter(|_| self.is_closing && !self.has_more())
    }

    /// True if the last datagram has left and had time to arrive.
    pub(crate) fn is_complete(&self) -> bool {
        self.has_lingered
    }

    /// Counts of sent data.
    pub(crate) fn counters(&self) -> SenderCounters {
        self.counters
    }
}

impl Stream for Outbox {
    fn is_open(&self) -> bool {
        true
    }

    fn write(&mut self, content: Content) {
        if !self.is_closing {
            self.stream_bytes = self.stream_bytes.saturating_add(content.len());
        }
    }

    fn write_message(&mut self, message: &Header) {
        if self.is_closing {
            return;
        }
        let length_bytes = message.length_bytes;
        self.waiting_bytes += u64::from(length_bytes);
        let parts = length_bytes.div_ceil(self.segment_bytes);
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
        self.waiting_bytes + self.stream_bytes
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
