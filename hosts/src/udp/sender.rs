//! The sending end of a flow of datagrams.

use super::Settings;
use super::tfrc::{self, Control};
use super::wire::{Datagram, Emitter};
use crate::ip::{Discard, Ecn};
use crate::tcp::sender::SenderCounters;
use crate::user::Stream;
use narrows_common::histogram::Summary;
use narrows_common::record::FlowRecord;
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
    /// Not sent yet of a stream without messages.
    stream_bytes: u64,
    /// Says when the next may leave; `None`: at once.
    control: Option<Control>,
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
            control: settings.is_tfrc().then(|| Control::new(settings.segment_bytes)),
            settings,
            emitter,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            stream_bytes: 0,
            next_number: 0,
            is_closing: false,
            last_sent_at: None,
            has_lingered: false,
            counters: SenderCounters::default(),
        }
    }

    /// Writes the next datagram into `packet`; false when there is nothing to send.
    pub fn poll_transmit(&mut self, now: Time, packet: &mut Packet) -> bool {
        if self.control.as_ref().is_some_and(|control| control.next_departure() > now) {
            return false;
        }
        let Some(message) = self.next_message(now) else { return false };
        let header = Header { number: self.next_number, ..message };
        let zeros = header.length_bytes - HEADER_BYTES;
        let has_more = self.has_more();
        match &mut self.control {
            Some(control) => {
                let data = control.on_sent(now, header.length_bytes, has_more).emit();
                self.emitter.emit(Ecn::NotEct, &[&data, &header.emit()], zeros, packet);
            }
            None => self.emitter.emit(Ecn::NotEct, &[&header.emit()], zeros, packet),
        }
        self.next_number += 1;
        self.last_sent_at = Some(now);
        self.counters.segments_sent += 1;
        self.counters.bytes_sent += u64::from(header.length_bytes);
        true
    }

    fn next_message(&mut self, now: Time) -> Option<Header> {
        if let Some(message) = self.waiting.pop_front() {
            self.waiting_bytes -= u64::from(message.length_bytes);
            return Some(message);
        }
        let bytes = self.stream_bytes.min(self.settings.segment_bytes.into());
        self.stream_bytes -= bytes;
        // The last of a stream is padded to a header.
        let length_bytes = (bytes as u32).max(HEADER_BYTES);
        (bytes > 0).then_some(Header { length_bytes, number: 0, written_at: now })
    }

    fn has_more(&self) -> bool {
        !self.waiting.is_empty() || self.stream_bytes > 0
    }

    /// A datagram came back.
    ///
    /// # Errors
    /// When it is no report, or none was to come.
    pub fn handle_datagram(&mut self, now: Time, datagram: &Datagram<'_>) -> Result<(), Discard> {
        let report = tfrc::wire::Report::parse(&datagram.payload);
        let (control, report) = self.control.as_mut().zip(report).ok_or(Discard::BadDatagram)?;
        control.handle_report(now, &report);
        Ok(())
    }

    /// When [`Sender::handle_timeout`] is to be called.
    pub fn poll_timeout(&self) -> Option<Time> {
        if self.has_lingered {
            return None;
        }
        let control = self.control.as_ref();
        let departure = control.filter(|_| self.has_more()).map(Control::next_departure);
        let linger = self.completed_at().map(|at| at + LINGER);
        let timer = control.and_then(Control::poll_timeout);
        [departure, linger, timer].into_iter().flatten().min()
    }

    /// Does what is due at `now`.
    pub fn handle_timeout(&mut self, now: Time) {
        self.has_lingered |= self.completed_at().is_some_and(|at| at + LINGER <= now);
        if let Some(control) = &mut self.control {
            control.handle_timeout(now);
        }
    }

    /// When the last datagram of an application that has closed left.
    pub fn completed_at(&self) -> Option<Time> {
        self.last_sent_at.filter(|_| self.is_closing && !self.has_more())
    }

    /// True when the last datagram has left and had time to arrive.
    pub fn is_complete(&self) -> bool {
        self.has_lingered
    }

    /// What it has sent.
    pub fn counters(&self) -> SenderCounters {
        let timeouts = self.control.as_ref().map_or(0, Control::timeouts);
        SenderCounters { timeouts, ..self.counters }
    }

    /// Bytes that the receiver told of.
    pub fn acked_bytes(&self) -> u64 {
        self.control.as_ref().map_or(0, Control::acked_bytes)
    }

    /// Round-trip samples.
    pub fn rtt_summary(&self) -> Summary {
        self.control.as_ref().map_or_else(Summary::default, Control::rtt_summary)
    }

    /// A row of what the sender knows; `None` where it is told nothing.
    pub fn record(&self, now: Time) -> Option<FlowRecord> {
        let control = self.control.as_ref()?;
        Some(control.record(now, self.settings.flow, self.next_number))
    }
}

impl Stream for Sender {
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
