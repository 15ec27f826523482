//! Drives the traffic manager and a core with the same random arrivals and changes, and compares
//! every departure, transmission, ledger row and count.
//!
//! ```text
//! cargo run --release -p narrows-fpga --example differential -- LIBRARY ARRIVALS [SEED]
//! ```

use narrows_common::{LengthBasis, Packet, Rate, Rng, Time};
use narrows_fpga::CoreLibrary;
use narrows_queueing::{
    Arrival, Dequeued, DisciplineConfig, PortConfig, PortStatistics, QueueLimit, QueueRecord,
    TrafficManager, Transmission,
};
use std::path::Path;

/// Arrivals at one pair of ports; then another pair starts.
const EPISODE: u64 = 200_000;
/// Mean arrivals between two changes of a setting.
const CHANGE_EVERY: u64 = 40;
/// Arrivals between two comparisons.
const COMPARE_EVERY: u64 = 1000;
const BYTE_PS: u128 = 8_000_000_000_000;
const MOST_RATE: u64 = (1 << 40) - 1;

/// A departure as the port's owner sees it: number, time, mark, packets left, transmission.
type Seen = (u64, Time, bool, u32, Option<Transmission>);

/// A traffic manager with one port, and what it has done.
struct Side {
    tm: TrafficManager<Packet>,
    seen: Vec<Seen>,
}

impl Side {
    fn new(config: &PortConfig, cores: Option<&CoreLibrary>) -> Self {
        let mut tm = TrafficManager::new(std::slice::from_ref(config), 0, true, 1).expect("a port");
        if let Some(library) = cores {
            tm.use_cores(&mut || library.core()).expect("the core has these settings");
        }
        Side { tm, seen: vec![] }
    }

    /// Sends what is due by a time.
    fn run(&mut self, until: Time) {
        while let Some((at, _)) = self.tm.take_due(until) {
            self.drain(at);
        }
    }

    /// Sends, drops or diverts what the port gives at an instant.
    fn drain(&mut self, at: Time) {
        while let Some(dequeued) = self.tm.dequeue_idle(at, 0) {
            let Dequeued { port, queue, at, queued, depth_after } = dequeued;
            let (label, number) = (queued.label, queued.label.number);
            let sent = match number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58 {
                0 => {
                    self.tm.drop_dequeued(at, port, queue, label);
                    None
                }
                1 => None,
                // Egress made another length of it.
                2 => Some(self.tm.transmit(at, port, 60 + number % 1455)),
                _ => Some(self.tm.transmit(at, port, queued.packet.len() as u64)),
            };
            self.seen.push((number, at, queued.is_marked, depth_after, sent));
        }
        while self.tm.poll_dropped().is_some() {}
    }

    fn offer(&mut self, at: Time, packet: Packet) {
        self.run(at);
        let frame_bytes = packet.len() as u64;
        self.tm.offer(at, 0, Arrival { packet, flow: 1, priority: 0, frame_bytes });
        if !self.tm.is_armed(0) {
            self.drain(at);
        }
        while self.tm.poll_dropped().is_some() {}
    }

    fn taken(&mut self) -> (Vec<Seen>, Vec<QueueRecord>) {
        (std::mem::take(&mut self.seen), std::mem::take(self.tm.records()))
    }
}

fn some_rate(rng: &mut Rng) -> Rate {
    Rate::from_bps(match rng.range(0, 4) {
        0 => rng.range(1, MOST_RATE),
        1 => 1_000_000_000,
        2 => rng.range(1, 1000),
        _ => rng.range(100_000, 10_000_000_000),
    })
}

/// Picoseconds of so many bytes, at most an hour.
fn time_of(rate: Rate, bytes: u64) -> u64 {
    (u128::from(bytes) * BYTE_PS / u128::from(rate.as_bps())).min(3_600_000_000_000_000) as u64
}

