//! Packets per second that a path receives and sends, with the payload left in its mbuf or copied
//! out and back in. Paths copy when mbufs are short. Each figure is the best of five rounds; the
//! two ways alternate.

#[path = "../tests/rings/mod.rs"]
mod rings;

use std::time::Instant;

use narrows_dpdk::{BURST, Mbuf, Mempool, Port, is_available};
use narrows_engine::real_time::DataPath;

use rings::{Rings, Tunnel, filled};

const PACKETS: usize = 200_000;

/// Packets per second. The node that receives a packet sends it again.
fn measure(path: &mut DataPath, ports: &mut (Port, Port), burst: &mut Vec<Mbuf>) -> f64 {
    let mut node = Tunnel::new(&[], true);
    let (near, far) = ports;
    let begin = Instant::now();
    for _ in 0..PACKETS / BURST {
        near.transmit(burst);
        path.turn(&mut node);
        far.receive(burst);
    }
    assert_eq!(burst.len(), BURST);
    PACKETS as f64 / begin.elapsed().as_secs_f64()
}

/// Allocates mbufs until the pool is short of them.
fn hoard(pool: &Mempool) -> Vec<Mbuf> {
    let mut taken = vec![];
    while !pool.is_short() {
        taken.extend(pool.alloc());
    }
    taken
}

fn main() {
    if !is_available() {
        println!("left out: libdpdk was not there when this was built");
        return;
    }
    let Rings { eal, pool, near, far, wires } = Rings::new();
    let (mut path, mut ports) = (Rings::path(eal, wires.into()), (near, far));
    println!("{:>7} {:>14} {:>14} {:>7}", "bytes", "in place/s", "copied/s", "ratio");
    for bytes in [64, 576, 1500] {
        let mut best = [0.0f64; 2];
        for _ in 0..5 {
            let frames = (0..BURST).map(|_| filled(&pool, &vec![1; bytes]));
            let mut burst: Vec<Mbuf> = frames.collect();
            best[0] = best[0].max(measure(&mut path, &mut ports, &mut burst));
            let hoard = hoard(&pool);
            best[1] = best[1].max(measure(&mut path, &mut ports, &mut burst));
            drop(hoard);
        }
        let [in_place, copied] = best;
        println!("{bytes:>7} {in_place:>14.0} {copied:>14.0} {:>7.2}", in_place / copied);
    }
}
