//! Packets per second through two ports, with one worker or with one per port.
//!
//! `cargo bench -p narrows-engine --bench pipelines -- WORKERS BYTES across|oneway|back` prints one
//! figure. With `across` packets leave by the other port, so with two workers each packet crosses
//! from core to core; with `oneway` all of them arrive at the first port. With `back` they leave by
//! the port at which they arrived. Each core feeds and empties the far ends of its ports; only the
//! forwarding time counts.

#[path = "../../switch/tests/common/mod.rs"]
mod common;
mod rates;
#[path = "../tests/switches/mod.rs"]
mod switches;

use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use common::{CLIENT, OUT, SERVER, checksum, flow, frame, port, routes};
use narrows_common::Duration;
use narrows_dpdk::{
    BURST, Clock, Eal, EalConfig, Idle, IdleKind, Mempool, Port, Start, is_available,
};
use narrows_engine::real_time::{DataPath, SwitchNode, Wire, inter_core_rings};
use narrows_queueing::{PortConfig, QueueLimit};
use rates::Rates;
use switches::running;

const SECONDS: f64 = 0.5;
/// Packets in flight, both directions together.
const IN_FLIGHT: usize = 64 * BURST;
const RATE_BPS: u64 = 100_000_000_000;
const MBUFS: u32 = 16_383;
const PORTS: [u16; 2] = [1, OUT];

/// The far end of a port, and the frame that it sends, if it sends.
struct Far {
    port: Port,
    frame: Option<Vec<u8>>,
}

/// A worker: its part of the switch, and the far ends of its ports.
struct Worker {
    path: DataPath,
    node: SwitchNode,
    far: Vec<Far>,
}

/// The bottleneck program with queues on both ports, no telemetry; a pipeline for each worker.
fn workers(eal: Eal, pool: Mempool, count: u16, frames: [Option<Vec<u8>>; 2]) -> Vec<Worker> {
    let ports = PORTS.iter().zip(0..).map(|(&number, index)| PortConfig {
        pipeline: index % count,
        ..port(number, Some(RATE_BPS), QueueLimit::Packets(10_000))
    });
    let made = running(&common::bottleneck_program(), ports.collect(), |switch| {
        routes(switch);
        flow(switch);
    });
    let mut ends: Vec<_> = PORTS.into_iter().zip(frames).collect();
    let clock = Clock::start(eal);
    let mut worker = |(pipeline, rings)| {
        let rest = ends.split_off(PORTS.len() / usize::from(count));
        let ours = core::mem::replace(&mut ends, rest);
        let (mut numbers, mut wires, mut far) = (vec![], vec![], vec![]);
        for (number, frame) in ours {
            let [near, port] = Port::pair(eal, pool).expect("rings");
            numbers.push((number, Duration::ZERO));
            wires.push(Wire::new(format!("port {number}"), near, pool));
            far.push(Far { port, frame });
        }
        let node = SwitchNode::new(Box::new(pipeline), &numbers).with_rings(rings);
        Worker { path: DataPath::new(clock.clone(), Idle::new(IdleKind::Yield), wires), node, far }
    };
    made.into_iter().zip(inter_core_rings(count.into())).map(&mut worker).collect()
}

/// The same frame on its way back.
fn to_client(mut frame: Vec<u8>) -> Vec<u8> {
    frame[26..30].copy_from_slice(&SERVER);
    frame[30..34].copy_from_slice(&CLIENT);
    frame[24..26].fill(0);
    let sum = checksum(&frame[14..34]);
    frame[24..26].copy_from_slice(&sum.to_be_bytes());
    frame
}

impl Worker {
    /// Packets that leave by its ports per second of time that its turns take.
    fn measure(&mut self, eal: Eal, pool: Mempool, in_flight: &AtomicUsize) -> f64 {
        let (mut clock, mut burst) = (Clock::start(eal), Vec::with_capacity(BURST));
        let mut rates = Rates::default();
        let end = clock.now() + Duration::from_secs_f64(SECONDS);
        while clock.now() < end {
            for far in &mut self.far {
                let Some(frame) = &far.frame else { continue };
                if in_flight.load(Ordering::Relaxed) + BURST <= IN_FLIGHT {
                    burst.extend((0..BURST).filter_map(|_| pool.alloc()));
                    for mbuf in &mut burst {
                        let bytes = mbuf.resize(frame.len()).expect("it fits");
                        bytes.copy_from_slice(frame);
                    }
                    in_flight.fetch_add(far.port.transmit(&mut burst), Ordering::Relaxed);
                    burst.clear();
                }
            }
            let before = clock.now();
            self.path.turn(&mut self.node);
            let spent = clock.now().since(before);
            for far in &mut self.far {
                while far.port.receive(&mut burst) > 0 {}
            }
            in_flight.fetch_sub(burst.len(), Ordering::Relaxed);
            rates.add(spent, burst.len());
            burst.clear();
        }
        rates.median()
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|one| one != "--bench").collect();
    let [count, bytes, way] = arguments.as_slice() else {
        println!("expected 1 or 2 workers, a frame's bytes, and across, oneway or back");
        return;
    };
    if !is_available() {
        println!("left out: libdpdk was not there when this was built");
        return;
    }
    let eal = Eal::start(&EalConfig { memory_mib: 128, ..EalConfig::default() }).expect("EAL");
    let pool = Mempool::new(eal, MBUFS, 2048).expect("memory");
    // The frame check sequence is not part of the mbuf.
    let bytes = bytes.parse::<usize>().expect("bytes") - 4;
    // Packets for the server leave by the second port.
    let mut frames = [Some(frame(bytes, 1)), Some(to_client(frame(bytes, 1)))];
    match way.as_str() {
        "back" => frames.reverse(),
        "oneway" => frames[1] = None,
        _ => (),
    }
    let workers = workers(eal, pool, count.parse().expect("1 or 2"), frames);
    let (in_flight, all_here) = (AtomicUsize::new(0), Barrier::new(workers.len()));
    let mut clock = Clock::start(eal);
    let start = Start { at_ns: clock.restart(), rate: clock.rate() };
    let rate: f64 = thread::scope(|scope| {
        let run = |mut worker: Worker| {
            let (in_flight, all_here) = (&in_flight, &all_here);
            scope.spawn(move || {
                worker.path.begin(eal, Some(start));
                all_here.wait();
                worker.measure(eal, pool, in_flight)
            })
        };
        let threads: Vec<_> = workers.into_iter().map(run).collect();
        threads.into_iter().map(|thread| thread.join().expect("it ends")).sum()
    });
    println!("{rate:.0}");
}
