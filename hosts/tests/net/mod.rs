//! A test network: two hosts, an event loop, and a path that delays, limits, loses, reorders,
//! duplicates and damages packets, all from one seed.
#![allow(dead_code)] // each test binary uses its part

use core::cmp::Reverse;
use narrows_common::{Bytes, Duration, LengthBasis, Packet, Rate, Rng, Serializer, Time};
use narrows_hosts::{Endpoint, FlowConfig, Host, HostConfig, Mac, Recording};
use narrows_queueing::{Link, LinkConfig};
use narrows_traffic::AppConfig;
use narrows_traffic::workloads::bulk;
use std::collections::BinaryHeap;

/// The path's effects on each packet, in both directions.
#[derive(Clone, Debug)]
pub struct Path {
    pub rate_bps: u64,
    pub delay: Duration,
    /// The most queued packets; DropTail beyond that.
    pub queue_packets: usize,
    /// A packet that arrives just as another leaves the queue still finds it there.
    pub arrivals_first: bool,
    pub loss: f64,
    pub duplication: f64,
    pub corruption: f64,
    /// Probability of an extra delay of up to 4 packets' time.
    pub reordering: f64,
}

impl Path {
    pub fn clean(rate_bps: u64, delay: Duration) -> Self {
        Path {
            rate_bps,
            delay,
            queue_packets: usize::MAX,
            arrivals_first: false,
            loss: 0.0,
            duplication: 0.0,
            corruption: 0.0,
            reordering: 0.0,
        }
    }
}

/// A packet in flight.
#[derive(Debug, PartialEq, Eq)]
struct Flight {
    at: Time,
    order: u64,
    to: usize,
    packet: Packet,
}

impl Ord for Flight {
    fn cmp(&self, other: &Self) -> core::cmp::Ordering {
        (self.at, self.order).cmp(&(other.at, other.order))
    }
}
impl PartialOrd for Flight {
    fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// One direction of the path.
struct Lane {
    serializer: Serializer,
    waiting: Vec<Time>,
}

/// Decides, by direction and packet number, whether to drop a packet.
pub type Dropper = dyn FnMut(usize, u64, &Packet) -> bool;

/// The node at an end of the path.
pub trait Node {
    fn handle_packet(&mut self, now: Time, packet: &Packet);
    fn handle_timeout(&mut self, now: Time);
    fn poll_transmit(&mut self, now: Time, packet: &mut Packet) -> bool;
    fn poll_timeout(&self) -> Option<Time>;
}

impl Node for Host {
    fn handle_packet(&mut self, now: Time, packet: &Packet) {
        self.handle_packet(now, packet);
    }
    fn handle_timeout(&mut self, now: Time) {
        self.handle_timeout(now);
    }
    fn poll_transmit(&mut self, now: Time, packet: &mut Packet) -> bool {
        self.poll_transmit(now, packet)
    }
    fn poll_timeout(&self) -> Option<Time> {
        self.poll_timeout()
    }
}

/// Two nodes and the path between them.
pub struct Net<N = Host> {
    pub hosts: [N; 2],
    pub now: Time,
    path: Path,
    lanes: [Lane; 2],
    in_flight: BinaryHeap<Reverse<Flight>>,
    order: u64,
    rng: Rng,
    pub sent_packets: [u64; 2],
    /// Drops chosen packets.
    pub dropper: Box<Dropper>,
    pub drops: u64,
    /// Marks chosen packets as congestion experienced.
    pub marker: Box<Dropper>,
    /// A separate link between the first node and the path.
    pub access: Option<Link>,
}

pub fn host_config(n: u8) -> HostConfig {
    HostConfig {
        name: format!("h{n}"),
        mac: Mac([2, 0, 0, 0, 0, n]),
        ip: [10, 0, 0, n].into(),
        gateway_mac: Mac([2, 0, 0, 0, 0, 3 - n]),
        access: LinkConfig {
            rate_bps: 1,
            delay: Duration::ZERO,
            jitter: Duration::ZERO,
            queue_packets: None,
            counts: LengthBasis::Ip,
        },
        reconstructs_acks: None,
        leaves_checksums: false,
    }
}

pub fn flow(
    id: u32,
    variant: &str,
    recovery: &str,
    profile: &str,
    bytes: Option<u64>,
) -> FlowConfig {
    FlowConfig {
        id,
        source: Endpoint { ip: [10, 0, 0, 1].into(), port: 10_000 + id as u16 },
        destination: Endpoint { ip: [10, 0, 0, 2].into(), port: 5001 },
        start: Time::ZERO,
        variant: variant.to_owned(),
        recovery: recovery.to_owned(),
        profile: profile.to_owned(),
        segment_bytes: None,
        window_bytes: None,
        send_buffer_bytes: None,
        initial_window: None,
        sink: None,
        initial_ssthresh: None,
        delayed_ack: None,
        sack: None,
        timestamps: None,
        ecn: None,
        keep_alive: None,
        user_timeout: None,
        min_rto: None,
        nagle: None,
        data_on_syn: None,
        ttl: None,
        dscp: None,
        max_burst: None,
        params: Default::default(),
        app: AppConfig::from(bulk::Config::of_bytes(bytes)),
        record: Recording::Off,
    }
}

impl Net<Host> {
    /// Two hosts without flows.
    pub fn new(path: Path, seed: u64) -> Self {
        let host = |n| Host::new(&host_config(n), Rng::for_component(seed, &format!("h{n}")));
        Net::between([host(1), host(2)], path, seed)
    }

