//! The receive side: converts the mbufs of a receive queue to packets with arrival times.

use narrows_common::{Checksums, Duration, Packet, Time};
use narrows_dpdk::{Clock, Mbuf, Mempool, Offloads, Queue};

use super::device_clock::DeviceClock;
use crate::record::instrument::{Executor, WireSummary};

/// Bytes of a packet that an engine gets as a copy: the headers, plus the part of the payload that
/// programs usually read.
const HEAD_BYTES: usize = 128;
/// Packets up to this length are copied whole, which costs less than keeping their mbufs. Linux
/// drivers do the same (`rx_copybreak`).
const COPY_BYTES: usize = 256;

/// The state of a receive queue.
#[derive(Debug)]
pub(crate) struct Inlet {
    offloads: Offloads,
    pool: Mempool,
    device_clock: DeviceClock,
    /// Packets received.
    pub(crate) received: u64,
    /// Packets copied because mbufs were short.
    pub(crate) copied: u64,
}

impl Inlet {
    pub(crate) fn new(offloads: Offloads, pool: Mempool) -> Self {
        let device_clock = DeviceClock::default();
        Inlet { offloads, pool, device_clock, received: 0, copied: 0 }
    }

    /// Reads the device's clock by `read` from time to time, if it timestamps packets.
    pub(crate) fn read_clock(&mut self, clock: &mut Clock, read: impl Fn() -> Option<u64>) {
        if !self.offloads.stamps {
            return;
        }
        let before = clock.now();
        if let Some(ticks) = read() {
            let took = clock.now().since(before);
            self.device_clock.read(ticks, before + Duration::from_ps(took.as_ps() / 2));
        }
    }

    /// The arrival time of a packet that the path found at `now`.
    fn arrival(&self, mbuf: &Mbuf, now: Time) -> Time {
        let stamp = if self.offloads.stamps { mbuf.stamp() } else { None };
        stamp.and_then(|ticks| self.device_clock.time_of(ticks)).map_or(now, |at| at.min(now))
    }

    /// Whether mbufs are short ([`Mempool::is_short`]).
    pub(crate) fn is_short(&self) -> bool {
        self.pool.is_short()
    }

    /// Converts a packet found at `now` to `packet`, which is empty. The end of a long packet stays
    /// in its mbuf until it leaves, unless mbufs are short. Returns the arrival time, and the mbuf
    /// if it is free.
    pub(crate) fn unpack(
        &mut self,
        now: Time,
        mbuf: Mbuf,
        is_short: bool,
        packet: &mut Packet,
    ) -> (Time, Option<Mbuf>) {
        let at = self.arrival(&mbuf, now);
        if self.offloads.verifies_checksums && mbuf.is_checked() {
            packet.checksums = Checksums::Verified;
        }
        let bytes = mbuf.data();
        if is_short || bytes.len() <= COPY_BYTES {
            self.copied += u64::from(bytes.len() > COPY_BYTES);
            packet.data.extend_from_slice(bytes);
            (at, Some(mbuf))
        } else {
            packet.data.extend_from_slice(&bytes[..HEAD_BYTES]);
            packet.payload = Some(mbuf.into_payload(HEAD_BYTES));
            (at, None)
        }
    }
}

/// An additional receive queue of a port whose wire may belong to another core.
#[derive(Debug)]
pub struct RemoteQueue {
    name: String,
    device: String,
    queue: Queue,
    pub(crate) inlet: Inlet,
}

impl RemoteQueue {
    pub(crate) fn new(name: &str, device: &str, queue: Queue, inlet: Inlet) -> Self {
        RemoteQueue { name: name.to_owned(), device: device.to_owned(), queue, inlet }
    }

    /// Receives a burst, like a wire.
    pub(crate) fn receive(&mut self, received: &mut Vec<Mbuf>) -> usize {
        let count = self.queue.receive(received);
        self.inlet.received += count as u64;
        count
    }

    pub(crate) fn read_device_clock(&mut self, clock: &mut Clock) {
        self.inlet.read_clock(clock, || self.queue.device_clock());
    }

    /// The counts to add to its port's.
    pub(crate) fn summary(&self) -> WireSummary {
        WireSummary {
            received: self.inlet.received,
            copied: self.inlet.copied,
            missed: self.queue.broken(),
            arrivals_by: Executor::of(self.inlet.offloads.stamps),
            ..WireSummary::new(&self.name, &self.device)
        }
    }
}
