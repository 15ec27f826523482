//! The cost of a connection: nanoseconds per ACK received and per data segment sent, for each
//! variant, at windows of 10, 1,000 and 30,000 packets. Also per ACK for each recovery with packet
//! loss, per report and datagram of TFRC, and bytes per idle and per busy connection. The cost must
//! not grow with the window.
//!
//! `cargo bench -p narrows-hosts --bench ack`, with `-- --json` for one JSON document. The
//! benchmark drives sender and receiver directly, without a network. It times the sender only, and
//! subtracts the cost of reading the clock. Other processes take the processor from time to time,
//! so the figure is the median of the means of each thousand ACKs; for lossy windows, the minimum
//! of three runs. Memory is the growth of the process (Linux's /proc/self/statm).

use narrows_common::{Duration, Packet, Rng, Time};
use narrows_hosts::config::{FlowConfig, Recording, Settings};
use narrows_hosts::tcp::Connection;
use narrows_hosts::wire::segment::{self, Emitter};
use narrows_hosts::wire::{datagram, ip_packet};
use narrows_hosts::{Endpoint, Mac, RECOVERIES, VARIANTS, udp};
use narrows_traffic::workloads::bulk;
use narrows_traffic::{AppConfig, Content};
use serde_json::{Map, Value, json};
use std::collections::VecDeque;
use std::time::Instant;

const MSS: u64 = 1000;
const WINDOWS: [u64; 3] = [10, 1_000, 30_000];
const ACKS: u64 = 200_000;
/// ACKs per mean.
const BATCH: u64 = 1_000;
const LOSSY_RUNS: u32 = 3;
const PAGE_BYTES: u64 = 4096;

fn config(variant: &str, recovery: &str, window_packets: u64) -> FlowConfig {
    let end = |n, port| Endpoint { ip: [10, 0, 0, n].into(), port };
    FlowConfig {
        id: 1,
        source: end(1, 10_001),
        destination: end(2, 5001),
        start: Time::ZERO,
        variant: variant.to_owned(),
        recovery: recovery.to_owned(),
        profile: "linux".to_owned(),
        segment_bytes: Some(MSS as u32),
        window_bytes: Some(window_packets * MSS),
        initial_window: Some(window_packets as u32),
        send_buffer_bytes: None,
        sink: None,
        initial_ssthresh: None,
        delayed_ack: Some(false),
        sack: Some(true),
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
        app: AppConfig::from(bulk::Config::of_bytes(None)),
        record: Recording::Off,
    }
}

struct Bench {
    sender: Connection,
    receiver: Connection,
    now: Time,
    in_flight: VecDeque<Packet>,
    free: Vec<Packet>,
    spent: Spent,
    /// The value of `spent` at the start of the current batch.
    before: Spent,
    /// The means of the finished batches.
    batches: Vec<Cost>,
}

/// Time spent on ACKs and segments, including the clock's cost.
#[derive(Clone, Copy, Default)]
struct Spent {
    ack_ns: u128,
    acks: u64,
    segment_ns: u128,
    segments: u64,
}

/// Nanoseconds per ACK and per segment.
#[derive(Clone, Copy)]
struct Cost {
    ack_ns: f64,
    segment_ns: f64,
}

impl Bench {
    fn new(variant: &str, recovery: &str, window_packets: u64) -> Self {
        let (mut rng, macs) =
            (Rng::from_seed(1), [Mac([2, 0, 0, 0, 0, 1]), Mac([2, 0, 0, 0, 0, 2])]);
        let ips = [[10, 0, 0, 1].into(), [10, 0, 0, 2].into()];
        let there = Emitter::new((macs[0], macs[1]), (ips[0], ips[1]), (10_001, 5001));
        let back = Emitter::new((macs[1], macs[0]), (ips[1], ips[0]), (5001, 10_001));
        let config = config(variant, recovery, window_packets);
        let settings = Settings::resolve(&config).expect("a valid flow");
        let mut bench = Bench {
            sender: Connection::connect(settings.clone(), there, &mut rng),
            receiver: Connection::listen(settings, back, &mut rng),
            now: Time::ZERO,
            in_flight: VecDeque::new(),
            free: Vec::new(),
            spent: Spent::default(),
            before: Spent::default(),
            batches: Vec::new(),
        };
        bench.pull();
        // The SYN and its answer.
        bench.deliver();
        bench
    }

    /// Like `new`, with a window in flight.
    fn busy(variant: &str, recovery: &str, window_packets: u64) -> Self {
        let mut bench = Bench::new(variant, recovery, window_packets);
        bench.sender.write(Content::Zeros(1 << 50));
        bench.pull();
        bench
    }

    fn pull(&mut self) {
        loop {
            let mut packet = self.free.pop().unwrap_or_default();
            let started = Instant::now();
            let sends = self.sender.poll_transmit(self.now, &mut packet);
            if !sends {
                self.free.push(packet);
                return;
            }
            self.spent.segment_ns += started.elapsed().as_nanos();
            self.spent.segments += 1;
            self.in_flight.push_back(packet);
        }
    }

