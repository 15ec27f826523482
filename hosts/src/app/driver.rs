//! Drives the application at one end of a flow over any byte stream.
//!
//! The sending end writes what its application produces. The receiving end reads, parses messages,
//! and answers or forwards them.

use crate::app::message_reader::MessageReader;
use crate::app::stream::Stream;
use crate::config::FlowConfig;
use crate::report::MessageCounters;
use narrows_common::record::MessageRecord;
use narrows_common::{Rng, Time};
use narrows_traffic::message::Header;
use narrows_traffic::{Application, Reaction, Write};

/// An end of a flow: a stream, and the driver of its application.
pub trait AppEnd {
    /// Its driver and its stream; `None` if it has no stream.
    fn parts(&mut self) -> Option<(&mut AppDriver, &mut dyn Stream)>;
}

/// The random numbers of a flow's application, derived from its host's `traffic_seed`.
pub(crate) fn application_rng(traffic_seed: u64, flow: u32) -> Rng {
    Rng::for_component(traffic_seed, &format!("flow {flow}"))
}

/// Writes an application's output into a stream, and reads from the stream.
#[derive(Debug)]
#[repr(C)]
pub struct AppDriver {
    /// `None` at the receiver.
    application: Option<Box<dyn Application>>,
    /// Separates the messages that are read; `None` if there are none.
    reader: Option<Box<MessageReader>>,
    /// When the application writes next, unless it reads something before. Cached, so that an ACK
    /// does not ask for it.
    writes_at: Time,
    flow: u32,
    rng: Rng,
    written_messages: u64,
    /// The receiving end's reaction to a message.
    reaction: Option<Reaction>,
    /// A message that would leave more than this unacknowledged is skipped.
    send_buffer_bytes: u64,
    skipped_messages: u64,
}

impl AppDriver {
    /// The driver of a flow's sending or receiving end, at a host with this `traffic_seed`. The
    /// caller has checked the flow's values.
    pub fn new(flow: &FlowConfig, is_sender: bool, traffic_seed: u64) -> Self {
        let reaction = flow.app.reaction();
        let has_reader = if is_sender { reaction.is_some() } else { flow.app.has_messages() };
        AppDriver {
            flow: flow.id,
            application: is_sender.then(|| flow.app.build()),
            writes_at: if is_sender { Time::ZERO } else { Time::MAX },
            rng: application_rng(traffic_seed, flow.id),
            written_messages: 0,
            reader: has_reader.then(|| Box::new(MessageReader::new(flow.id, flow.app.replaces()))),
            reaction: reaction.filter(|_| !is_sender),
            send_buffer_bytes: flow.send_buffer_bytes.unwrap_or(u64::MAX),
            skipped_messages: 0,
        }
    }

    /// True at the sending end.
    pub fn is_sender(&self) -> bool {
        self.application.is_some()
    }

    /// When to call [`AppDriver::handle_timeout`].
    pub fn poll_timeout(&self) -> Option<Time> {
        (self.writes_at < Time::MAX).then_some(self.writes_at)
    }

    /// Writes what is due at `now`; call it from the flow's start on.
    pub fn handle_timeout(&mut self, now: Time, stream: &mut (impl Stream + ?Sized)) {
        while let Some(application) = &mut self.application {
            let Some(write) = application.poll_write(now, &mut self.rng) else { break };
            match write {
                Write::Stream(content) => stream.write(content),
                Write::Message { length_bytes } => {
                    let number = self.written_messages;
                    self.written_messages += 1;
                    self.write_message(&Header { length_bytes, number, written_at: now }, stream);
                }
            }
        }
        if let Some(application) = &self.application {
            self.writes_at = application.poll_timeout().unwrap_or(Time::MAX);
            if application.is_finished() {
                stream.close();
            }
        }
    }

    /// Reads what the stream has, and records the messages that end.
    #[inline(always)]
    pub fn handle_readable(
        &mut self,
        now: Time,
        stream: &mut (impl Stream + ?Sized),
        records: &mut Vec<MessageRecord>,
    ) {
        let before = records.len();
        match &mut self.reader {
            Some(reader) => reader.read(now, stream, records),
            None if self.application.is_none() => {
                stream.read(u64::MAX, None);
            }
            None => {}
        }
        if let Some(application) = &mut self.application {
            for _ in before..records.len() {
                application.handle_message(now);
            }
            if before < records.len() || self.writes_at <= now {
                self.handle_timeout(now, stream);
            }
        } else if stream.is_read_to_end() {
            stream.close();
        }
    }

    /// Writes a message, or skips it if the send buffer has no room.
    fn write_message(&mut self, header: &Header, stream: &mut (impl Stream + ?Sized)) {
        let length_bytes = u64::from(header.length_bytes);
        if stream.unacked_bytes() + length_bytes > self.send_buffer_bytes {
            self.skipped_messages += 1;
            return;
        }
        stream.write_message(header);
    }

    /// Records a message that arrived in a datagram.
    pub fn handle_message(&mut self, now: Time, header: &Header, records: &mut Vec<MessageRecord>) {
        if let Some(reader) = &mut self.reader {
            reader.handle_message(now, header, records);
        }
    }

    /// Counts of the messages read; `None` if there are none.
    pub fn messages(&self) -> Option<MessageCounters> {
        self.reader.as_ref().map(|reader| reader.counters())
    }

    /// Messages skipped because the send buffer had no room.
    pub fn skipped_messages(&self) -> u64 {
        self.skipped_messages
    }
}

/// The receiving end `from`, one of a host's `ends`, answers or forwards the messages that it has
/// just read. These begin at `read_before` in `records`, and this call removes them: the final
/// reader records their latency, since the first write. Returns the ends written to.
pub(crate) fn forward_messages<E: AppEnd>(
    ends: &mut [E],
    from: usize,
    records: &mut Vec<MessageRecord>,
    read_before: usize,
) -> Vec<usize> {
    let mut written = Vec::new();
    if records.len() == read_before {
        return written;
    }
    let Some((driver, stream)) = ends[from].parts() else { return written };
    let (origin, Some(reaction)) = (driver.flow, driver.reaction) else { return written };
    let headers: Vec<Header> = records
        .drain(read_before..)
        .map(|MessageRecord { message: number, length_bytes, written_at, .. }| Header {
            length_bytes: length_bytes as u32,
            number,
            written_at,
        })
        .collect();
    match reaction {
        Reaction::Respond { length_bytes } => {
            for header in headers {
                driver.write_message(&Header { length_bytes, ..header }, stream);
                written.push(from);
            }
        }
        Reaction::SendOn { .. } => {
            for header in headers {
                for (index, end) in ends.iter_mut().enumerate() {
                    let Some((driver, stream)) = end.parts() else { continue };
                    if index != from && driver.reaction == Some(reaction) && stream.is_open() {
                        driver.write_message(&header.sent_on(origin), stream);
                        written.push(index);
                    }
                }
            }
        }
    }
    written
}
