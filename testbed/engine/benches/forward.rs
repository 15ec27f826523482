//! Packets a second from one DPDK port to another, on one core: through the switch's data path, or
//! by a loop that receives a burst and sends it, as `dpdk-testpmd`'s io mode does.
//!
//! `cargo bench -p narrows-testbed --bench forward -- plain|switch BYTES [hugepages]
//! [NEAR IN OUT FAR]` prints one figure. Packets are put in at the device NEAR, which leads to IN,
//! and taken out at FAR, to which OUT leads; without devices they are pairs of rings. Only the time
//! between is counted, so feeding costs nothing.

#[path = "../../../switch/tests/common/mod.rs"]
mod common;

use std::time::{Duration as Wait, Instant};

use common::{OUT, flow, frame, port, routes};
use narrows_common::Duration;
use narrows_dpdk::{
    AVAILABLE, BURST, Clock, Eal, EalConfig, Idle, IdleKind, Mbuf, Mempool, Offloads, Port,
};
use narrows_switch::{QueueLimit, TimestampUnit};
use narrows_testbed::controlled::{Config, Controlled};
use narrows_testbed::realtime::{Path, SwitchNode, Wire};

const SECONDS: f64 = 0.5;
/// The figure is the median of rates over so long: most are not disturbed by what else runs.
const WINDOW: Duration = Duration::from_us(200);
/// Packets between NEAR and FAR.
const IN_FLIGHT: usize = 4 * BURST;
/// Of the output port: 64 bytes take 5 ns, so packets go through the queue and none waits long.
const RATE_BPS: u64 = 100_000_000_000;
const MBUFS: u32 = 16_383;
const ROOM_BYTES: u32 = 2048;
const LINK_WAIT: Wait = Wait::from_secs(10);

/// What is measured.
enum Forwarder {
    Plain { input: Port, output: Port, burst: Vec<Mbuf> },
    Switch { path: Box<Path>, node: SwitchNode },
}

impl Forwarder {
    fn plain(input: Port, output: Port) -> Self {
        Forwarder::Plain { input, output, burst: Vec::with_capacity(BURST) }
    }

    /// The bottleneck program with its queue, no telemetry, two ports.
    fn switch(eal: Eal, pool: Mempool, input: Port, output: Port) -> Self {
        let config = Config {
            ports: vec![
                port(1, None, QueueLimit::Packets(0)),
                port(OUT, Some(RATE_BPS), QueueLimit::Packets(10_000)),
            ],
            timestamp_unit: TimestampUnit::Ns,
            cpu_port: None,
            flow_field: None,
            record_queue: false,
            engine: narrows_switch::Engine::Native,
            name: "switch".to_owned(),
        };
        let mut switch = config.build(common::BOTTLENECK_JSON, 1).expect("it loads");
        routes(&mut switch);
        flow(&mut switch);
        let mut controlled = Controlled::new(config, 1);
        controlled.install(switch).expect("it has the ports");
        let node =
            SwitchNode::new(Box::new(controlled), &[(1, Duration::ZERO), (OUT, Duration::ZERO)]);
        let wires = [("in", input), ("out", output)]
            .map(|(name, port)| Wire::new(name.to_owned(), port, pool));
        let mut path = Path::new(Clock::start(eal), Idle::new(IdleKind::Poll), wires.into());
        let until = Instant::now() + LINK_WAIT;
        while path.look().is_some() && Instant::now() < until {
            std::thread::sleep(Wait::from_millis(10));
        }
        path.begin(eal, None);
        Forwarder::Switch { path: Box::new(path), node }
    }

    fn turn(&mut self) {
        match self {
            Forwarder::Plain { input, output, burst } => {
                input.receive(burst);
                while !burst.is_empty() && output.transmit(burst) > 0 {}
            }
            Forwarder::Switch { path, node } => {
                path.turn(node);
            }
        }
    }

    fn look(&mut self) {
        if let Forwarder::Plain { input, output, .. } = self {
            input.look();
            output.look();
        }
    }
}

/// Packets a second of the time that the forwarder takes.
fn measure(
    eal: Eal,
    pool: Mempool,
    forwarder: &mut Forwarder,
    ends: &mut [Port; 2],
    bytes: usize,
) -> f64 {
    let [near, far] = ends;
    let until = Instant::now() + LINK_WAIT;
    while !(near.look() & far.look()) && Instant::now() < until {
        forwarder.look();
        std::thread::sleep(Wait::from_millis(10));
    }
    // Without its check sequence.
    let frame = frame(bytes - 4, 1);
    let (mut clock, mut burst) = (Clock::start(eal), Vec::with_capacity(BURST));
    let (mut spent, mut came, mut in_flight) = (Duration::ZERO, 0usize, 0);
    let (mut rates, end) = (vec![], clock.now() + Duration::from_secs_f64(SECONDS));
    while clock.now() < end {
        while in_flight + BURST <= IN_FLIGHT {
            burst.extend((0..BURST).filter_map(|_| pool.alloc()));
            for mbuf in &mut burst {
                mbuf.resize(frame.len()).expect("it fits").copy_from_slice(&frame);
            }
            let sent = near.transmit(&mut burst);
            burst.clear();
            in_flight += sent;
            if sent < BURST {
                break;
            }
        }
        let before = clock.now();
        forwarder.turn();
        spent += clock.now().since(before);
        while far.receive(&mut burst) > 0 {}
        came += burst.len();
        in_flight -= burst.len().min(in_flight);
        burst.clear();
        if spent > WINDOW {
            rates.push(came as f64 / spent.as_secs_f64());
            (spent, came) = (Duration::ZERO, 0);
        }
    }
    rates.sort_by(f64::total_cmp);
    rates[rates.len() / 2]
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|one| one != "--bench").collect();
    let (hugepages, words): (Vec<String>, Vec<String>) =
        arguments.into_iter().partition(|one| one == "hugepages");
    let [kind, bytes, devices @ ..] = words.as_slice() else {
        println!("expected plain or switch, and a frame's bytes");
        return;
    };
    if !AVAILABLE {
        println!("left out: libdpdk was not there when this was built");
        return;
    }
    let config =
        EalConfig { hugepages: !hugepages.is_empty(), memory_mib: 128, ..EalConfig::default() };
    let eal = Eal::start(&config).expect("EAL");
    let pool = Mempool::new(eal, MBUFS, ROOM_BYTES).expect("memory");
    let ports = match devices {
        [] => {
            let [near, input] = Port::pair(eal, pool).expect("rings");
            let [output, far] = Port::pair(eal, pool).expect("rings");
            [near, input, output, far]
        }
        [_, _, _, _] => {
            let none = Offloads::default();
            std::array::from_fn(|n| Port::open(eal, &devices[n], pool, none).expect("a port"))
        }
        _ => panic!("expected four devices: NEAR IN OUT FAR"),
    };
    let [near, input, output, far] = ports;
    let mut forwarder = match kind.as_str() {
        "plain" => Forwarder::plain(input, output),
        _ => Forwarder::switch(eal, pool, input, output),
    };
    let bytes = bytes.parse().expect("a frame's bytes");
    println!("{:.0}", measure(eal, pool, &mut forwarder, &mut [near, far], bytes));
}