    pub fn open(&mut self, flow: &FlowConfig) {
        self.hosts[0].open_flow(flow).unwrap();
        self.hosts[1].listen(flow).unwrap();
    }

    pub fn is_complete(&self) -> bool {
        self.hosts.iter().all(Host::is_complete)
    }
}

impl<N: Node> Net<N> {
    pub fn between(hosts: [N; 2], path: Path, seed: u64) -> Self {
        let lane = || Lane {
            serializer: Serializer::new(Rate::from_bps(path.rate_bps)),
            waiting: Vec::new(),
        };
        Net {
            hosts,
            now: Time::ZERO,
            lanes: [lane(), lane()],
            path,
            in_flight: BinaryHeap::new(),
            order: 0,
            rng: Rng::for_component(seed, "net"),
            sent_packets: [0; 2],
            dropper: Box::new(|_, _, _| false),
            drops: 0,
            marker: Box::new(|_, _, _| false),
            access: None,
        }
    }

    /// Sets the path's rate from now on.
    pub fn set_rate(&mut self, rate_bps: u64) {
        for lane in &mut self.lanes {
            lane.serializer.set_rate(Rate::from_bps(rate_bps));
        }
    }

    /// Sends a node's packets; the loop calls it after each of the node's inputs.
    pub fn transmit(&mut self, from: usize) {
        let mut packet = Packet::default();
        while self.hosts[from].poll_transmit(self.now, &mut packet) {
            self.carry(from, packet.clone());
        }
    }

    fn carry(&mut self, from: usize, mut packet: Packet) {
        let number = self.sent_packets[from];
        self.sent_packets[from] += 1;
        // With one sender and FIFO order, the second queue needs no event either.
        let at_path = match &mut self.access {
            Some(access) if from == 0 => {
                access.handle_up(self.now, packet.len()).expect("no limit")
            }
            _ => self.now,
        };
        let lane = &mut self.lanes[from];
        let is_first = self.path.arrivals_first;
        lane.waiting.retain(|&start| start > at_path || (is_first && start == at_path));
        let is_full = lane.waiting.len() >= self.path.queue_packets;
        if is_full || (self.dropper)(from, number, &packet) || self.rng.chance(self.path.loss) {
            self.drops += 1;
            return;
        }
        if (self.marker)(from, number, &packet) {
            mark(&mut packet);
        }
        if self.rng.chance(self.path.corruption) {
            let bit = self.rng.range(0, packet.data.len() as u64 * 8 - 1) as usize;
            packet.data[bit / 8] ^= 1 << (bit % 8);
        }
        let bits = Bytes::new(packet.len() as u64 - 14).bits();
        let (start, end) = lane.serializer.send(at_path, bits);
        if start > at_path {
            lane.waiting.push(start);
        }
        let copies = 1 + u64::from(self.rng.chance(self.path.duplication));
        for _ in 0..copies {
            let extra = if self.rng.chance(self.path.reordering) {
                end.since(start).saturating_mul(self.rng.range(0, 4))
            } else {
                Duration::ZERO
            };
            let mut at = end + self.path.delay + extra;
            if let (Some(access), 1) = (&mut self.access, from) {
                at = access.handle_down(at, packet.len()).expect("no limit");
            }
            self.order += 1;
            self.in_flight.push(Reverse(Flight {
                at,
                order: self.order,
                to: 1 - from,
                packet: packet.clone(),
            }));
        }
    }

    /// Runs until `end`, or until no event remains; false in the latter case.
    pub fn run_until(&mut self, end: Time) -> bool {
        self.run_while(end, |_| true)
    }

    /// Runs until `end`, until `goes_on` returns false, or until no event remains; false in the
    /// last case.
    pub fn run_while(&mut self, end: Time, mut goes_on: impl FnMut(&mut Self) -> bool) -> bool {
        for _ in 0..3_000_000 {
            let arrival = self.in_flight.peek().map(|Reverse(flight)| flight.at);
            let timers = [0, 1].map(|n| self.hosts[n].poll_timeout());
            let next = [arrival, timers[0], timers[1]].into_iter().flatten().min();
            let Some(next) = next else { return false };
            if next > end {
                self.now = end;
                return true;
            }
            assert!(next >= self.now, "time goes back from {:?} to {next:?}", self.now);
            self.now = next;
            if arrival == Some(next) {
                let Reverse(flight) = self.in_flight.pop().unwrap();
                self.hosts[flight.to].handle_packet(next, &flight.packet);
                self.transmit(flight.to);
            } else {
                for n in [0, 1] {
                    if timers[n] == Some(next) {
                        self.hosts[n].handle_timeout(next);
                        self.transmit(n);
                    }
                }
            }
            if !goes_on(self) {
                return true;
            }
        }
        panic!("too many events by {:?}: nothing ends", self.now);
    }
}

/// Sets CE in the IPv4 header, and updates its checksum (RFC 1624 equation 3).
fn mark(packet: &mut Packet) {
    let word = |bytes: &[u8]| u32::from(u16::from_be_bytes([bytes[0], bytes[1]]));
    let before = word(&packet.data[14..]);
    packet.data[15] |= 3;
    let sum = (!word(&packet.data[24..]) & 0xffff) + (!before & 0xffff) + word(&packet.data[14..]);
    let folded = (sum & 0xffff) + (sum >> 16);
    let checksum = !(((folded & 0xffff) + (folded >> 16)) as u16);
    packet.data[24..26].copy_from_slice(&checksum.to_be_bytes());
}

pub fn secs(s: f64) -> Time {
    Time::ZERO + Duration::from_secs_f64(s)
}
