//! The memory and order of packets on a data path. Requires libdpdk, but no privileges.

use narrows_dpdk::{Mbuf, Mempool, Port};
use narrows_engine::real_time::DataPath;

use crate::rings::{MBUFS, Rings, Tunnel, filled};

const HEADER: [u8; 8] = [9; 8];

/// A path on this thread, and a node that keeps packets until they are requested.
struct Network {
    pool: Mempool,
    path: DataPath,
    node: Tunnel,
    near: Port,
    far: Port,
}

impl Network {
    fn new() -> Network {
        let Rings { eal, pool, near, far, wires } = Rings::new();
        let node = Tunnel::new(&HEADER, false);
        Network { pool, path: Rings::path(eal, wires.into()), node, near, far }
    }

    /// Sends a frame; returns the address of its bytes.
    fn send(&mut self, frame: &[u8]) -> *const u8 {
        let mbuf = filled(&self.pool, frame);
        let at = mbuf.data().as_ptr();
        assert_eq!(self.near.transmit(&mut vec![mbuf]), 1);
        self.path.turn(&mut self.node);
        at
    }

    fn received(&mut self) -> Vec<Mbuf> {
        let (mut received, mut before) = (vec![], usize::MAX);
        self.node.let_go = true;
        while before != received.len() {
            before = received.len();
            self.path.turn(&mut self.node);
            while self.far.receive(&mut received) > 0 {}
        }
        self.node.let_go = false;
        received
    }
}

fn frame(length: usize, first: u8) -> Vec<u8> {
    (0..length).map(|at| first.wrapping_add(at as u8)).collect()
}

#[test]
#[cfg_attr(not(has_dpdk), ignore = "needs libdpdk")]
fn a_payload_leaves_from_its_mbuf_behind_a_new_header() {
    let mut network = Network::new();
    for length in [60, 256, 257, 1514] {
        let came_to = network.send(&frame(length, 1));
        let [left] = &network.received()[..] else { panic!("one frame of {length} bytes") };
        assert_eq!(left.data(), [&HEADER[..], &frame(length, 1)].concat());
        let stayed = left.data()[8..].as_ptr() == came_to;
        assert_eq!(stayed, length > 256, "{length} bytes");
    }
    let wires = network.path.instrument().wires;
    assert_eq!((wires[0].received, wires[1].sent, wires[0].copied), (4, 4, 0));
    assert_eq!(network.pool.available(), MBUFS);
}

/// Queues more packets than there are mbufs. A quarter of the mbufs stays for the ports, plus up to
/// 384 in this thread's cache.
#[test]
#[cfg_attr(not(has_dpdk), ignore = "needs libdpdk")]
fn a_queue_longer_than_the_pool_copies_and_loses_nothing() {
    let mut network = Network::new();
    for number in 0..2000 {
        network.send(&frame(1000, number as u8));
    }
    network.node.let_go = true;
    let (mut left, mut burst) = (0, vec![]);
    for _ in 0..1000 {
        network.path.turn(&mut network.node);
        network.far.receive(&mut burst);
        for mbuf in burst.drain(..) {
            assert_eq!(mbuf.data()[8..], frame(1000, left as u8));
            left += 1;
        }
    }
    let wires = network.path.instrument().wires;
    assert_eq!((left, wires[1].without_memory, wires[1].not_sent), (2000, 0, 0));
    assert!((2000 - 768..=2000 - 384).contains(&wires[0].copied), "{:?}", wires[0]);
    assert_eq!(network.pool.available(), MBUFS);
}

/// Packets that find the pool empty are counted, and later packets pass.
#[test]
#[cfg_attr(not(has_dpdk), ignore = "needs libdpdk")]
fn an_exhausted_pool_is_counted_and_got_over() {
    let mut network = Network::new();
    network.send(&frame(60, 1));
    let hoard: Vec<Mbuf> = std::iter::from_fn(|| network.pool.alloc()).collect();
    assert_eq!((hoard.len(), network.received().len()), (MBUFS as usize, 0));
    assert_eq!(network.path.instrument().wires[1].without_memory, 1);
    drop(hoard);
    network.send(&frame(60, 2));
    assert_eq!(network.received().len(), 1);
}
