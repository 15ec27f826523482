//! Compares CoDel with RFC 8289: traces computed by hand, and the RFC's pseudocode (sections 5.5
//! and 5.6) in plain numbers.

use crate::support::*;
use narrows_common::{Packet, Time};
use narrows_queueing::{
    Discipline, DisciplineConfig, QueueEvent, QueueLimit, QueueRecord, TrafficManager,
};
use proptest::prelude::*;
use std::collections::VecDeque;

const MS: u64 = 1_000_000_000;

/// 1,000 bytes at 8 Mb/s: one packet per millisecond.
const RATE_BPS: u64 = 8_000_000;
const SEGMENT: Segment = Segment { flow: 1, ack: 0, payload: 946, ecn: 0 };

fn bench(parameters: &[(&str, f64)], limit: QueueLimit) -> Bench<Discipline<Packet>> {
    let parameters = parameters.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
    let config = DisciplineConfig { name: "codel".to_owned(), parameters };
    Bench::new(TrafficManager::new(&[port(RATE_BPS, limit, config)], 0, true, 1).expect("a port"))
}

/// Bursts at times in milliseconds; returns the number and the time of each drop.
fn drops_of(bursts: &[(u64, usize)]) -> Vec<(u64, u64)> {
    let mut bench = bench(&[], QueueLimit::Packets(10_000));
    for &(at_ms, packets) in bursts {
        for _ in 0..packets {
            bench.arrive(&Came { at_ps: at_ms * MS, packet: SEGMENT });
        }
    }
    bench.go_on(Time::MAX);
    drops(&bench.rows()).into_iter().map(|(packet, at_ps)| (packet, at_ps / MS)).collect()
}

/// The packets that CoDel dropped, with their times in picoseconds.
fn drops(rows: &[QueueRecord]) -> Vec<(u64, u64)> {
    let of = |row: &QueueRecord| match row.event {
        QueueEvent::Drop(reason) if reason.name() == "codel" => Some((row.packet, row.at.as_ps())),
        _ => None,
    };
    rows.iter().filter_map(of).collect()
}

/// Packet k of a burst leaves after k ms, minus one for each earlier drop. The fifth has waited 5
/// ms at 5 ms, so the first drop is at 105 ms. Each next drop is due 100 ms / sqrt(count) after the
/// due time of the one before. It happens at the next departure, on a whole millisecond:
///
/// | count | due (ms) | drop at | packet: the time plus the drops before |
/// |---|---|---|---|
/// | 1 | 105 | 105 | 105 |
/// | 2 | 105 + 100 = 205 | 205 | 205 + 1 |
/// | 3 | 205 + 100/sqrt 2 = 275.71 | 276 | 276 + 2 |
/// | 4 | 275.71 + 100/sqrt 3 = 333.45 | 334 | 334 + 3 |
/// | 5 | 333.45 + 100/sqrt 4 = 383.45 | 384 | 384 + 4 |
/// | 6 | 383.45 + 100/sqrt 5 = 428.17 | 429 | 429 + 5 |
/// | 7 | 428.17 + 100/sqrt 6 = 468.99 | 469 | 469 + 6 |
#[test]
fn a_standing_burst_is_dropped_from_ever_faster() {
    let expected =
        [(105, 105), (206, 205), (278, 276), (337, 334), (388, 384), (434, 429), (475, 469)];
    assert_eq!(drops_of(&[(0, 1000)])[..7], expected);
}

/// 400 packets leave after five drops at count 5; the sixth is due at 428.17 ms. A second burst at
/// 1,000 ms reaches its first drop at 1,105 ms, within 16 intervals. So the count continues from
/// 4, one below 5. The next drops are due at 1105 + 100/sqrt 4 = 1155, then 100/sqrt 5 later at
/// 1199.72, 100/sqrt 6 later at 1240.55 and 100/sqrt 7 later at 1278.34.
#[test]
fn a_drop_state_soon_after_another_resumes_its_rate() {
    let at: Vec<u64> = drops_of(&[(0, 400), (1000, 300)]).iter().map(|drop| drop.1).collect();
    assert_eq!(at, [105, 205, 276, 334, 384, 1105, 1155, 1200, 1241, 1279]);
}

/// The second burst comes more than 16 intervals after 428.17 ms: from 2,028.17 ms on the count
/// starts at 1.
#[test]
fn a_drop_state_long_after_another_begins_anew() {
    let at =
        |ms| drops_of(&[(0, 400), (ms, 300)])[5..].iter().map(|drop| drop.1).collect::<Vec<_>>();
    assert_eq!(at(1_923)[..2], [2_028, 2_078], "2,028 - 428.17 is below 1,600");
    assert_eq!(at(1_924)[..2], [2_029, 2_129], "2,029 - 428.17 is above 1,600");
}

/// Packets of 1,000 bytes, one by one, with a target of 1 ns. With 1,000 bytes queued none is
/// dropped, however long it waits; without `mtu`, every second one.
#[test]
fn an_mtu_of_bytes_is_never_too_long_a_queue() {
    let drops_with = |mtu: f64| {
        let parameters = [("target", 1e3), ("interval", 1e6), ("mtu", mtu)];
        let mut bench = bench(&parameters, QueueLimit::Packets(100));
        // Three together, then one as each leaves: two are queued, and one when the next is
        // dequeued.
        (0..3).for_each(|_| bench.arrive(&Came { at_ps: 0, packet: SEGMENT }));
        (1..100).for_each(|n| bench.arrive(&Came { at_ps: n * MS, packet: SEGMENT }));
        bench.go_on(Time::MAX);
        drops(&bench.rows()).len()
    };
    assert_eq!(drops_with(1000.0), 0);
    assert!(drops_with(999.0) > 0);
}

