//! Nanoseconds per ACK with the segment that it lets out, at windows of 10, 1,000 and 30,000
//! packets, without losses and with SACKed holes. Flat over the window is the requirement.
//!
//! `cargo bench -p narrows-hosts`. Sender and receiver are driven directly, no network between:
//! the receiver's share is measured apart and taken off.

use narrows_common::{Duration, Packet, Rng, Time};
use narrows_hosts::config::{FlowConfig, Recording, Settings};
use narrows_hosts::tcp::Connection;
use narrows_hosts::tcp::wire::{self, Emitter};
use narrows_hosts::{Endpoint, Mac, PROFILES, VARIANTS};
use narrows_traffic::{AppConfig, Content, bulk};
use std::collections::VecDeque;
use std::time::Instant;

const MSS: u64 = 1000;

fn settings(variant: &str, window_packets: u64) -> Settings {
    let end = |n, port| Endpoint { ip: [10, 0, 0, n].into(), port };
    let config = FlowConfig {
        id: 1,
        source: end(1, 10_001),
        destination: end(2, 5001),
        start: Time::ZERO,
        variant: variant.to_owned(),
        recovery: "sack".to_owned(),
        profile: PROFILES[2].name.to_owned(),
        segment_bytes: Some(MSS as u32),
        window_bytes: Some(window_packets * MSS),
        initial_window: Some(window_packets as u32),
        sink: None,
        delayed_ack: None,
        sack: None,
        timestamps: None,
        ecn: None,
        min_rto: None,
        nagle: None,
        params: Default::default(),
        app: AppConfig::Bulk(bulk::Config { bytes: None }),
        record: Recording::Off,
    };
    Settings::resolve(&config).expect("a valid flow")
}

struct Bench {
    sender: Connection,
    receiver: Connection,
    now: Time,
    in_flight: VecDeque<Packet>,
    free: Vec<Packet>,
    sender_ns: u128,
    acks: u64,
}

impl Bench {
    fn new(variant: &str, window_packets: u64) -> Self {
        let (mut rng, macs) =
            (Rng::from_seed(1), [Mac([2, 0, 0, 0, 0, 1]), Mac([2, 0, 0, 0, 0, 2])]);
        let ips = [[10, 0, 0, 1].into(), [10, 0, 0, 2].into()];
        let there = Emitter::new((macs[0], macs[1]), (ips[0], ips[1]), (10_001, 5001));
        let back = Emitter::new((macs[1], macs[0]), (ips[1], ips[0]), (5001, 10_001));
        let settings = settings(variant, window_packets);
        let mut bench = Bench {
            sender: Connection::connect(settings.clone(), there, &mut rng),
            receiver: Connection::listen(settings, back, &mut rng),
            now: Time::ZERO,
            in_flight: VecDeque::new(),
            free: Vec::new(),
            sender_ns: 0,
            acks: 0,
        };
        bench.sender.write(Content::Zeros(1 << 50));
        bench.pull();
        // SYN, its answer, and the first window.
        for _ in 0..2 {
            bench.deliver();
        }
        bench
    }

    fn pull(&mut self) {
        loop {
            let mut packet = self.free.pop().unwrap_or_default();
            if !self.sender.poll_transmit(self.now, &mut packet) {
                self.free.push(packet);
                return;
            }
            self.in_flight.push_back(packet);
        }
    }

    /// The oldest packet arrives; what it causes goes back to the sender, timed.
    fn deliver(&mut self) {
        self.now += Duration::from_us(1);
        let packet = self.in_flight.pop_front().expect("a packet in flight");
        self.receiver.handle_segment(self.now, &wire::parse(&packet).expect("our own segment"));
        self.free.push(packet);
        self.receiver.read(u64::MAX, None);
        let mut ack = self.free.pop().unwrap_or_default();
        while self.receiver.poll_transmit(self.now, &mut ack) {
            let started = Instant::now();
            let segment = wire::parse(&ack).expect("our own ACK");
            self.sender.handle_segment(self.now, &segment);
            self.pull();
            self.sender_ns += started.elapsed().as_nanos();
            self.acks += 1;
        }
        self.free.push(ack);
    }

    /// Nanoseconds per ACK over `rounds` packets, one in `lose_every` lost.
    fn run(&mut self, rounds: u64, lose_every: Option<u64>) -> f64 {
        let mut rng = Rng::from_seed(2);
        (self.sender_ns, self.acks) = (0, 0);
        for _ in 0..rounds {
            if lose_every.is_some_and(|every| rng.range(1, every) == 1) && self.in_flight.len() > 1
            {
                let lost = self.in_flight.pop_front().expect("a packet in flight");
                self.free.push(lost);
            }
            if self.in_flight.is_empty() {
                // Everything was lost: the time-out.
                self.now = self.sender.poll_timeout().expect("a timer with data outstanding");
                self.sender.handle_timeout(self.now);
                self.pull();
                continue;
            }
            self.deliver();
        }
        self.sender_ns as f64 / self.acks as f64
    }
}

fn main() {
    // What reading the clock twice costs, to be taken off.
    let clock_ns = {
        let started = Instant::now();
        for _ in 0..100_000 {
            std::hint::black_box(Instant::now().elapsed());
        }
        started.elapsed().as_nanos() as f64 / 100_000.0
    };
    println!("ns per ACK and what it lets out (clock of {clock_ns:.0} ns taken off)");
    println!("first window of a flow with so many of its packets lost; \"none\": 400,000 ACKs");
    println!(
        "{:<14} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "variant", "window", "none", "first", "1%", "half"
    );
    for variant in VARIANTS {
        for window in [10, 1_000, 30_000] {
            let clean = Bench::new(variant.name, window).run(400_000, None) - clock_ns;
            let first = first_window(variant.name, window, None) - clock_ns;
            let one_percent = first_window(variant.name, window, Some(100)) - clock_ns;
            let half = first_window(variant.name, window, Some(2)) - clock_ns;
            println!(
                "{:<14} {window:>8} {clean:>8.0} {first:>8.0} {one_percent:>8.0} {half:>8.0}",
                variant.name
            );
        }
    }
}

/// The mean over the ACKs of the first window, of which the first packet is lost and a share of
/// the others; small windows are repeated.
fn first_window(variant: &str, window: u64, lose_every: Option<u64>) -> f64 {
    let (mut sender_ns, mut acks) = (0, 0);
    for _ in 0..(30_000 / window) {
        let mut bench = Bench::new(variant, window);
        bench.in_flight.pop_front();
        bench.run(window - 1, lose_every);
        sender_ns += bench.sender_ns;
        acks += bench.acks;
    }
    sender_ns as f64 / acks as f64
}
