//! The receiving end of a flow of datagrams.

use crate::report::{DatagramCounters, ReceiverCounters};
use crate::udp::arrivals::Arrivals;
use crate::udp::settings::Settings;
use crate::udp::tfrc::{self, Observer};
use crate::wire::datagram::{Datagram, Emitter};
use crate::wire::discard::Discard;
use crate::wire::ip::{Ecn, Payload};
use narrows_common::histogram::Summary;
use narrows_common::{Packet, Time};
use narrows_traffic::message::{HEADER_BYTES, Header};

/// The receiving end.
#[derive(Debug)]
pub struct Receiver {
    arrivals: Arrivals,
    emitter: Emitter,
    /// Sends reports to the sender; `None` for no reports.
    observer: Option<Observer>,
}

impl Receiver {
    /// Before the first datagram.
    pub fn new(settings: &Settings, emitter: Emitter) -> Self {
        Receiver {
            arrivals: Arrivals::new(),
            emitter,
            observer: settings.is_tfrc().then(|| Observer::new(settings.segment_bytes)),
        }
    }

    /// A datagram arrived. Returns its message for the user; `None` for a duplicate.
    ///
    /// # Errors
    /// If the datagram does not belong to such a flow.
    pub fn handle_datagram(
        &mut self,
        now: Time,
        datagram: &Datagram<'_>,
    ) -> Result<Option<Header>, Discard> {
        let (data, message) = match self.observer {
            Some(_) => tfrc::wire::Data::parse(&datagram.payload)
                .map(|(data, message)| (Some(data), message))
                .ok_or(Discard::BadDatagram)?,
            None => (None, datagram.payload),
        };
        let header = parse_message(&message).ok_or(Discard::BadDatagram)?;
        let sent_at = data.map_or(header.written_at, |data| data.sent_at);
        if !self.arrivals.handle(now, &header, sent_at) {
            return Ok(None);
        }
        if let (Some(observer), Some(data)) = (&mut self.observer, &data) {
            observer.handle(now, header.number, data, header.length_bytes);
        }
        Ok(Some(header))
    }

    /// Writes the report that is due into `packet`; false if there is none.
    pub fn poll_transmit(&mut self, now: Time, packet: &mut Packet) -> bool {
        let report = self.observer.as_mut().and_then(|observer| observer.poll_report(now));
        let Some(report) = report else { return false };
        self.emitter.emit(Ecn::NotEct, &[&report.emit()], 0, packet);
        true
    }

    /// When to call [`Receiver::handle_timeout`].
    pub fn poll_timeout(&self) -> Option<Time> {
        self.observer.as_ref().and_then(Observer::poll_timeout)
    }

    /// Handles everything due at `now`.
    pub fn handle_timeout(&mut self, now: Time) {
        if let Some(observer) = &mut self.observer {
            observer.handle_timeout(now);
        }
    }

    /// The counts, in a segment receiver's record.
    pub fn counters(&self) -> ReceiverCounters {
        self.arrivals.as_segments()
    }

    /// Counts of datagrams.
    pub fn datagrams(&self) -> DatagramCounters {
        self.arrivals.counters()
    }

    /// One-way delays.
    pub fn one_way_delay(&self) -> Summary {
        self.arrivals.one_way_delay()
    }
}

/// The header of a message that fills a payload.
pub(crate) fn parse_message(payload: &Payload<'_>) -> Option<Header> {
    let header = payload.bytes.get(..HEADER_BYTES as usize).and_then(Header::parse)?;
    (header.length_bytes == payload.len()).then_some(header)
}
