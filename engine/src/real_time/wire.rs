//! A DPDK port with the packets that wait for their departure. The wait implements the cable's
//! delay.

use std::collections::VecDeque;

use narrows_common::{Checksums, Duration, Packet, Time};
use narrows_dpdk::{BURST, Clock, Mbuf, Mempool, Offloads, Port};

use super::inlet::{Inlet, RemoteQueue};
use super::meters::{Lateness, RateMeter};
use super::node::Node;
use crate::network::wire_map::Departure;
use crate::record::instrument::{Executor, WireSummary};

/// A packet that the device has not accepted for this long is lost, as on an unplugged cable.
const GIVE_UP: Duration = Duration::from_ms(10);

/// A port and the packets waiting to be sent by it.
#[derive(Debug)]
pub struct Wire {
    name: String,
    port: Port,
    pool: Mempool,
    inlet: Inlet,
    /// In time order.
    waiting: VecDeque<Departure>,
    /// Empty mbufs for packets that are due.
    empty: Vec<Mbuf>,
    /// Mbufs written out and due; `due` has one element for each.
    packets: Vec<Mbuf>,
    due: VecDeque<Due>,
    lateness: Lateness,
    rate: RateMeter,
    sent: u64,
    not_sent: u64,
    without_memory: u64,
    was_up: bool,
    link_downs: u64,
}

#[derive(Clone, Copy, Debug)]
struct Due {
    start: Time,
    end: Time,
    at: Time,
}

impl Wire {
    /// Creates a wire that allocates the mbufs of its packets from `pool`.
    pub fn new(name: String, port: Port, pool: Mempool) -> Self {
        Wire {
            name,
            inlet: Inlet::new(port.offloads(), pool),
            port,
            pool,
            waiting: VecDeque::new(),
            empty: Vec::with_capacity(BURST),
            packets: Vec::with_capacity(BURST),
            due: VecDeque::with_capacity(BURST),
            lateness: Lateness::new(),
            rate: RateMeter::default(),
            sent: 0,
            not_sent: 0,
            without_memory: 0,
            was_up: false,
            link_downs: 0,
        }
    }

    /// Its name in the run.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its device string.
    pub fn device(&self) -> &str {
        self.port.device()
    }

    /// The tasks that its device takes over.
    pub fn offloads(&self) -> Offloads {
        self.port.offloads()
    }

    /// Checks its device's link ([`Port::look`]). Returns whether the link is up.
    pub fn check_link(&mut self) -> bool {
        let is_up = self.port.look();
        self.link_downs += u64::from(self.was_up && !is_up);
        self.was_up = is_up;
        is_up
    }

    /// Reads the device's clock from time to time, if it timestamps packets.
    pub(crate) fn read_device_clock(&mut self, clock: &mut Clock) {
        self.inlet.read_clock(clock, || self.port.device_clock());
    }

    /// The port's receive queues except the first, which stays with the wire. A second call returns
    /// none.
    pub fn take_remote_queues(&mut self) -> Vec<RemoteQueue> {
        let queues = self.port.take_queues().into_iter();
        let inlet = || Inlet::new(self.port.offloads(), self.pool);
        queues
            .map(|queue| RemoteQueue::new(&self.name, self.port.device(), queue, inlet()))
            .collect()
    }

    /// Schedules a packet for its departure time.
    #[inline]
    pub(crate) fn send(&mut self, departure: Departure) {
        // Packets are in order but behind a link that reorders.
        let is_last = self.waiting.back().is_none_or(|last| last.at <= departure.at);
        match is_last {
            true => self.waiting.push_back(departure),
            false => {
                let after = self.waiting.partition_point(|other| other.at <= departure.at);
                self.waiting.insert(after, departure);
            }
        }
    }

    /// When the next packet must leave.
    pub(crate) fn poll_timeout(&self) -> Option<Time> {
        if !self.due.is_empty() {
            return Some(Time::ZERO);
        }
        self.waiting.front().map(|departure| departure.at)
    }

    /// Appends received packets to `received`, which is empty. Returns their number.
    pub(crate) fn receive(&mut self, received: &mut Vec<Mbuf>) -> usize {
        let count = self.port.receive(received);
        self.inlet.received += count as u64;
        count
    }

    /// The state of its receive queue.
    pub(crate) fn inlet(&mut self) -> &mut Inlet {
        &mut self.inlet
    }

    /// Hands the device the packets that are due, at most a burst. Returns how many left.
    pub(crate) fn transmit_due(&mut self, clock: &mut Clock, node: &mut impl Node) -> usize {
        let now = clock.now();
        let due = self.waiting.iter().take(BURST - self.due.len());
        let due = due.take_while(|departure| departure.at <= now);
        let copied = due.filter(|departure| departure.packet.payload.is_none()).count();
        if copied > 0 {
            self.pool.alloc_bulk(copied, &mut self.empty);
        }
        while self.due.len() < BURST
            && self.waiting.front().is_some_and(|departure| departure.at <= now)
        {
            let Departure { start, end, at, mut packet, .. } =
                self.waiting.pop_front().expect("looked at above");
            match self.packed(&mut packet) {
                Some(mut mbuf) => {
                    if let Checksums::Left { protocol } = packet.checksums {
                        mbuf.leave_checksum(protocol);
                    }
                    self.packets.push(mbuf);
                    self.due.push_back(Due { start, end, at });
                }
                None => self.without_memory += 1,
            }
            node.recycle(packet);
        }
        if self.due.is_empty() {
            return 0;
        }
        let sent = self.port.transmit(&mut self.packets);
        let after = clock.now();
        self.sent += sent as u64;
        for Due { start, end, at } in self.due.drain(..sent) {
            self.lateness.add(at, after);
            self.rate.add(start, end, after);
        }
        let lost = self.due.iter().take_while(|due| due.at + GIVE_UP < after).count();
        self.due.drain(..lost);
        self.packets.drain(..lost);
        self.not_sent += lost as u64;
        sent
    }

    /// Puts a packet into device memory: headers in front of the payload's mbuf if there is room,
    /// otherwise a full copy.
    fn packed(&mut self, packet: &mut Packet) -> Option<Mbuf> {
        if packet.zeros == 0
            && let Some(payload) = packet.payload.take()
        {
            match Mbuf::with_front(payload, &packet.data) {
                Ok(mbuf) => return Some(mbuf),
                Err(payload) => packet.payload = Some(payload),
            }
        }
        let mut mbuf = self.empty.pop().or_else(|| self.pool.alloc())?;
        let bytes = mbuf.resize(packet.len())?;
        let (data, rest) = bytes.split_at_mut(packet.data.len());
        data.copy_from_slice(&packet.data);
        let (payload, zeros) = rest.split_at_mut(packet.payload().len());
        payload.copy_from_slice(packet.payload());
        zeros.fill(0);
        Some(mbuf)
    }

    pub(crate) fn summary(&self) -> WireSummary {
        let counts = self.port.counts();
        WireSummary {
            name: self.name.clone(),
            device: self.port.device().to_owned(),
            sent: self.sent,
            received: self.inlet.received,
            not_sent: self.not_sent,
            without_memory: self.without_memory + counts.without_memory,
            missed: counts.missed + counts.errors,
            copied: self.inlet.copied,
            arrivals_by: Executor::of(self.offloads().stamps),
            checksums_by: Executor::of(self.offloads().verifies_checksums),
            sent_checksums_by: Executor::of(self.offloads().writes_checksums),
            link_downs: self.link_downs,
            departure_error_us: self.lateness.summary(),
            rate_error: self.rate.summary(),
        }
    }
}
