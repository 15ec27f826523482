//! Packets per second from one DPDK port to another on one core: through the switch's data path, or
//! by a loop that receives a burst and sends it, as `dpdk-testpmd`'s io mode does.
//!
//! `cargo bench -p narrows-engine --bench forward -- plain|switch BYTES [hugepages] [NEAR IN OUT
//! FAR]` prints one figure. The benchmark sends packets into device NEAR, which is connected to IN,
//! and receives them at FAR, which is connected to OUT. Without devices it uses pairs of rings.
//! Only the forwarding time counts, so feeding the ports costs nothing.
//!
//! `-- feed BYTES NEAR FAR` feeds another process that way for two seconds, as fast as it can, and
//! prints the packets per second that returned.

#[path = "../../switch/tests/common/mod.rs"]
mod common;
mod rates;
#[path = "../tests/switches/mod.rs"]
mod switches;

use std::time::{Duration as Wait, Instant};

use common::{OUT, flow, frame, port, routes};
use narrows_common::Duration;
use narrows_dpdk::{
    BURST, Clock, Eal, EalConfig, Idle, IdleKind, Mbuf, Mempool, Offloads, Port, is_available,
};
use narrows_engine::real_time::{DataPath, SwitchNode, Wire};
use narrows_queueing::QueueLimit;
use rates::Rates;
use switches::running;

const SECONDS: f64 = 0.5;
/// Packets in flight between NEAR and FAR.
const IN_FLIGHT: usize = 4 * BURST;
/// Rate of the output port. 64 bytes take 5 ns, so packets pass through the queue without waiting
/// long.
const RATE_BPS: u64 = 100_000_000_000;
const MBUFS: u32 = 16_383;
const ROOM_BYTES: u32 = 2048;
const LINK_WAIT: Wait = Wait::from_secs(10);
const FEEDING: Wait = Wait::from_secs(2);

/// The forwarder under test.
enum Forwarder {
    Plain { input: Port, output: Port, burst: Vec<Mbuf> },
    Switch { path: Box<DataPath>, node: SwitchNode },
}

impl Forwarder {
    fn new(kind: &str, eal: Eal, pool: Mempool, input: Port, output: Port) -> Self {
        match kind {
            "plain" => Self::plain(input, output),
            _ => Self::switch(eal, pool, input, output),
        }
    }

    fn plain(input: Port, output: Port) -> Self {
        Forwarder::Plain { input, output, burst: Vec::with_capacity(BURST) }
    }

