//! A port under test: takes arrivals, and returns transmissions and ledger rows.
#![allow(dead_code, missing_docs)]

use narrows_common::{LengthBasis, PS_PER_S, Packet, Time};
use narrows_queueing::{
    Arrival, Dequeued, DisciplineConfig, PortConfig, QueueDiscipline, QueueLimit, QueueRecord,
    TrafficManager,
};

pub const PORT: u16 = 7;
pub const PS: u128 = PS_PER_S as u128;

/// An arrival.
#[derive(Clone, Debug)]
pub struct Came {
    pub at_ps: u64,
    pub packet: Segment,
}

/// A TCP segment: its connection, acknowledgment number, and payload in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    pub flow: u16,
    pub ack: u32,
    pub payload: u16,
    /// Its ECN codepoint: 0 not capable, 1 ECT(1), 2 ECT(0), 3 CE.
    pub ecn: u8,
}

impl Segment {
    /// The frame: Ethernet, IPv4, TCP, and zeros.
    pub fn frame(self) -> Packet {
        let mut bytes = vec![0; 54];
        bytes[12..14].copy_from_slice(&[8, 0]);
        (bytes[14], bytes[15]) = (0x45, self.ecn);
        bytes[16..18].copy_from_slice(&(40 + self.payload).to_be_bytes());
        bytes[23] = 6;
        bytes[26..34].copy_from_slice(&[10, 0, 1, 1, 10, 0, 2, 1]);
        bytes[34..36].copy_from_slice(&self.flow.to_be_bytes());
        bytes[36..38].copy_from_slice(&80u16.to_be_bytes());
        bytes[42..46].copy_from_slice(&self.ack.to_be_bytes());
        (bytes[46], bytes[47]) = (0x50, 0x10);
        Packet { data: bytes, zeros: self.payload.into(), ..Packet::default() }
    }

    pub fn bytes(self) -> u64 {
        54 + u64::from(self.payload)
    }
}

pub fn port(rate_bps: u64, queue: QueueLimit, discipline: DisciplineConfig) -> PortConfig {
    PortConfig {
        port: PORT,
        rate_bps: Some(rate_bps),
        queue,
        discipline,
        counts: LengthBasis::Frame,
        queues: 1,
        classes: vec![],
        trace: None,
        record: true,
        pipeline: 0,
    }
}

/// A transmission: the packet's number, and times in picoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    pub number: u64,
    pub start_ps: u64,
    pub end_ps: u64,
    pub bytes: u64,
    pub is_marked: bool,
}

/// A port, with the packets that it has sent and dropped.
pub struct Bench<D> {
    pub tm: TrafficManager<Packet, D>,
    pub sent: Vec<Sent>,
    pub dropped: u64,
}

impl<D: QueueDiscipline<Packet>> Bench<D> {
    pub fn new(tm: TrafficManager<Packet, D>) -> Self {
        Bench { tm, sent: vec![], dropped: 0 }
    }

    /// Sends everything that can leave by `now`.
    pub fn go_on(&mut self, now: Time) {
        while let Some((at, port)) = self.tm.take_due(now) {
            self.drain(at, port);
        }
    }

    pub fn arrive(&mut self, came: &Came) {
        let now = Time::from_ps(came.at_ps);
        self.go_on(now);
        let port = self.tm.find(PORT.into()).expect("the port");
        let (packet, frame_bytes) = (came.packet.frame(), came.packet.bytes());
        self.tm.offer(now, port, Arrival { packet, flow: 1, priority: 0, frame_bytes });
        self.drain(now, port);
    }

    /// Like `arrive`, but a packet at an idle port bypasses the queue if it may. Returns whether it
    /// did.
    pub fn arrive_or_pass(&mut self, came: &Came) -> bool {
        let now = Time::from_ps(came.at_ps);
        self.go_on(now);
        let port = self.tm.find(PORT.into()).expect("the port");
        let passes = self.tm.is_idle(now, port) && self.tm.is_transparent(port);
        if passes {
            let (packet, frame_bytes) = (came.packet.frame(), came.packet.bytes());
            let arrival = Arrival { packet, flow: 1, priority: 0, frame_bytes };
            let dequeued = self.tm.pass(now, port, arrival);
            self.send(dequeued);
        } else {
            self.arrive(came);
        }
        passes
    }

    fn drain(&mut self, at: Time, port: usize) {
        while let Some(dequeued) = self.tm.dequeue_idle(at, port) {
            self.send(dequeued);
        }
        self.dropped += std::iter::from_fn(|| self.tm.poll_dropped()).count() as u64;
    }

    fn send(&mut self, dequeued: Dequeued<Packet>) {
        let bytes = dequeued.queued.packet.len() as u64;
        let sent = self.tm.transmit(dequeued.at, dequeued.port, bytes);
        let (start_ps, end_ps) = (sent.start.as_ps(), sent.end.as_ps());
        let number = dequeued.queued.label.number;
        let is_marked = dequeued.queued.is_marked;
        self.sent.push(Sent { number, start_ps, end_ps, bytes, is_marked });
    }

    pub fn rows(&mut self) -> Vec<QueueRecord> {
        std::mem::take(self.tm.records())
    }
}
