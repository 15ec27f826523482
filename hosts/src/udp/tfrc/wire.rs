//! TFRC's headers, big-endian: data, in front of a datagram's message, and report, a whole payload
//! (RFC 5348 sections 3.2.1 and 3.2.2).
//!
//! Data, 20 bytes: magic "nrft" (4); departure in picoseconds since the run began (8); the sender's
//! round-trip time in picoseconds, 0 before it has one (8). The sequence number is that of the
//! message after it.
//!
//! Report, 52 bytes: magic "nrfr" (4); departure of the last datagram received (8); time since its
//! arrival (8); received bytes per second (8); loss event rate as an IEEE 754 double (8); highest
//! number received (8); total bytes received (8).

use crate::wire::ip::Payload;
use narrows_common::{Duration, Time};

/// Bytes in front of a message.
pub(in crate::udp) const DATA_BYTES: usize = 20;
const REPORT_BYTES: usize = 52;
const DATA_MAGIC: [u8; 4] = *b"nrft";
const REPORT_MAGIC: [u8; 4] = *b"nrfr";

/// A datagram's data for the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::udp) struct Data {
    /// When it was sent.
    pub(in crate::udp) sent_at: Time,
    /// The sender's round-trip time; zero before it has one.
    pub(in crate::udp) rtt: Duration,
}

/// The receiver's report.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::udp) struct Report {
    /// The departure of the last datagram received.
    pub(in crate::udp) sent_at: Time,
    /// Time since its arrival.
    pub(in crate::udp) held: Duration,
    /// Bytes per second received in the last round trip.
    pub(in crate::udp) received_bytes_per_sec: u64,
    /// Loss events per datagram; 0 before the first.
    pub(in crate::udp) loss_event_rate: f64,
    /// The highest number received.
    pub(in crate::udp) highest: u64,
    /// Total bytes of messages received.
    pub(in crate::udp) received_bytes: u64,
}

fn word(bytes: &[u8], at: usize) -> u64 {
    u64::from_be_bytes(bytes[at..at + 8].try_into().expect("8 bytes"))
}

impl Data {
    /// Its bytes.
    pub(in crate::udp) fn emit(&self) -> [u8; DATA_BYTES] {
        let mut bytes = [0; DATA_BYTES];
        bytes[..4].copy_from_slice(&DATA_MAGIC);
        bytes[4..12].copy_from_slice(&self.sent_at.as_ps().to_be_bytes());
        bytes[12..].copy_from_slice(&self.rtt.as_ps().to_be_bytes());
        bytes
    }

    /// Parses the header of a payload; returns it and the bytes after it.
    pub(in crate::udp) fn parse<'a>(payload: &Payload<'a>) -> Option<(Data, Payload<'a>)> {
        let (bytes, rest) = payload.bytes.split_at_checked(DATA_BYTES)?;
        let data = Data {
            sent_at: Time::from_ps(word(bytes, 4)),
            rtt: Duration::from_ps(word(bytes, 12)),
        };
        let rest = Payload { bytes: rest, zeros: payload.zeros };
        (bytes[..4] == DATA_MAGIC).then_some((data, rest))
    }
}

impl Report {
    /// Its bytes.
    pub(in crate::udp) fn emit(&self) -> [u8; REPORT_BYTES] {
        let words = [
            self.sent_at.as_ps(),
            self.held.as_ps(),
            self.received_bytes_per_sec,
            self.loss_event_rate.to_bits(),
            self.highest,
            self.received_bytes,
        ];
        let mut bytes = [0; REPORT_BYTES];
        bytes[..4].copy_from_slice(&REPORT_MAGIC);
        for (field, word) in bytes[4..].chunks_exact_mut(8).zip(words) {
            field.copy_from_slice(&word.to_be_bytes());
        }
        bytes
    }

    /// Parses a payload as a report.
    pub(in crate::udp) fn parse(payload: &Payload<'_>) -> Option<Report> {
        let bytes: &[u8; REPORT_BYTES] = payload.bytes.try_into().ok()?;
        let report = Report {
            sent_at: Time::from_ps(word(bytes, 4)),
            held: Duration::from_ps(word(bytes, 12)),
            received_bytes_per_sec: word(bytes, 20),
            loss_event_rate: f64::from_bits(word(bytes, 28)),
            highest: word(bytes, 36),
            received_bytes: word(bytes, 44),
        };
        let is_one = bytes[..4] == REPORT_MAGIC && (0.0..=1.0).contains(&report.loss_event_rate);
        is_one.then_some(report)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tfrc_reports_and_data_are_their_layouts() {
        let report = Report {
            sent_at: Time::from_ps(1),
            held: Duration::from_ps(2),
            received_bytes_per_sec: 3,
            loss_event_rate: 0.5,
            highest: 4,
            received_bytes: 5,
        };
        let mut expected = *b"nrfr\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0\x03\
            \x3f\xe0\0\0\0\0\0\0\0\0\0\0\0\0\0\x04\0\0\0\0\0\0\0\x05";
        assert_eq!(report.emit(), expected);
        let parsed = |bytes: &[u8]| Report::parse(&Payload { bytes, zeros: 0 });
        assert_eq!(parsed(&expected), Some(report));
        // 0.5 becomes NaN, then a rate of 2.
        expected[28..30].copy_from_slice(&[0x7f, 0xf8]);
        assert_eq!(parsed(&expected), None);
        expected[28..30].copy_from_slice(&[0x40, 0]);
        assert_eq!(parsed(&expected), None);
        let data = Data { sent_at: Time::from_ps(1), rtt: Duration::from_ps(2) };
        let bytes = data.emit();
        assert_eq!(bytes, *b"nrft\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\x02");
        let rest = Data::parse(&Payload { bytes: &bytes, zeros: 7 });
        assert_eq!(rest.map(|(data, rest)| (data, rest.len())), Some((data, 7)));
    }
}