    /// The bottleneck program with its queue, no telemetry, two ports.
    fn switch(eal: Eal, pool: Mempool, input: Port, output: Port) -> Self {
        let ports = vec![
            port(1, None, QueueLimit::Packets(0)),
            port(OUT, Some(RATE_BPS), QueueLimit::Packets(10_000)),
        ];
        let mut made = running(&common::bottleneck_program(), ports, |switch| {
            routes(switch);
            flow(switch);
        });
        let whole = Box::new(made.remove(0));
        let node = SwitchNode::new(whole, &[(1, Duration::ZERO), (OUT, Duration::ZERO)]);
        let wires = [("in", input), ("out", output)]
            .map(|(name, port)| Wire::new(name.to_owned(), port, pool));
        let mut path = DataPath::new(Clock::start(eal), Idle::new(IdleKind::Poll), wires.into());
        let until = Instant::now() + LINK_WAIT;
        while path.check_links().is_some() && Instant::now() < until {
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

/// The devices at which the benchmark sends and receives.
struct Ends {
    near: Port,
    far: Port,
    pool: Mempool,
    frame: Vec<u8>,
    burst: Vec<Mbuf>,
}

impl Ends {
    fn new(near: Port, far: Port, pool: Mempool, bytes: usize) -> Self {
        // The frame check sequence is not part of the mbuf.
        let frame = frame(bytes - 4, 1);
        Ends { near, far, pool, frame, burst: Vec::with_capacity(BURST) }
    }

    /// Waits until both links are up, for at most the time that a link may take.
    fn come_up(&mut self, mut meanwhile: impl FnMut()) {
        let until = Instant::now() + LINK_WAIT;
        while !(self.near.look() & self.far.look()) && Instant::now() < until {
            meanwhile();
            std::thread::sleep(Wait::from_millis(10));
        }
    }

    /// Sends a burst; returns how many packets the device took.
    fn feed(&mut self) -> usize {
        self.burst.extend((0..BURST).filter_map(|_| self.pool.alloc()));
        for mbuf in &mut self.burst {
            mbuf.resize(self.frame.len()).expect("it fits").copy_from_slice(&self.frame);
        }
        let sent = self.near.transmit(&mut self.burst);
        self.burst.clear();
        sent
    }

    /// Receives what has arrived; returns how many packets.
    fn drain(&mut self) -> usize {
        while self.far.receive(&mut self.burst) > 0 {}
        let came = self.burst.len();
        self.burst.clear();
        came
    }
}

/// Packets per second that another process forwards.
fn feed(ends: &mut Ends) -> f64 {
    ends.come_up(|| ());
    let (mut came, began) = (0, Instant::now());
    while began.elapsed() < FEEDING {
        ends.feed();
        came += ends.drain();
    }
    came as f64 / began.elapsed().as_secs_f64()
}

/// Packets per second of forwarding time.
fn measure(eal: Eal, forwarder: &mut Forwarder, ends: &mut Ends) -> f64 {
    ends.come_up(|| forwarder.look());
    let mut clock = Clock::start(eal);
    let (mut rates, mut in_flight) = (Rates::default(), 0);
    let end = clock.now() + Duration::from_secs_f64(SECONDS);
    while clock.now() < end {
        while in_flight + BURST <= IN_FLIGHT {
            let sent = ends.feed();
            in_flight += sent;
            if sent < BURST {
                break;
            }
        }
        let before = clock.now();
        forwarder.turn();
        let spent = clock.now().since(before);
        let drained = ends.drain();
        rates.add(spent, drained);
        in_flight -= drained.min(in_flight);
    }
    rates.median()
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|one| one != "--bench").collect();
    let (hugepages, words): (Vec<String>, Vec<String>) =
        arguments.into_iter().partition(|one| one == "hugepages");
    let [kind, bytes, devices @ ..] = words.as_slice() else {
        println!("expected plain, switch or feed, and a frame's bytes");
        return;
    };
    if !is_available() {
        println!("left out: libdpdk was not there when this was built");
        return;
    }
    let config =
        EalConfig { hugepages: !hugepages.is_empty(), memory_mib: 128, ..EalConfig::default() };
    let eal = Eal::start(&config).expect("EAL");
    let pool = Mempool::new(eal, MBUFS, ROOM_BYTES).expect("memory");
    let bytes = bytes.parse().expect("a frame's bytes");
    let open =
        |device: &String| Port::open(eal, device, pool, Offloads::default()).expect("a port");
    let (mut forwarder, mut ends) = match (kind.as_str(), devices) {
        ("feed", [near, far]) => {
            let mut ends = Ends::new(open(near), open(far), pool, bytes);
            return println!("{:.0}", feed(&mut ends));
        }
        (kind, []) => {
            let [near, input] = Port::pair(eal, pool).expect("rings");
            let [output, far] = Port::pair(eal, pool).expect("rings");
            let forwarder = Forwarder::new(kind, eal, pool, input, output);
            (forwarder, Ends::new(near, far, pool, bytes))
        }
        (kind, [near, input, output, far]) => {
            let [near, input, output, far] = [near, input, output, far].map(open);
            let forwarder = Forwarder::new(kind, eal, pool, input, output);
            (forwarder, Ends::new(near, far, pool, bytes))
        }
        _ => panic!("expected four devices, NEAR IN OUT FAR, or two to feed, NEAR FAR"),
    };
    println!("{:.0}", measure(eal, &mut forwarder, &mut ends));
}
