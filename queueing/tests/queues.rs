//! Ports whose queues differ, and ports along a trace, by arithmetic and for any input.

use crate::support::*;
use narrows_common::{Packet, Time};
use narrows_queueing::{
    Discipline, DisciplineConfig, PortConfig, PortError, QueueConfig, QueueLimit, QueueShare,
    RateTrace, TrafficManager,
};
use proptest::prelude::*;

const MS: u64 = 1_000_000_000;
/// 1,000 bytes a millisecond.
const RATE_BPS: u64 = 8_000_000;
/// Code points as the type-of-service byte has them.
const VOICE: u8 = 46 << 2;
const GOLD: u8 = 34 << 2;

fn queue(dscp: &[u8], weight: Option<u16>, rate_bps: Option<u64>) -> QueueConfig {
    QueueConfig { dscp: dscp.to_vec(), weight, rate_bps, ..QueueConfig::default() }
}

fn config(classes: &[QueueConfig]) -> PortConfig {
    let port = port(RATE_BPS, QueueLimit::Packets(10_000), DisciplineConfig::default());
    PortConfig { queues: classes.len() as u8, classes: classes.to_vec(), ..port }
}

fn manager(config: PortConfig) -> Result<TrafficManager<Packet>, PortError> {
    TrafficManager::new(&[config], 0, true, 1)
}

fn bench(classes: &[QueueConfig]) -> Bench<Discipline<Packet>> {
    Bench::new(manager(config(classes)).expect("a port"))
}

fn came(at_ps: u64, tos: u8, bytes: u16) -> Came {
    Came { at_ps, packet: Segment { flow: 1, ack: 0, payload: bytes - 54, ecn: tos } }
}

/// Bytes of each kind of packet whose transmission began before `until_ps`. Packets of a kind come
/// one after another, `packets` of each.
fn bytes_by_kind(bench: &Bench<Discipline<Packet>>, packets: u64, until_ps: u64) -> Vec<u64> {
    let mut bytes = vec![0; 3];
    for sent in bench.sent.iter().filter(|sent| sent.start_ps < until_ps) {
        bytes[(sent.number / packets) as usize] += sent.bytes;
    }
    bytes
}

/// Of 8 Mb/s, 1 Mb/s is the strict queue's rate. The rest is shared 3 to 1: 5.25 and 1.75 Mb/s. In
/// a second these are 125,000, 656,250 and 218,750 bytes, give or take two packets.
#[test]
fn a_strict_rate_and_two_weights_share_the_port() {
    let mut bench = bench(&[
        queue(&[46], None, Some(1_000_000)),
        queue(&[34], Some(3), None),
        queue(&[], Some(1), None),
    ]);
    for tos in [VOICE, GOLD, 0] {
        (0..1000).for_each(|_| bench.arrive(&came(0, tos, 1000)));
    }
    bench.go_on(Time::MAX);
    let bytes = bytes_by_kind(&bench, 1000, 1000 * MS);
    for (bytes, expected) in bytes.into_iter().zip([125_000u64, 656_250, 218_750]) {
        assert!(bytes.abs_diff(expected) <= 4542, "{bytes} of {expected}");
    }
    assert_eq!(bench.sent.len(), 3000, "all leave in the end");
}

/// The strict queue's packets of 1,000 bytes take 1 ms at the port and 8 ms at their rate. While
/// the second one waits for its time, another queue's packet leaves as it comes.
#[test]
fn a_port_that_waits_for_a_rate_serves_the_other_queue() {
    let mut bench = bench(&[queue(&[46], None, Some(1_000_000)), queue(&[], Some(1), None)]);
    (0..3).for_each(|_| bench.arrive(&came(0, VOICE, 1000)));
    bench.arrive(&came(3 * MS, 0, 1000));
    bench.arrive(&came(7 * MS + MS / 2, 0, 1000));
    bench.go_on(Time::MAX);
    let starts: Vec<_> = bench.sent.iter().map(|sent| (sent.number, sent.start_ps)).collect();
    // The last packet is in transmission at 8 ms, so the second voice packet begins at 8.5 ms. The
    // third is not late for that: its turn is at 16 ms.
    let half = MS / 2;
    assert_eq!(starts, [(0, 0), (3, 3 * MS), (4, 7 * MS + half), (1, 8 * MS + half), (2, 16 * MS)]);
}

