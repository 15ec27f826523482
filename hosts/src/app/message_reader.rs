//! Separates a stream's messages at the receiver (`narrows_traffic::message` has the layout).

use crate::app::stream::Stream;
use crate::report::MessageCounters;
use narrows_common::Time;
use narrows_common::record::MessageRecord;
use narrows_traffic::Replaces;
use narrows_traffic::message::{HEADER_BYTES, Header};
use std::collections::BTreeSet;

/// The reading end of a stream of messages.
#[derive(Debug)]
pub struct MessageReader {
    flow: u32,
    replaces: Option<Replaces>,
    /// The bytes read of an incomplete header.
    partial: Vec<u8>,
    /// The message being read, and its missing bytes.
    current: Option<(Header, u64)>,
    counters: MessageCounters,
}

impl MessageReader {
    /// A reader at the start of a stream.
    pub fn new(flow: u32, replaces: Option<Replaces>) -> Self {
        MessageReader {
            flow,
            replaces,
            partial: Vec::with_capacity(HEADER_BYTES as usize),
            current: None,
            counters: MessageCounters {
                superseded: replaces.map(|_| 0),
                ..MessageCounters::default()
            },
        }
    }

    /// The counts so far.
    pub fn counters(&self) -> MessageCounters {
        self.counters
    }

    /// Reads everything available, and records every message that ends.
    pub fn read(
        &mut self,
        now: Time,
        stream: &mut (impl Stream + ?Sized),
        records: &mut Vec<MessageRecord>,
    ) {
        let before = records.len();
        while stream.readable_bytes() > 0 {
            if self.counters.is_garbled {
                stream.read(u64::MAX, None);
                break;
            }
            match &mut self.current {
                Some((_, left_bytes)) => *left_bytes -= stream.read(*left_bytes, None),
                None => self.read_header(stream),
            }
            if let Some((header, _)) = self.current.take_if(|(_, left_bytes)| *left_bytes == 0) {
                self.handle_message(now, &header, records);
            }
        }
        let together = (records.len() - before) as u64;
        let lasting = match self.replaces {
            Some(Replaces::InTurn { users }) => together.min(users.into()),
            Some(Replaces::ByOrigin) => {
                let read = records[before..].iter();
                read.map(|record| Header::origin(record.message)).collect::<BTreeSet<_>>().len()
                    as u64
            }
            None => return,
        };
        if let Some(superseded) = &mut self.counters.superseded {
            *superseded += together - lasting;
        }
    }

    /// Counts and records a completely read message.
    pub fn handle_message(&mut self, now: Time, header: &Header, records: &mut Vec<MessageRecord>) {
        self.counters.read += 1;
        records.push(MessageRecord {
            flow: self.flow,
            message: header.number,
            length_bytes: header.length_bytes.into(),
            written_at: header.written_at,
            read_at: now,
        });
    }

    fn read_header(&mut self, stream: &mut (impl Stream + ?Sized)) {
        let missing = u64::from(HEADER_BYTES) - self.partial.len() as u64;
        stream.read(missing, Some(&mut self.partial));
        if self.partial.len() < HEADER_BYTES as usize {
            return;
        }
        match Header::parse(&self.partial) {
            Some(header) => {
                self.current = Some((header, (header.length_bytes - HEADER_BYTES).into()));
            }
            None => self.counters.is_garbled = true,
        }
        self.partial.clear();
    }
}