    /// Delivers the oldest packet, and times its effect on the sender.
    fn deliver(&mut self) {
        self.now += Duration::from_us(1);
        let packet = self.in_flight.pop_front().expect("a packet in flight");
        self.receiver.handle_segment(self.now, &segment::parse(&packet).expect("our own segment"));
        self.free.push(packet);
        self.receiver.read(u64::MAX, None);
        let mut ack = self.free.pop().unwrap_or_default();
        while self.receiver.poll_transmit(self.now, &mut ack) {
            let started = Instant::now();
            let segment = segment::parse(&ack).expect("our own ACK");
            self.sender.handle_segment(self.now, &segment);
            self.spent.ack_ns += started.elapsed().as_nanos();
            self.spent.acks += 1;
            self.pull();
            if self.spent.acks == self.before.acks + BATCH {
                self.end_batch();
            }
        }
        self.free.push(ack);
    }

    /// Delivers `packets`; drops one in `lose_every`.
    fn run(&mut self, packets: u64, lose_every: Option<u64>) {
        let mut rng = Rng::from_seed(2);
        (self.spent, self.before) = Default::default();
        self.batches.clear();
        for _ in 0..packets {
            if lose_every.is_some_and(|every| rng.range(1, every) == 1) && self.in_flight.len() > 1
            {
                let lost = self.in_flight.pop_front().expect("a packet in flight");
                self.free.push(lost);
            }
            if self.in_flight.is_empty() {
                // Everything was lost, or pacing waits.
                self.now = self.sender.poll_timeout().expect("a timer with data outstanding");
                self.sender.handle_timeout(self.now);
                self.pull();
                continue;
            }
            self.deliver();
        }
    }

    /// Records the means since the last batch, and starts a new batch.
    fn end_batch(&mut self) {
        let per = |ns: u128, count: u64| ns as f64 / count.max(1) as f64;
        let (now, before) = (self.spent, self.before);
        self.batches.push(Cost {
            ack_ns: per(now.ack_ns - before.ack_ns, now.acks - before.acks),
            segment_ns: per(now.segment_ns - before.segment_ns, now.segments - before.segments),
        });
        self.before = now;
    }

    fn cost(&self, clock_ns: f64) -> Cost {
        let middle = |figure: fn(&Cost) -> f64| {
            (median(self.batches.iter().map(figure).collect()) - clock_ns).max(0.0)
        };
        Cost { ack_ns: middle(|cost| cost.ack_ns), segment_ns: middle(|cost| cost.segment_ns) }
    }
}

/// The mean over the ACKs of the first window, which loses its first packet and a share of the
/// others. Small windows are repeated.
fn first_window(recovery: &str, window: u64, lose_every: Option<u64>, clock_ns: f64) -> f64 {
    let run = || {
        let (mut ns, mut acks) = (0, 0);
        for _ in 0..(30_000 / window) {
            let mut bench = Bench::busy("reno", recovery, window);
            bench.in_flight.pop_front();
            bench.run(window - 1, lose_every);
            // Include the segments that the ACK makes the sender retransmit.
            ns += bench.spent.ack_ns + bench.spent.segment_ns;
            acks += bench.spent.acks;
        }
        ns as f64 / acks as f64 - clock_ns
    };
    (0..LOSSY_RUNS).map(|_| run()).fold(f64::INFINITY, f64::min)
}

/// The cost of reading the clock twice.
fn clock_ns() -> f64 {
    let batch = |_| {
        let started = Instant::now();
        for _ in 0..BATCH {
            std::hint::black_box(Instant::now().elapsed());
        }
        started.elapsed().as_nanos() as f64 / BATCH as f64
    };
    median((0..ACKS / BATCH).map(batch).collect())
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_unstable_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// The resident bytes of the process; `None` without /proc.
fn resident_bytes() -> Option<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    statm.split(' ').nth(1)?.parse::<u64>().ok().map(|pages| pages * PAGE_BYTES)
}

/// The bytes that each of `count` pairs of connections adds, both ends.
fn pair_bytes(count: u64, make: impl Fn() -> Bench) -> Option<u64> {
    drop(make());
    let before = resident_bytes()?;
    // Packets belong to the network.
    let pair = |Bench { sender, receiver, .. }| (sender, receiver);
    let kept: Vec<_> = (0..count).map(|_| pair(make())).collect();
    let after = resident_bytes()?;
    drop(kept);
    Some(after.saturating_sub(before) / count)
}

fn variants(clock_ns: f64) -> Map<String, Value> {
    let one = |name: &str| {
        let costs = WINDOWS.iter().map(|&window| {
            let mut bench = Bench::busy(name, "linux", window);
            bench.run(ACKS, None);
            let Cost { ack_ns, segment_ns } = bench.cost(clock_ns);
            (
                window.to_string(),
                json!({"ack_ns": ack_ns.round(), "segment_ns": segment_ns.round()}),
            )
        });
        Value::Object(costs.collect())
    };
    VARIANTS.iter().map(|variant| (variant.name.to_owned(), one(variant.name))).collect()
}