#[test]
fn a_weight_and_a_rate_can_change_while_packets_wait() {
    let mut bench = bench(&[queue(&[34], Some(1), None), queue(&[], Some(1), None)]);
    for tos in [GOLD, 0] {
        (0..2000).for_each(|_| bench.arrive(&came(0, tos, 1000)));
    }
    bench.go_on(Time::from_ps(400 * MS));
    let first = QueueShare { queue: 0, weight: Some(3), rate_bps: None };
    bench.tm.set_share(0, first).expect("a weight");
    bench.go_on(Time::from_ps(800 * MS));
    let slow = QueueShare { queue: 0, weight: None, rate_bps: Some(1_000_000) };
    bench.tm.set_share(0, slow).expect("a rate");
    bench.go_on(Time::from_ps(1200 * MS));
    let until = |ms: u64| bytes_by_kind(&bench, 2000, ms * MS)[0];
    for (from, to, expected) in [(0, 400, 200_000), (400, 800, 300_000), (800, 1200, 50_000)] {
        let bytes = until(to) - until(from);
        assert!(bytes.abs_diff(expected) <= 4542, "{from} to {to} ms: {bytes}, not {expected}");
    }
}

/// A packet of 1,000 bytes takes 1 ms. The first leaves at once; of each kind two wait, and one is
/// dropped. Voice waits 1 and 2 ms, the others 3 and 4 ms.
#[test]
fn each_queue_has_its_own_counts() {
    let port = config(&[queue(&[46], None, None), queue(&[], None, None)]);
    let port = PortConfig { queue: QueueLimit::Packets(2), ..port };
    let mut bench = Bench::new(manager(port).expect("a port"));
    for (tos, packets) in [(VOICE, 4), (0, 3)] {
        (0..packets).for_each(|_| bench.arrive(&came(0, tos, 1000)));
    }
    let end = Time::from_ps(10 * MS);
    bench.go_on(end);
    for (queue, transmitted, waited) in [(0, 3, 1 + 2), (1, 2, 3 + 4)] {
        let done = bench.tm.queue_statistics(0, queue);
        assert_eq!((done.transmitted, done.transmitted_bytes), (transmitted, transmitted * 1000));
        assert_eq!((done.drops.total(), done.dropped_bytes), (1, 1000));
        let waited = u128::from(waited * MS);
        assert_eq!(bench.tm.queue_waited(0, queue, end), (waited, waited * 1000));
    }
    assert_eq!(bench.tm.waited(0, end).0, u128::from(10 * MS));
    assert_eq!(bench.tm.statistics(0).dropped_bytes, 2000);
}

#[test]
fn wrong_queues_are_refused() {
    let refused = |classes: &[QueueConfig], queues: u8, words: &str| {
        let error = manager(PortConfig { queues, ..config(classes) }).expect_err(words);
        assert!(error.to_string().contains(words), "{error}");
    };
    let one = queue(&[], Some(1), None);
    refused(
        &[one.clone(), one.clone()],
        3,
        "classes has 2 entries: expected none, or one for each of 3",
    );
    refused(&[queue(&[64], None, None)], 1, "queue 0: dscp: expected code points from 0 to 63");
    refused(&[one.clone(), queue(&[], Some(0), None)], 2, "queue 1: weight is 0");
    refused(&[queue(&[], None, Some(0))], 1, "queue 0: rate_bps is 0");
    let mut tm = manager(config(&[queue(&[], None, None), one])).expect("a port");
    let weight = |queue| QueueShare { queue, weight: Some(2), rate_bps: None };
    for (queue, words) in [(0, "it has strict priority"), (2, "the port has no classes for it")] {
        let error = tm.set_share(0, weight(queue)).expect_err(words);
        assert!(error.to_string().contains(words), "{error}");
    }
}

