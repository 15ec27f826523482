//! DualPI2 against RFC 9332: the pseudocode of appendix A (figs. 3 to 8) in plain numbers follows
//! the ledger and says of each departure whether it is sent, marked or dropped.

use crate::support::*;
use narrows_common::{Packet, Time};
use narrows_queueing::{
    Discipline, DisciplineConfig, QueueEvent, QueueLimit, QueueRecord, TrafficManager,
};
use proptest::prelude::*;
use std::collections::VecDeque;

const MS: u64 = 1_000_000_000;
/// 1,000 bytes at 8 Mb/s: one a millisecond.
const RATE_BPS: u64 = 8_000_000;

fn bench(parameters: &[(&str, f64)]) -> Bench<Discipline<Packet>> {
    let parameters = parameters.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
    let config = DisciplineConfig { name: "dualpi2".to_owned(), parameters };
    let ports = [port(RATE_BPS, QueueLimit::Packets(10_000), config)];
    Bench::new(TrafficManager::new(&ports, 0, true, 1).expect("a port"))
}

/// Sends arrivals through and returns the ledger.
fn ledger(arrivals: &[Came]) -> Vec<QueueRecord> {
    let mut bench = bench(&[]);
    arrivals.iter().for_each(|came| bench.arrive(came));
    bench.go_on(Time::MAX);
    bench.rows()
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    Sent,
    Marked,
    Dropped,
}

/// The RFC's variables; times in seconds.
#[derive(Default)]
struct Pseudocode {
    lq: VecDeque<(u64, u64)>,
    cq: VecDeque<(u64, u64)>,
    lq_count: f64,
    cq_count: f64,
    p: f64,
    prevq: f64,
}

impl Pseudocode {
    const TARGET: f64 = 0.015;
    const ALPHA: f64 = 0.16;
    const BETA: f64 = 3.2;
    const K: f64 = 2.0;
    const MIN_TH: f64 = 800e-6;
    const RANGE: f64 = 400e-6;

    fn recur(count: &mut f64, likelihood: f64) -> bool {
        *count += likelihood;
        if *count > 1.0 {
            *count -= 1.0;
            return true;
        }
        false
    }

    fn update(&mut self, now_ps: u64) {
        let time = |queue: &VecDeque<(u64, u64)>| {
            queue.front().map_or(0.0, |head| seconds(now_ps - head.1))
        };
        let curq = time(&self.cq).max(time(&self.lq));
        self.p += Self::ALPHA * (curq - Self::TARGET) + Self::BETA * (curq - self.prevq);
        self.p = self.p.clamp(0.0, 1.0);
        self.prevq = curq;
    }

    /// What becomes of the packet at the head of the queue that the scheduler chose.
    fn dequeue(&mut self, now_ps: u64, is_scalable: bool, ecn: u8) -> (u64, Fate) {
        let (p_cl, p_c) = (Self::K * self.p, self.p * self.p);
        if is_scalable {
            let (number, came) = self.lq.pop_front().expect("a packet in the L queue");
            let qdelay = seconds(now_ps - came);
            let native = if self.lq.is_empty() {
                0.0
            } else {
                ((qdelay - Self::MIN_TH) / Self::RANGE).clamp(0.0, 1.0)
            };
            if p_cl < 1.0 {
                let marks = Self::recur(&mut self.lq_count, native.max(p_cl));
                return (number, if marks { Fate::Marked } else { Fate::Sent });
            }
            if Self::recur(&mut self.lq_count, p_c) {
                return (number, Fate::Dropped);
            }
            let marks = Self::recur(&mut self.lq_count, 1.0);
            return (number, if marks { Fate::Marked } else { Fate::Sent });
        }
        let (number, _) = self.cq.pop_front().expect("a packet in the C queue");
        let fate = match Self::recur(&mut self.cq_count, p_c) {
            true if ecn == 0 || p_cl >= 1.0 => Fate::Dropped,
            true => Fate::Marked,
            false => Fate::Sent,
        };
        (number, fate)
    }
}

/// Durations are exact until here: a delay at a threshold is not above it.
fn seconds(duration_ps: u64) -> f64 {
    duration_ps as f64 / 1e12
}

