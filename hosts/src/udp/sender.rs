//! The sending end of a flow of datagrams.

use crate::app::stream::Stream;
use crate::report::SenderCounters;
use crate::udp::outbox::Outbox;
use crate::udp::settings::Settings;
use crate::udp::tfrc::{self, Control};
use crate::wire::datagram::{Datagram, Emitter};
use crate::wire::discard::Discard;
use crate::wire::ip::Ecn;
use narrows_common::histogram::Summary;
use narrows_common::record::FlowRecord;
use narrows_common::{Packet, Time};
use narrows_traffic::message::HEADER_BYTES;

/// The sending end.
#[derive(Debug)]
pub struct Sender {
    flow: u32,
    emitter: Emitter,
    outbox: Outbox,
    /// Decides when the next datagram may leave; `None` for immediately.
    control: Option<Control>,
}

impl Sender {
    /// Before the first datagram.
    pub fn new(settings: Settings, emitter: Emitter) -> Self {
        Sender {
            flow: settings.flow,
            emitter,
            outbox: Outbox::new(&settings),
            control: settings.is_tfrc().then(|| Control::new(settings.segment_bytes)),
        }
    }

    /// The stream that the application writes to.
    pub fn stream(&mut self) -> &mut dyn Stream {
        &mut self.outbox
    }

    /// Writes the next datagram into `packet`; false if there is none.
    pub fn poll_transmit(&mut self, now: Time, packet: &mut Packet) -> bool {
        if self.control.as_ref().is_some_and(|control| control.next_departure() > now) {
            return false;
        }
        let Some(header) = self.outbox.next(now) else { return false };
        self.outbox.handle_sent(now, header.length_bytes);
        let zeros = header.length_bytes - HEADER_BYTES;
        match &mut self.control {
            Some(control) => {
                let has_more = self.outbox.has_more();
                let data = control.on_sent(now, header.length_bytes, has_more).emit();
                self.emitter.emit(Ecn::NotEct, &[&data, &header.emit()], zeros, packet);
            }
            None => self.emitter.emit(Ecn::NotEct, &[&header.emit()], zeros, packet),
        }
        true
    }

    /// A datagram arrived from the receiver.
    ///
    /// # Errors
    /// If the datagram is not a report, or no report was expected.
    pub fn handle_datagram(&mut self, now: Time, datagram: &Datagram<'_>) -> Result<(), Discard> {
        let report = tfrc::wire::Report::parse(&datagram.payload);
        let (control, report) = self.control.as_mut().zip(report).ok_or(Discard::BadDatagram)?;
        control.handle_report(now, &report);
        Ok(())
    }

    /// When to call [`Sender::handle_timeout`].
    pub fn poll_timeout(&self) -> Option<Time> {
        if self.outbox.is_complete() {
            return None;
        }
        let control = self.control.as_ref();
        let departure = control.filter(|_| self.outbox.has_more()).map(Control::next_departure);
        let timer = control.and_then(Control::poll_timeout);
        Time::earliest([departure, self.outbox.poll_timeout(), timer])
    }

    /// Handles everything due at `now`.
    pub fn handle_timeout(&mut self, now: Time) {
        self.outbox.handle_timeout(now);
        if let Some(control) = &mut self.control {
            control.handle_timeout(now);
        }
    }

    /// When the last datagram of an application that has closed left.
    pub fn completed_at(&self) -> Option<Time> {
        self.outbox.completed_at()
    }

    /// True if the last datagram has left and had time to arrive.
    pub fn is_complete(&self) -> bool {
        self.outbox.is_complete()
    }

    /// Counts of sent data.
    pub fn counters(&self) -> SenderCounters {
        let timeouts = self.control.as_ref().map_or(0, Control::timeouts);
        SenderCounters { timeouts, ..self.outbox.counters() }
    }

    /// Bytes that the receiver has reported.
    pub fn acked_bytes(&self) -> u64 {
        self.control.as_ref().map_or(0, Control::acked_bytes)
    }

    /// Round-trip samples.
    pub fn rtt_summary(&self) -> Summary {
        self.control.as_ref().map_or_else(Summary::default, Control::rtt_summary)
    }

    /// A row of the sender's state; `None` if the sender gets no reports.
    pub fn record(&self, now: Time) -> Option<FlowRecord> {
        let control = self.control.as_ref()?;
        Some(control.record(now, self.flow, self.outbox.next_number()))
    }
}