/// 8 Mb/s for 10 ms, nothing for 10 ms. 30 packets of 1,000 bytes come at once: ten leave in each
/// of the first three laps, none in an outage, and the delay of the 11th includes the outage.
#[test]
fn a_port_follows_a_trace() {
    let trace = RateTrace { steps: vec![(0, 8_000_000), (10 * MS, 0)], period_ps: 20 * MS };
    let port = port(4_000_000, QueueLimit::Packets(100), DisciplineConfig::default());
    let traced = PortConfig { trace: Some(trace), ..port };
    let mut bench = Bench::new(manager(traced).expect("a port"));
    (0..30).for_each(|_| bench.arrive(&came(0, 0, 1000)));
    bench.go_on(Time::MAX);
    let expected: Vec<_> = (0..30)
        .map(|n| (20 * MS * (n / 10) + MS * (n % 10), 20 * MS * (n / 10) + MS * (n % 10 + 1)))
        .collect();
    let sent: Vec<_> = bench.sent.iter().map(|sent| (sent.start_ps, sent.end_ps)).collect();
    assert_eq!(sent, expected);
    let error = bench.tm.set_rate(0, narrows_common::Rate::from_bps(1)).expect_err("a trace");
    assert_eq!(error.to_string(), "port 7: its rate follows a trace: expected a port without one");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..Default::default() })]

    /// Packets are conserved, each queue is first in first out, transmissions do not overlap, and a
    /// queue with a rate never gets ahead of it.
    #[test]
    fn any_queues_keep_order_and_rates(
        classes in prop::collection::vec((prop::option::of(1u16..9), prop::option::of(100_000u64..9_000_000)), 1..5),
        steps in prop::collection::vec((0u64..3_000_000, 0u8..4, 54u16..1514, 1usize..6), 1..120),
        limit in 1u64..40,
    ) {
        let count = classes.len() as u8;
        let queues: Vec<_> = (0..).zip(classes)
            .map(|(code, (weight, rate_bps))| QueueConfig {
                limit: Some(QueueLimit::Packets(limit)),
                ..queue(&[code], weight, rate_bps)
            })
            .collect();
        let mut bench = bench(&queues);
        let (mut at_ps, mut codes) = (0, vec![]);
        for (gap_ns, code, bytes, packets) in steps {
            at_ps += gap_ns * 1000;
            let code = code.min(count - 1);
            for _ in 0..packets {
                bench.arrive(&came(at_ps, code << 2, bytes));
                codes.push(code);
            }
        }
        bench.go_on(Time::MAX);
        prop_assert_eq!(bench.sent.len() as u64 + bench.dropped, codes.len() as u64);
        for pair in bench.sent.windows(2) {
            prop_assert!(pair[0].end_ps <= pair[1].start_ps);
        }
        for (code, queue) in (0..).zip(&queues) {
            let own: Vec<_> =
                bench.sent.iter().filter(|sent| codes[sent.number as usize] == code).collect();
            prop_assert!(own.windows(2).all(|pair| pair[0].number < pair[1].number));
            let Some(rate) = queue.rate_bps else { continue };
            // With a burst of a frame: what is sent from one packet on, until another begins.
            let span = |bytes: u64| u128::from(bytes * 8) * PS / u128::from(rate);
            for (n, first) in own.iter().enumerate() {
                let mut bytes = 0;
                for pair in own[n..].windows(2) {
                    bytes += pair[0].bytes;
                    let passed = u128::from(pair[1].start_ps - first.start_ps);
                    prop_assert!(passed + span(1514) + 1 >= span(bytes), "queue {code}");
                }
            }
        }
    }
}
