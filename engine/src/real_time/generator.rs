//! Background traffic: sends the messages of flows' applications as UDP packets, one per message.
//! Each packet leaves when its application writes the message; nothing answers it.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use narrows_common::{Packet, PacketPool, Time};
use schemars::JsonSchema;
use serde::Serialize;

use super::data_path::DataPath;
use super::node::Node;
use crate::error::EngineError;
use crate::network::Progress;
use crate::network::application_messages::MessageSource;
use crate::network::wire_map::Departure;
use crate::plan::Plan;
use crate::record::instrument::Instrument;

/// Flows whose messages become packets with the same headers.
#[derive(Clone, Debug)]
pub struct Stream {
    /// Ethernet, IPv4 and UDP headers, in front of a payload of zeros.
    pub headers: Vec<u8>,
    /// The payload's length, which each of its messages must have.
    pub payload_bytes: u32,
    /// The flows' numbers in the plan.
    pub flows: Vec<u32>,
}

/// The result of a generator.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Generated {
    /// Packets by stream.
    pub packets: Vec<u64>,
    /// From the start to the departure of the last packet.
    pub duration_s: f64,
    /// How late packets left, and how many the device did not accept.
    pub instrument: Instrument,
}

/// A flow's messages, and the stream that they belong to.
#[derive(Debug)]
struct Source {
    writer: MessageSource,
    stream: usize,
    flow: u32,
}

/// The sender of several streams on one wire.
#[derive(Debug)]
pub struct Generator {
    streams: Vec<Stream>,
    sources: Vec<Source>,
    /// The next message of every source: time, source, length.
    next: BinaryHeap<Reverse<(Time, usize, u32)>>,
    until: Time,
    /// Packets that may still be sent.
    left: u64,
    sent: Vec<u64>,
    due: VecDeque<Departure>,
    pool: PacketPool,
    wrong: Option<EngineError>,
}

impl Generator {
    /// The plan's messages before `until`, at most `most` in all streams together.
    ///
    /// # Errors
    /// A flow that does not exist, or values out of range.
    pub fn new(
        plan: &Plan,
        streams: Vec<Stream>,
        until: Time,
        most: u64,
    ) -> Result<Generator, EngineError> {
        let mut sources = vec![];
        for (stream, one) in streams.iter().enumerate() {
            for &flow in &one.flows {
                let planned = plan.flows.iter().find(|planned| planned.flow.id == flow);
                let planned = planned
                    .ok_or_else(|| EngineError::Plan(format!("plan: there is no flow {flow}")))?;
                sources.push(Source { writer: MessageSource::new(plan, planned)?, stream, flow });
            }
        }
        let mut generator = Generator {
            sent: vec![0; streams.len()],
            streams,
            sources,
            next: BinaryHeap::new(),
            until,
            left: most,
            due: VecDeque::new(),
            pool: PacketPool::default(),
            wrong: None,
        };
        (0..generator.sources.len()).for_each(|source| generator.plan_next(source));
        Ok(generator)
    }

    /// Schedules the next message of a source.
    fn plan_next(&mut self, source: usize) {
        let message = self.sources[source].writer.next();
        if let Some((at, length_bytes)) = message.filter(|&(at, _)| at < self.until) {
            self.next.push(Reverse((at, source, length_bytes)));
        }
    }

    /// Whether the last packet has been handed to the device.
    fn is_over(&self) -> bool {
        self.left == 0 || self.next.is_empty()
    }

    fn send(&mut self, at: Time, source: usize, length_bytes: u32) {
        let Source { stream, flow, .. } = self.sources[source];
        let Stream { headers, payload_bytes, .. } = &self.streams[stream];
        if length_bytes != *payload_bytes {
            self.wrong.get_or_insert_with(|| {
                let what = format!("messages of {payload_bytes} and of {length_bytes} bytes");
                EngineError::Plan(format!("flow {flow}: {what}: expected one length"))
            });
            return;
        }
        let mut packet = self.pool.take();
        packet.data.extend_from_slice(headers);
        packet.zeros = length_bytes;
        self.due.push_back(Departure { wire: 0, start: at, end: at, at, packet });
        self.sent[stream] += 1;
        self.left -= 1;
    }
}

impl Node for Generator {
    fn handle_packet(&mut self, _: Time, _: usize, packet: Box<Packet>) {
        self.pool.give(packet);
    }

    fn handle_timeout(&mut self, now: Time) {
        while let Some(&Reverse((at, source, length_bytes))) = self.next.peek() {
            if at > now || self.left == 0 {
                return;
            }
            self.next.pop();
            self.send(at, source, length_bytes);
            self.plan_next(source);
        }
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.next.peek().filter(|_| self.left > 0).map(|&Reverse((at, ..))| at)
    }

    fn poll_transmit(&mut self) -> Option<Departure> {
        self.due.pop_front()
    }

    fn take_packet(&mut self) -> Box<Packet> {
        self.pool.take()
    }

    fn recycle(&mut self, packet: Box<Packet>) {
        self.pool.give(packet);
    }
}

/// Sends all packets of a generator by a started path with one wire.
///
/// # Errors
/// [`EngineError::Cancelled`] if `progress` returns false. [`EngineError::Plan`] if a message's
/// length differs from its stream's payload.
pub fn generate(
    path: &mut DataPath,
    mut generator: Generator,
    progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Generated, EngineError> {
    let mut so_far = Progress::default();
    loop {
        so_far.now = path.turn(&mut generator);
        so_far.packets = generator.sent.iter().sum();
        if let Some(wrong) = generator.wrong.take() {
            return Err(wrong);
        }
        if generator.is_over() && path.has_sent_all() {
            break;
        }
        if !progress(&so_far) {
            return Err(EngineError::Cancelled);
        }
    }
    Ok(Generated {
        packets: generator.sent,
        duration_s: so_far.now.as_secs_f64(),
        instrument: path.instrument(),
    })
}
