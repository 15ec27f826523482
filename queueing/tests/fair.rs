//! DRR and FQ-CoDel: shares, turns of new flows, and whose packets go beyond the limit; thresholds
//! of ECN. All by arithmetic.

use crate::support::*;
use narrows_common::{Packet, Time};
use narrows_queueing::{Discipline, DisciplineConfig, QueueEvent, QueueLimit, TrafficManager};

const MS: u64 = 1_000_000_000;
/// 1,000 bytes at 8 Mb/s: one a millisecond.
const RATE_BPS: u64 = 8_000_000;

fn bench(name: &str, parameters: &[(&str, f64)], limit: u64) -> Bench<Discipline<Packet>> {
    let parameters = parameters.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
    let config = DisciplineConfig { name: name.to_owned(), parameters };
    let ports = [port(RATE_BPS, QueueLimit::Packets(limit), config)];
    Bench::new(TrafficManager::new(&ports, 0, true, 1).expect("a port"))
}

/// Packets of a flow with so many bytes, at one instant.
fn burst(flow: u16, bytes: u16, packets: usize, at_ms: u64) -> Vec<Came> {
    let packet = Segment { flow, ack: 0, payload: bytes - 54, ecn: 2 };
    vec![Came { at_ps: at_ms * MS, packet }; packets]
}

/// Bytes that each of two flows sent by a time.
fn shares(name: &str, until_ms: u64) -> [u64; 2] {
    let mut bench = bench(name, &[], 100_000);
    let arrivals = [burst(1, 1500, 1000, 1), burst(2, 300, 5000, 1)].concat();
    arrivals.iter().for_each(|came| bench.arrive(came));
    bench.go_on(Time::from_ps(until_ms * MS));
    let bytes = |flow: u16| {
        let of_flow = |number: u64| arrivals[number as usize].packet.flow == flow;
        bench.sent.iter().filter(|sent| of_flow(sent.number)).map(|sent| sent.bytes).sum()
    };
    [bytes(1), bytes(2)]
}

/// Large and small packets get the same bytes, give or take a quantum and a packet.
#[test]
fn a_round_robin_shares_bytes_not_packets() {
    for name in ["drr", "fq-codel"] {
        let [large, small] = shares(name, 90);
        assert!(large.abs_diff(small) <= 1514 + 1500, "{name}: {large} and {small}");
        assert!(large > 40_000, "{name}: {large}");
    }
}

/// A flow with one packet comes while another has 100: FQ-CoDel sends it next, DRR after the turn.
#[test]
fn a_new_flow_is_served_before_a_standing_queue() {
    for name in ["fq-codel", "drr"] {
        let mut bench = bench(name, &[], 1000);
        burst(1, 1000, 100, 1).iter().for_each(|came| bench.arrive(came));
        burst(2, 200, 1, 20).iter().for_each(|came| bench.arrive(came));
        bench.go_on(Time::MAX);
        let sent = bench.sent.iter().find(|sent| sent.number == 100).expect("it is sent");
        assert!(sent.start_ps <= 23 * MS, "{name}: {}", sent.start_ps);
    }
}

/// Beyond the limit the flow with the most bytes loses, not the one that comes.
#[test]
fn the_fattest_flow_makes_room() {
    for (name, reason) in [("fq-codel", "fq-codel-overlimit"), ("drr", "drr-overlimit")] {
        let mut bench = bench(name, &[], 100);
        let arrivals = [burst(1, 1000, 101, 1), burst(2, 200, 10, 1)].concat();
        arrivals.iter().for_each(|came| bench.arrive(came));
        bench.go_on(Time::MAX);
        let mut dropped = 0;
        for row in bench.rows() {
            if let QueueEvent::Drop(why) = row.event {
                assert_eq!((why.name(), row.packet <= 100), (reason, true), "{name}");
                dropped += 1;
            }
        }
        // FQ-CoDel drops half of the flow's bytes at once, DRR a packet for each that comes.
        assert_eq!(dropped, if name == "drr" { 10 } else { 50 }, "{name}");
    }
}

/// Numbers of the packets with marks, and why.
fn marks(parameters: &[(&str, f64)], arrivals: &[Came]) -> Vec<(u64, &'static str)> {
    let mut bench = bench("ecn-threshold", parameters, 1000);
    arrivals.iter().for_each(|came| bench.arrive(came));
    bench.go_on(Time::MAX);
    let rows = bench.rows().into_iter();
    rows.filter_map(|row| match row.event {
        QueueEvent::Mark(reason) => Some((row.packet, reason.name())),
        _ => None,
    })
    .collect()
}

/// The first of ten packets leaves at once; packet n then finds n - 1 and waits n ms.
#[test]
fn a_step_marks_what_exceeds_its_threshold() {
    let ten = burst(1, 1000, 10, 1);
    let expected = |from, reason| (from..10).map(|n| (n, reason)).collect::<Vec<_>>();
    assert_eq!(marks(&[("packets", 4.0)], &ten), expected(5, "threshold-packets"));
    let bytes = [("packets", 0.0), ("bytes", 4000.0)];
    assert_eq!(marks(&bytes, &ten), expected(5, "threshold-bytes"));
    let time = [("packets", 0.0), ("time", 6e9)];
    assert_eq!(marks(&time, &ten), expected(7, "threshold-time"));
    let classic: Vec<_> = ten
        .iter()
        .map(|came| Came { packet: Segment { ecn: 0, ..came.packet }, ..*came })
        .collect();
    assert_eq!(marks(&[("packets", 4.0)], &classic), [], "they can't be marked");
}

/// From 100 to 300 packets the probability rises to 1: of 200 packets about 100 are marked.
#[test]
fn a_ramp_marks_ever_more() {
    let marked = marks(&[("packets", 100.0), ("ramp", 3.0)], &burst(1, 1000, 401, 1));
    let between = |low, high| marked.iter().filter(|mark| (low..high).contains(&mark.0)).count();
    assert_eq!((between(0, 101), between(301, 401)), (0, 100));
    assert!((75..125).contains(&between(101, 301)), "{}", between(101, 301));
    assert!(between(101, 201) < between(201, 301));
}