fn recoveries(clock_ns: f64) -> Map<String, Value> {
    let one = |name: &str| {
        let costs = WINDOWS.iter().map(|&window| {
            let lost = |share| first_window(name, window, share, clock_ns).round();
            let row = json!({
                "first_ns": lost(None), "one_percent_ns": lost(Some(100)), "half_ns": lost(Some(2)),
            });
            (window.to_string(), row)
        });
        Value::Object(costs.collect())
    };
    RECOVERIES.iter().map(|rule| (rule.name.to_owned(), one(rule.name))).collect()
}

/// TFRC's sender, with one in `lose_every` datagrams lost: cost per report received and per
/// datagram sent. Each report arrives a round trip of 20 ms after the datagram that it reports.
fn tfrc(lose_every: u64, clock_ns: f64) -> Value {
    let config = config("tfrc", "none", 10);
    let settings = udp::Settings::resolve(&config).expect("a valid flow");
    let mac = Mac([2, 0, 0, 0, 0, 1]);
    let emitter = |from: Endpoint, to| datagram::Emitter::new((mac, mac), from.ip, from.port, to);
    let mut receiver = udp::Receiver::new(&settings, emitter(config.destination, config.source));
    let mut sender = udp::Sender::new(settings, emitter(config.source, config.destination));
    sender.stream().write(Content::Zeros(1 << 50));
    let (mut now, mut reports) = (Time::ZERO, VecDeque::new());
    let [mut datagram_ns, mut report_ns] = [vec![], vec![]];
    while (datagram_ns.len() as u64) < ACKS {
        while reports.front().is_some_and(|&(due, _)| due <= now) {
            let (_, packet) = reports.pop_front().expect("it was looked at");
            let started = Instant::now();
            let report = ip_packet::parse(&packet).and_then(|ip| datagram::parse_datagram(&ip));
            let taken = sender.handle_datagram(now, &report.expect("our own datagram"));
            report_ns.push(started.elapsed().as_nanos() as f64 - clock_ns);
            taken.expect("our own report");
        }
        sender.handle_timeout(now);
        receiver.handle_timeout(now);
        let mut packet = Packet::default();
        let started = Instant::now();
        let sends = sender.poll_transmit(now, &mut packet);
        if sends {
            datagram_ns.push(started.elapsed().as_nanos() as f64 - clock_ns);
        }
        if sends && datagram_ns.len() as u64 % lose_every != 0 {
            let datagram = ip_packet::parse(&packet).and_then(|ip| datagram::parse_datagram(&ip));
            let message = receiver.handle_datagram(now, &datagram.expect("our own datagram"));
            message.expect("our own message");
        }
        let mut report = Packet::default();
        while receiver.poll_transmit(now, &mut report) {
            reports.push_back((now + Duration::from_ms(20), std::mem::take(&mut report)));
        }
        let due = reports.front().map(|&(due, _)| due);
        let timers = [sender.poll_timeout(), receiver.poll_timeout(), due];
        now = timers.into_iter().flatten().min().expect("a departure").max(now);
    }
    let [datagram, report] = [datagram_ns, report_ns].map(|ns| median(ns).round());
    json!({"report_ns": report, "datagram_ns": datagram})
}

fn print_table(title: &str, rows: &Map<String, Value>) {
    println!("{title}");
    for (name, windows) in rows {
        for (window, costs) in windows.as_object().into_iter().flatten() {
            let costs = costs.as_object().into_iter().flatten();
            let shown: Vec<_> = costs.map(|(what, ns)| format!("{what} {ns}")).collect();
            println!("  {name:<14} {window:>6}  {}", shown.join("  "));
        }
    }
}

fn main() {
    let clock_ns = clock_ns();
    // Idle connections last, and many of them: the process reuses freed memory, which hides growth.
    let busy = pair_bytes(300, || {
        let mut bench = Bench::busy("reno", "linux", 1_000);
        // A SYN's window is at most 64 kB; the first ACKs open it.
        bench.run(2_000, None);
        bench
    });
    let idle = pair_bytes(20_000, || Bench::new("reno", "linux", 10));
    let memory = json!({"idle_pair_bytes": idle, "busy_1000_pair_bytes": busy});
    let (variants, recoveries) = (variants(clock_ns), recoveries(clock_ns));
    let tfrc = [100, 10_000].map(|every| (format!("1/{every}"), tfrc(every, clock_ns)));
    let tfrc = json!({"tfrc": Map::from_iter(tfrc)});
    if std::env::args().any(|argument| argument == "--json") {
        let document = json!({
            "schema": 1, "clock_ns": clock_ns.round(), "variants": variants,
            "recoveries": recoveries, "datagrams": tfrc, "memory": memory,
        });
        println!("{document}");
        return;
    }
    println!("nanoseconds (clock of {clock_ns:.0} ns taken off), by window in packets");
    print_table("variants, recovery linux: per ACK, and per segment let out", &variants);
    print_table("recoveries, reno: per ACK with what it lets out, first window lossy", &recoveries);
    print_table("datagrams, one in so many lost", tfrc.as_object().expect("an object"));
    println!("memory of both ends, bytes: {memory}");
}
