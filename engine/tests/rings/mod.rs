//! A path between two pairs of rings, for tests and for `benches/data_path.rs`.
#![allow(dead_code, reason = "each user takes a part of it")]

use std::collections::VecDeque;

use narrows_common::{Packet, Time};
use narrows_dpdk::{Clock, Eal, EalConfig, Idle, IdleKind, Mbuf, Mempool, Port};
use narrows_engine::real_time::{DataPath, Departure, Node, Wire};

/// Mbufs of a pool.
pub const MBUFS: u32 = 1023;

/// Sends packets of wire 0 out by wire 1 once `let_go` is set, with more bytes in front.
pub struct Tunnel {
    header: Vec<u8>,
    /// Whether waiting packets may leave.
    pub let_go: bool,
    kept: VecDeque<Box<Packet>>,
    spare: Vec<Box<Packet>>,
}

impl Tunnel {
    /// One that puts `header` in front.
    pub fn new(header: &[u8], let_go: bool) -> Tunnel {
        Tunnel { header: header.to_vec(), let_go, kept: VecDeque::new(), spare: vec![] }
    }
}

impl Node for Tunnel {
    fn handle_packet(&mut self, _: Time, wire: usize, mut packet: Box<Packet>) {
        assert_eq!(wire, 0);
        packet.data.splice(0..0, self.header.iter().copied());
        self.kept.push_back(packet);
    }

    fn handle_timeout(&mut self, _: Time) {}

    fn poll_timeout(&self) -> Option<Time> {
        None
    }

    fn poll_transmit(&mut self) -> Option<Departure> {
        let packet = self.let_go.then(|| self.kept.pop_front()).flatten()?;
        Some(Departure { wire: 1, start: Time::ZERO, end: Time::ZERO, at: Time::ZERO, packet })
    }

    fn take_packet(&mut self) -> Box<Packet> {
        self.spare.pop().unwrap_or_default()
    }

    fn recycle(&mut self, mut packet: Box<Packet>) {
        packet.clear();
        self.spare.push(packet);
    }
}

/// A port at the other end of each of two wires, and their memory pool.
pub struct Rings {
    /// DPDK's environment.
    pub eal: Eal,
    /// The pool of all ports.
    pub pool: Mempool,
    /// The peer of wire 0.
    pub near: Port,
    /// The peer of wire 1.
    pub far: Port,
    /// Both wires.
    pub wires: [Wire; 2],
}

impl Rings {
    /// Two pairs of rings.
    pub fn new() -> Rings {
        let eal = Eal::start(&EalConfig::default()).unwrap_or_else(|error| panic!("{error}"));
        let pool = Mempool::new(eal, MBUFS, 2048).unwrap();
        let ([near, first], [second, far]) =
            (Port::pair(eal, pool).unwrap(), Port::pair(eal, pool).unwrap());
        let wires = [("first", first), ("second", second)];
        let wires = wires.map(|(name, port)| Wire::new(name.to_owned(), port, pool));
        Rings { eal, pool, near, far, wires }
    }

    /// A path over these wires, started on this thread.
    pub fn path(eal: Eal, wires: Vec<Wire>) -> DataPath {
        let mut path = DataPath::new(Clock::start(eal), Idle::new(IdleKind::Poll), wires);
        path.begin(eal, None);
        path
    }
}

/// A frame in an mbuf.
pub fn filled(pool: &Mempool, frame: &[u8]) -> Mbuf {
    let mut mbuf = pool.alloc().expect("the pool has one");
    mbuf.resize(frame.len()).expect("it fits").copy_from_slice(frame);
    mbuf
}
