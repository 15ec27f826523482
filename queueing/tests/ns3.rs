//! CoDel, PIE, FQ-CoDel and COBALT against ns-3.37's queue discs on the same arrivals and with the
//! same random numbers (recordings/ns3_queue_discs.cc): what is dropped, and when the others leave.

use crate::support::*;
use narrows_common::Time;
use narrows_queueing::{
    Discipline, DisciplineConfig, QueueEvent, QueueLimit, Randomness, TrafficManager,
};
use std::collections::BTreeMap;

const RATE_BPS: u64 = 10_000_000;
const PS_PER_NS: u64 = 1000;

/// What became of a packet: dropped or not, and after how many nanoseconds.
type Fate = (bool, u64);

/// The arrivals, the random numbers, and a run's fates.
fn recording(run: &str) -> (Vec<Came>, Vec<f64>, Vec<Fate>) {
    let mut lines = include_str!("recordings/ns3_queue_discs.csv").lines();
    let names = lines.next().expect("a header").split(',');
    let column = names.clone().position(|name| name == run).expect("the run");
    let (mut arrivals, mut numbers, mut fates) = (vec![], vec![], vec![]);
    for line in lines {
        let cells: Vec<_> = line.split(',').collect();
        let number = |at: usize| cells[at].parse::<u64>().expect("a number");
        let (flow, payload) = (number(1) as u16 + 1, number(2) as u16 - 54);
        let packet = Segment { flow, ack: 0, payload, ecn: 0 };
        arrivals.push(Came { at_ps: number(0) * PS_PER_NS, packet });
        numbers.push(cells[3].parse().expect("a random number"));
        let waited = cells[column].trim_start_matches('d');
        fates.push((cells[column].starts_with('d'), waited.parse().expect("a time")));
    }
    (arrivals, numbers, fates)
}

/// The fates of the packets here.
fn replay(
    arrivals: &[Came],
    numbers: &[f64],
    limit_packets: u64,
    name: &str,
    parameters: &[(&str, f64)],
) -> Vec<Fate> {
    let parameters = parameters.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
    let config = DisciplineConfig { name: name.to_owned(), parameters };
    let make = |config: &_, _| Discipline::build(config, Randomness::given(numbers.to_vec()));
    let ports = [port(RATE_BPS, QueueLimit::Packets(limit_packets), config)];
    let tm = TrafficManager::with(&ports, 0, true, 1, make).expect("a port");
    let mut bench = Bench::new(tm);
    arrivals.iter().for_each(|came| bench.arrive(came));
    bench.go_on(Time::MAX);
    let mut ends: BTreeMap<u64, (bool, u64)> =
        bench.sent.iter().map(|sent| (sent.number, (false, sent.start_ps))).collect();
    for row in bench.rows() {
        if matches!(row.event, QueueEvent::Drop(_)) {
            ends.insert(row.packet, (true, row.at.as_ps()));
        }
    }
    let fate = |(came, (_, (is_dropped, at_ps))): (&Came, (u64, Fate))| {
        (is_dropped, (at_ps - came.at_ps) / PS_PER_NS)
    };
    arrivals.iter().zip(ends).map(fate).collect()
}

/// Drops, and the mean wait in milliseconds of what is sent.
fn figures(fates: &[Fate]) -> (f64, f64) {
    let sent = fates.iter().filter(|fate| !fate.0);
    let waited: u64 = sent.clone().map(|fate| fate.1).sum();
    let drops = fates.iter().filter(|fate| fate.0).count();
    (drops as f64, waited as f64 / 1e6 / sent.count() as f64)
}

/// All packets have the same fate at the same nanosecond.
fn check_each(run: &str, limit: u64, name: &str, parameters: &[(&str, f64)]) {
    let (arrivals, numbers, theirs) = recording(run);
    let ours = replay(&arrivals, &numbers, limit, name, parameters);
    let first = ours.iter().zip(&theirs).position(|(ours, theirs)| ours != theirs);
    let first = first.map(|n| (n, ours[n], theirs[n], figures(&ours), figures(&theirs)));
    assert_eq!(first, None, "{run}: packet, ours, ns-3's, drops and wait of both");
    assert!(figures(&ours).0 > 30.0, "the recording has drops");
}

#[test]
fn pie_drops_what_ns_3_drops() {
    check_each("pie", 1000, "pie", &[("max-burst", 0.0), ("spread", 0.0)]);
}

#[test]
fn pie_with_spread_drops_what_ns_3_drops() {
    check_each("pie-spread", 1000, "pie", &[("max-burst", 0.0)]);
}

/// ns-3 counts in units of 1,024 ns and finds square roots by Newton's steps, as Linux does, so
/// that drops may be due a packet earlier or later than here. So figures are compared: within
/// `drops` of the drops, within `wait` of the mean wait.
fn check_near(run: &str, limit: u64, ours: (&str, &[(&str, f64)]), drops: f64, wait: f64) {
    let (arrivals, numbers, theirs) = recording(run);
    let ours = figures(&replay(&arrivals, &numbers, limit, ours.0, ours.1));
    let theirs = figures(&theirs);
    assert!(theirs.0 > 30.0, "the recording has drops");
    let off = |ours: f64, theirs: f64| (ours / theirs - 1.0).abs();
    assert!(off(ours.0, theirs.0) <= drops, "{run}: drops and wait {ours:?}, ns-3's {theirs:?}");
    assert!(off(ours.1, theirs.1) <= wait, "{run}: drops and wait {ours:?}, ns-3's {theirs:?}");
}

#[test]
fn cobalt_is_within_a_thousandth_of_ns_3() {
    check_near("cobalt", 60, ("cobalt", &[]), 0.001, 0.001);
}

/// Up to its first two drops, before a square root is taken, the same packets at the same times.
#[test]
fn codel_is_near_ns_3_and_starts_with_the_same_drops() {
    let parameters = [("mtu", 1499.0)];
    check_near("codel", 1000, ("codel", &parameters), 0.06, 0.005);
    let (arrivals, numbers, theirs) = recording("codel");
    let ours = replay(&arrivals, &numbers, 1000, "codel", &parameters);
    let drops = |fates: &[Fate]| -> Vec<_> {
        (0..fates.len()).filter(|&n| fates[n].0).map(|n| (n, fates[n].1)).take(2).collect()
    };
    assert_eq!(drops(&ours), drops(&theirs));
}

#[test]
fn fq_codel_is_near_ns_3() {
    let parameters = [("mtu", 1499.0), ("ecn", 0.0)];
    check_near("fq-codel", 60, ("fq-codel", &parameters), 0.01, 0.015);
}