/// Follows the ledger. Returns how many packets met each fate, scalable ones first.
fn follow(arrivals: &[Came], rows: &[QueueRecord]) -> [[usize; 3]; 2] {
    let (mut rfc, mut next_update, mut marked) = (Pseudocode::default(), 16 * MS, None);
    let mut fates = [[0; 3]; 2];
    for (n, row) in rows.iter().enumerate() {
        let now_ps = row.at.as_ps();
        while next_update <= now_ps {
            rfc.update(next_update);
            next_update += 16 * MS;
        }
        let ecn = arrivals[row.packet as usize].packet.ecn;
        let is_scalable = ecn % 2 == 1;
        match row.event {
            QueueEvent::Enqueue if is_scalable => rfc.lq.push_back((row.packet, now_ps)),
            QueueEvent::Enqueue => rfc.cq.push_back((row.packet, now_ps)),
            QueueEvent::Mark(_) => marked = Some(row.packet),
            QueueEvent::Drop(_) => {}
            QueueEvent::Dequeue => {
                let follows = rows.get(n + 1).filter(|next| next.packet == row.packet);
                let is_dropped =
                    follows.is_some_and(|next| matches!(next.event, QueueEvent::Drop(_)));
                let fate = match marked.take_if(|packet| *packet == row.packet) {
                    Some(_) => Fate::Marked,
                    None if is_dropped => Fate::Dropped,
                    None => Fate::Sent,
                };
                let expected = rfc.dequeue(now_ps, is_scalable, ecn);
                assert_eq!((row.packet, fate), expected, "at {now_ps} ps");
                fates[usize::from(!is_scalable)][fate as usize] += 1;
            }
        }
    }
    fates
}

/// Packets of 1,000 bytes: each millisecond, one with probability `load / 2` of each of two.
fn steady(load: f64, ecn: [u8; 2], packets: usize) -> Vec<Came> {
    let mut rng = narrows_common::Rng::from_seed(7);
    let mut at_ps = MS;
    let come = |n: usize| {
        at_ps += (2.0 * rng.f64() * MS as f64 / load) as u64 + 1;
        let packet = Segment { flow: 1 + (n % 2) as u16, ack: 0, payload: 946, ecn: ecn[n % 2] };
        Came { at_ps, packet }
    };
    (0..packets).map(come).collect()
}

#[test]
fn classic_packets_are_dropped_as_the_pseudocode_says() {
    let arrivals = steady(1.2, [0, 0], 4000);
    let [_, [sent, marked, dropped]] = follow(&arrivals, &ledger(&arrivals));
    assert!(sent > 3000 && marked == 0 && dropped > 300, "{sent} {marked} {dropped}");
}

#[test]
fn two_kinds_of_packets_meet_what_the_pseudocode_says() {
    let arrivals = steady(1.15, [1, 2], 4000);
    let [[sent, marked, _], [_, classic, _]] = follow(&arrivals, &ledger(&arrivals));
    assert!(sent > 0 && marked > 100 && classic > 30, "{sent} {marked} {classic}");
}

#[test]
fn overload_drops_scalable_packets_as_the_pseudocode_says() {
    let arrivals = steady(3.0, [1, 1], 6000);
    let [[_, marked, dropped], _] = follow(&arrivals, &ledger(&arrivals));
    assert!(marked > 500 && dropped > 500, "{marked} {dropped}");
}

/// 1,000 packets of each kind wait at once. While both do, one byte in ten is classic, give or take
/// a packet: of the first 500, 50.
#[test]
fn the_classic_queue_has_its_share() {
    let packet = |n: usize| Segment { flow: 1, ack: 0, payload: 946, ecn: (n % 2) as u8 };
    let mut bench = bench(&[("target", 1e13)]);
    (0..2000).for_each(|n| bench.arrive(&Came { at_ps: MS, packet: packet(n) }));
    bench.go_on(Time::from_ps(501 * MS));
    let classic = bench.sent.iter().filter(|sent| sent.number % 2 == 0).count();
    assert!((50..=52).contains(&classic), "{classic} of {}", bench.sent.len());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..Default::default() })]

    #[test]
    fn any_arrivals_meet_what_the_pseudocode_says(
        steps in prop::collection::vec((0u64..4_000_000, 0u8..4, 0u16..1460, 1usize..12), 1..200),
    ) {
        let (mut at_ps, mut arrivals) = (MS, vec![]);
        for (gap_ns, ecn, payload, packets) in steps {
            at_ps += gap_ns * 1000;
            let packet = Segment { flow: 1, ack: 0, payload, ecn };
            arrivals.extend((0..packets).map(|_| Came { at_ps, packet }));
        }
        follow(&arrivals, &ledger(&arrivals));
    }
}

/// Four packets of 800 bytes at once: the second has waited for exactly the ramp's first delay.
#[test]
fn a_delay_at_the_threshold_is_not_above_it() {
    let packet = Segment { flow: 1, ack: 0, payload: 746, ecn: 1 };
    let arrivals: Vec<_> = (0..4).map(|_| Came { at_ps: MS + 112_573_000, packet }).collect();
    follow(&arrivals, &ledger(&arrivals));
}
