//! The receiving end of a flow of datagrams.

use super::arrivals::{Arrivals, DatagramCounters};
use super::wire::Datagram;
use crate::ip::Discard;
use crate::tcp::receiver::ReceiverCounters;
use narrows_common::Time;
use narrows_common::histogram::Summary;
use narrows_traffic::message::{HEADER_BYTES, Header};

/// The receiving end.
#[derive(Debug)]
pub struct Receiver {
    arrivals: Arrivals,
    delivered_bytes: u64,
}

impl Receiver {
    /// Before the first datagram.
    pub(crate) fn new() -> Self {
        Receiver { arrivals: Arrivals::new(), delivered_bytes: 0 }
    }

    /// A datagram arrived. Returns its message, for the user to take; `None` for a copy.
    ///
    /// # Errors
    /// When it is none of such a flow.
    pub fn handle_datagram(
        &mut self,
        now: Time,
        datagram: &Datagram<'_>,
    ) -> Result<Option<Header>, Discard> {
        let header = datagram.payload.bytes.get(..HEADER_BYTES as usize).and_then(Header::parse);
        let header = header.filter(|header| header.length_bytes == datagram.payload.len());
        let header = header.ok_or(Discard::BadDatagram)?;
        if !self.arrivals.handle(now, header.number, header.written_at) {
            return Ok(None);
        }
        self.delivered_bytes += u64::from(header.length_bytes);
        Ok(Some(header))
    }

    /// What it has counted, as of segments.
    pub fn counters(&self) -> ReceiverCounters {
        let segments_received = self.arrivals.counters().received;
        let delivered_bytes = self.delivered_bytes;
        ReceiverCounters { delivered_bytes, segments_received, ..ReceiverCounters::default() }
    }

    /// What it has counted of the datagrams.
    pub fn datagrams(&self) -> DatagramCounters {
        self.arrivals.counters()
    }

    /// One-way delays.
    pub fn one_way_delay(&self) -> Summary {
        self.arrivals.one_way_delay()
    }
}