#[test]
fn parameters_can_change_while_packets_wait() {
    let mut bench = bench(&[], QueueLimit::Packets(1000));
    (0..1000).for_each(|_| bench.arrive(&Came { at_ps: 0, packet: SEGMENT }));
    let never = DisciplineConfig {
        name: "codel".to_owned(),
        parameters: [("target".to_owned(), 1e13)].into(),
    };
    bench.go_on(Time::from_ps(300 * MS));
    bench.tm.set_discipline(Time::from_ps(300 * MS), 0, &never).expect("a parameter");
    bench.go_on(Time::MAX);
    let at: Vec<u64> = drops(&bench.rows()).iter().map(|drop| drop.1 / MS).collect();
    assert_eq!(at, [105, 205, 276], "a target of ten seconds ends the drop state");
}

/// The RFC's pseudocode in picoseconds and bytes; 0 is its "not set".
#[derive(Default)]
struct Pseudocode {
    queue: VecDeque<(u64, u64, u64)>,
    first_above_time: u64,
    drop_next: u64,
    count: u64,
    lastcount: u64,
    dropping: bool,
}

impl Pseudocode {
    fn control_law(interval: u64, t: u64, count: u64) -> u64 {
        t + (interval as f64 / (count as f64).sqrt()) as u64
    }

    fn dodequeue(
        &mut self,
        now: u64,
        (target, interval, mtu): (u64, u64, u64),
    ) -> (Option<u64>, bool) {
        let Some((packet, tstamp, _)) = self.queue.pop_front() else {
            self.first_above_time = 0;
            return (None, false);
        };
        let bytes: u64 = self.queue.iter().map(|one| one.2).sum();
        if now - tstamp < target || bytes <= mtu {
            self.first_above_time = 0;
        } else if self.first_above_time == 0 {
            self.first_above_time = now + interval;
        } else if now >= self.first_above_time {
            return (Some(packet), true);
        }
        (Some(packet), false)
    }

    fn deque(
        &mut self,
        now: u64,
        constants: (u64, u64, u64),
        drop: &mut Vec<(u64, u64)>,
    ) -> Option<u64> {
        let interval = constants.1;
        let mut r = self.dodequeue(now, constants);
        if self.dropping {
            if !r.1 {
                self.dropping = false;
            }
            while now >= self.drop_next && self.dropping {
                drop.extend(r.0.map(|packet| (packet, now)));
                self.count += 1;
                r = self.dodequeue(now, constants);
                if !r.1 {
                    self.dropping = false;
                } else {
                    self.drop_next = Self::control_law(interval, self.drop_next, self.count);
                }
            }
        } else if r.1 {
            drop.extend(r.0.map(|packet| (packet, now)));
            r = self.dodequeue(now, constants);
            self.dropping = true;
            let delta = self.count - self.lastcount;
            self.count = 1;
            if delta > 1 && (now as i64 - self.drop_next as i64) < 16 * interval as i64 {
                self.count = delta;
            }
            self.drop_next = Self::control_law(interval, now, self.count);
            self.lastcount = self.count;
        }
        r.0
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..Default::default() })]

    /// Bursts and pauses; the pseudocode gets a dequeue whenever ours did.
    #[test]
    fn what_it_drops_the_pseudocode_drops(
        bursts in prop::collection::vec((0u64..400_000, 1usize..60, 0u16..1460), 1..40),
        target_us in 100u64..20_000, interval_us in 1_000u64..200_000, mtu in 0u64..4_000,
    ) {
        let parameters =
            [("target", target_us as f64 * 1e6), ("interval", interval_us as f64 * 1e6), ("mtu", mtu as f64)];
        let mut bench = bench(&parameters, QueueLimit::Packets(100_000));
        let (mut at_us, mut arrivals) = (1, vec![]);
        for (pause_us, packets, payload) in bursts {
            at_us += pause_us;
            let packet = Segment { payload, ..SEGMENT };
            arrivals.extend((0..packets).map(|_| Came { at_ps: at_us * 1_000_000, packet }));
        }
        arrivals.iter().for_each(|came| bench.arrive(came));
        bench.go_on(Time::MAX);
        let starts: Vec<u64> = bench.sent.iter().map(|sent| sent.start_ps).collect();
        let constants = (target_us * 1_000_000, interval_us * 1_000_000, mtu);
        let (mut rfc, mut came) = (Pseudocode::default(), arrivals.iter().zip(0u64..).peekable());
        let (mut sent, mut dropped) = (vec![], vec![]);
        for &start in &starts {
            // A packet that arrives at the instant of a departure comes after it, so include such
            // packets only if necessary.
            while came.peek().is_some_and(|(came, _)| came.at_ps < start)
                || rfc.queue.is_empty() && came.peek().is_some()
            {
                let (came, number) = came.next().expect("it was there");
                rfc.queue.push_back((number, came.at_ps, came.packet.bytes()));
            }
            sent.extend(rfc.deque(start, constants, &mut dropped));
        }
        let numbers: Vec<u64> = bench.sent.iter().map(|sent| sent.number).collect();
        prop_assert_eq!(drops(&bench.rows()), dropped);
        prop_assert_eq!(numbers, sent);
    }
}