fn some_limit(rng: &mut Rng, rate: Rate) -> QueueLimit {
    match rng.range(0, 3) {
        0 => QueueLimit::Packets(rng.range(0, 30)),
        1 => QueueLimit::Bytes(rng.range(0, 40_000)),
        _ => QueueLimit::TimePs(rng.range(0, time_of(rate, 30_000) + 1)),
    }
}

/// The disciplines that a core has. A DropTail is a threshold that is not in force.
const DISCIPLINES: [&str; 2] = ["ecn-threshold", "codel"];

fn some_parameters(name: &str, rng: &mut Rng, rate: Rate) -> DisciplineConfig {
    let mut discipline = DisciplineConfig::named(name);
    let mut insert = |name: &str, value: u64| {
        discipline.parameters.insert(name.to_owned(), value as f64);
    };
    let time = time_of(rate, 15_000) + 1;
    if name == "codel" {
        insert("target", rng.range(1000, time.clamp(1001, 10_000_000_000_000)));
        // From one packet's time to a hundred: a drop state grows fast, and ends.
        let interval = time_of(rate, 1500 << rng.range(0, 7));
        insert("interval", rng.range(1000, interval.clamp(1001, 100_000_000_000_000)));
        insert("mtu", if rng.chance(0.5) { 1514 } else { rng.range(0, 9000) });
        insert("ecn", rng.range(0, 1));
        insert("mark-above", if rng.chance(0.5) { 0 } else { rng.range(0, time.min(1 << 43)) });
        return discipline;
    }
    for (name, most) in [("packets", 15), ("bytes", 20_000), ("time", time.min(1 << 46))] {
        insert(name, if rng.chance(0.5) { rng.range(0, most) } else { 0 });
    }
    discipline
}

fn some_packet(rng: &mut Rng) -> Packet {
    let bytes = match rng.range(0, 5) {
        0 => 60,
        1 | 2 => 1514,
        3 => rng.range(16, 1514),
        _ => rng.range(16, 65_535),
    };
    // An IPv4 header's type of service begins the bytes that a discipline reads.
    let mut data = vec![0; 16];
    data[12..16].copy_from_slice(&[8, 0, 0x45, rng.range(0, 3) as u8]);
    Packet { data, zeros: (bytes - 16) as u32, ..Packet::default() }
}

/// Fails at the first difference.
fn assert_same<T: PartialEq + std::fmt::Debug>(found: &[T], expected: &[T], arrival: u64) {
    for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert_eq!(found, expected, "up to arrival {arrival}, at index {index}");
    }
    assert_eq!(found.len(), expected.len(), "up to arrival {arrival}");
}

/// Changes rate, limit or the discipline's parameters of both sides.
fn change(sides: &mut [Side; 2], name: &str, at: Time, rate: &mut Rate, rng: &mut Rng) {
    match rng.range(0, 3) {
        0 => {
            *rate = some_rate(rng);
            // A time limit of the rate before may be more than a core has room for.
            let few = QueueLimit::Packets(rng.range(0, 30));
            sides.iter_mut().for_each(|side| side.tm.set_limit(0, few).expect("a limit"));
            sides.iter_mut().for_each(|side| side.tm.set_rate(0, *rate).expect("a rate"));
        }
        1 => {
            let limit = some_limit(rng, *rate);
            sides.iter_mut().for_each(|side| side.tm.set_limit(0, limit).expect("a limit"));
        }
        _ => {
            let discipline = some_parameters(name, rng, *rate);
            for side in sides {
                side.tm.set_discipline(at, 0, &discipline).expect("a discipline");
                while side.tm.poll_dropped().is_some() {}
            }
        }
    }
}

/// What was compared.
#[derive(Default)]
struct Compared {
    arrivals: u64,
    rows: u64,
    done: PortStatistics,
}

