//! The way in: what comes out of a receive queue becomes packets with their instants of arrival.

use narrows_common::{Checksums, Duration, Packet, Payload, Time};
use narrows_dpdk::{Clock, Mbuf, Mempool, Offloads, Queue};

use super::device_clock::DeviceClock;
use crate::record::instrument::{Executor, WireSummary};

/// Bytes of a packet that an engine gets to itself: the headers, and what a program reads of the
/// rest most of the time.
const HEAD_BYTES: usize = 128;
/// A packet up to this long is copied whole: that costs less than to keep its mbuf (Linux's
/// drivers have as much as their `rx_copybreak`).
const COPY_BYTES: usize = 256;

/// What is known of a receive queue's packets.
#[derive(Debug)]
pub(crate) struct Inlet {
    offloads: Offloads,
    pool: Mempool,
    device_clock: DeviceClock,
    /// Packets that came.
    pub(crate) received: u64,
    /// Packets that were copied since mbufs were short.
    pub(crate) copied: u64,
}

impl Inlet {
    pub(crate) fn new(offloads: Offloads, pool: Mempool) -> Self {
        let device_clock = DeviceClock::default();
        Inlet { offloads, pool, device_clock, received: 0, copied: 0 }
    }

    /// Reads the device's clock by `read`, where it stamps packets; now and then.
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

    /// When a packet came that is found at `now`.
    fn arrival(&self, mbuf: &Mbuf, now: Time) -> Time {
        let stamp = if self.offloads.stamps { mbuf.stamp() } else { None };
        stamp.and_then(|ticks| self.device_clock.time_of(ticks)).map_or(now, |at| at.min(now))
    }

    /// Whether mbufs are short ([`Mempool::is_short`]).
    pub(crate) fn is_short(&self) -> bool {
        self.pool.is_short()
    }

    /// What was found at `now` becomes `packet`, which is empty. The end of a long packet stays in
    /// its mbuf until it leaves, as long as there are mbufs to spare. Returns when it came.
    pub(crate) fn unpack(
        &mut self,
        now: Time,
        mut mbuf: Mbuf,
        is_short: bool,
        packet: &mut Packet,
    ) -> Time {
        let at = self.arrival(&mbuf, now);
        if self.offloads.verifies_checksums && mbuf.is_checked() {
            packet.checksums = Checksums::Verified;
        }
        let bytes = mbuf.data();
        if is_short || bytes.len() <= COPY_BYTES {
            self.copied += u64::from(bytes.len() > COPY_BYTES);
            packet.data.extend_from_slice(bytes);
        } else {
            packet.data.extend_from_slice(&bytes[..HEAD_BYTES]);
            mbuf.cut_front(HEAD_BYTES);
            packet.payload = Some(Box::new(mbuf));
        }
        at
    }
}

/// A further receive queue of a port whose wire may be another core's.
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

    /// As a wire's.
    pub(crate) fn receive(&mut self, received: &mut Vec<Mbuf>) -> usize {
        let count = self.queue.receive(received);
        self.inlet.received += count as u64;
        count
    }

    pub(crate) fn read_device_clock(&mut self, clock: &mut Clock) {
        self.inlet.read_clock(clock, || self.queue.device_clock());
    }

    /// What it adds to its port's.
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