/// One pair of ports, up to so many arrivals.
fn episode(library: &CoreLibrary, name: &str, rng: &mut Rng, arrivals: u64) -> Compared {
    let mut rate = some_rate(rng);
    let config = PortConfig {
        port: 1,
        rate_bps: Some(rate.as_bps()),
        trace: None,
        queue: some_limit(rng, rate),
        discipline: some_parameters(name, rng, rate),
        counts: [LengthBasis::Ip, LengthBasis::Frame, LengthBasis::Wire][rng.range(0, 2) as usize],
        queues: 1,
        classes: vec![],
        record: true,
        pipeline: 0,
    };
    let mut sides = [Side::new(&config, None), Side::new(&config, Some(library))];
    let (mut now, mut rows) = (0u64, 0);
    for n in 1..=arrivals {
        let due = sides[0].tm.next_due().map_or(now, Time::as_ps);
        now = match rng.range(0, 8) {
            0 | 1 => now,
            // The instant of a departure, or the picosecond beside it.
            2 => due.max(now),
            3 => due.saturating_sub(1).max(now),
            4 => now + rng.range(0, 4 * time_of(rate, 1500) + 2),
            _ => now + rng.range(0, 2 * time_of(rate, 1500) + 2),
        };
        let at = Time::from_ps(now);
        if rng.range(0, CHANGE_EVERY) == 0 {
            // A controller changes a port after or before the departures of that instant.
            if rng.chance(0.5) {
                sides.iter_mut().for_each(|side| side.run(at));
            } else {
                let before = Time::from_ps(now.saturating_sub(1));
                sides.iter_mut().for_each(|side| side.run(before));
            }
            change(&mut sides, name, at, &mut rate, rng);
        }
        let mut two = rng.clone();
        sides[0].offer(at, some_packet(rng));
        sides[1].offer(at, some_packet(&mut two));
        // 213 days are all that the core's clock has.
        let is_last = n == arrivals || now > 1 << 62;
        if n % COMPARE_EVERY == 0 || is_last {
            let [soft, core] = &mut sides;
            let (expected, found) = (soft.taken(), core.taken());
            assert_same(&found.1, &expected.1, n);
            assert_same(&found.0, &expected.0, n);
            assert_eq!(core.tm.statistics(0), soft.tm.statistics(0), "at arrival {n}");
            assert_eq!(core.tm.waited(0, at), soft.tm.waited(0, at), "at arrival {n}");
            rows += expected.1.len() as u64;
        }
        if is_last {
            return Compared { arrivals: n, rows, done: sides[0].tm.statistics(0) };
        }
    }
    Compared::default()
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, library, arrivals, rest @ ..] = arguments.as_slice() else {
        panic!("usage: differential LIBRARY ARRIVALS [SEED]");
    };
    let library = CoreLibrary::load(Path::new(library)).unwrap_or_else(|error| panic!("{error}"));
    let arrivals: u64 = arrivals.parse().expect("a number of arrivals");
    let seed: u64 = rest.first().map_or(1, |seed| seed.parse().expect("a seed"));
    let (mut left, mut rows, mut episodes) = (arrivals, 0, 0);
    let mut done = PortStatistics::default();
    while left > 0 {
        let part = left.min(EPISODE);
        let mut rng = Rng::for_component(seed, &format!("episode {episodes}"));
        let name = DISCIPLINES[episodes % DISCIPLINES.len()];
        let compared = episode(&library, name, &mut rng, part);
        rows += compared.rows;
        left -= compared.arrivals;
        done = done + compared.done;
        episodes += 1;
        if episodes % 25 == 0 {
            println!("{} arrivals, {rows} equal rows", arrivals - left);
        }
    }
    println!("{arrivals} arrivals in {episodes} episodes: {rows} equal rows");
    for (reason, count) in done.drops.iter().filter(|(_, count)| *count > 0) {
        println!("{count} drops: {}", reason.name());
    }
    for (reason, count) in done.marks.iter().filter(|(_, count)| *count > 0) {
        println!("{count} marks: {}", reason.name());
    }
}
