//! RED packet by packet against a recording of ns-2.35 (recordings/red.tcl): the same arrivals and
//! the same random numbers give the same average, the same max_p and the same drops.

use crate::support::*;
use narrows_common::{Packet, Time};
use narrows_queueing::{
    Backlog, Discipline, DisciplineConfig, Outcomes, QueueDiscipline, QueueEvent, QueueLimit,
    Queued, Randomness, Room, TrafficManager,
};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

const RATE_BPS: u64 = 10_000_000;

/// A row: an arrival, RED's state after it, and the n-th random number in the n-th row.
struct Row {
    came: Came,
    average: f64,
    max_p: f64,
    random: f64,
    is_dropped: bool,
}

fn recording(run: &str) -> Vec<Row> {
    let text = include_str!("recordings/red.csv");
    let rows = text.lines().filter(|line| line.starts_with(&format!("{run},")));
    let row = |line: &str| {
        let cells: Vec<_> = line.split(',').collect();
        let number = |at: usize| cells[at].parse::<f64>().expect("a number");
        let payload = cells[2].parse::<u16>().expect("a length") - 54;
        let packet = Segment { flow: 1, ack: 0, payload, ecn: 2 };
        let at_ps = cells[1].parse::<u64>().expect("a time") * 1000;
        Row {
            came: Came { at_ps, packet },
            average: number(3),
            max_p: number(4),
            random: number(5),
            is_dropped: cells[6] == "dropped",
        }
    };
    rows.map(row).collect()
}

/// RED that notes its average and max_p after each arrival.
struct Probe {
    inner: Discipline<Packet>,
    states: Rc<RefCell<Vec<(f64, f64)>>>,
}

impl QueueDiscipline<Packet> for Probe {
    fn enqueue(
        &mut self,
        packet: Queued<Packet>,
        now: Time,
        room: &Room,
        out: &mut Outcomes<Packet>,
    ) {
        self.inner.enqueue(packet, now, room, out);
        if let Discipline::Red(red) = &self.inner {
            self.states.borrow_mut().push((red.average(), red.max_p()));
        }
    }
    fn dequeue(&mut self, now: Time, out: &mut Outcomes<Packet>) -> Option<Queued<Packet>> {
        self.inner.dequeue(now, out)
    }
    fn backlog(&self) -> Backlog {
        self.inner.backlog()
    }
    fn visit(&self, each: &mut dyn FnMut(&Queued<Packet>)) {
        self.inner.visit(each);
    }
    fn hand_over(&mut self) -> Option<Queued<Packet>> {
        self.inner.hand_over()
    }
}

/// What the packets of a recording meet here: RED's states, dropped packets, marked packets.
struct Replayed {
    states: Vec<(f64, f64)>,
    dropped: BTreeSet<usize>,
    marked: BTreeSet<usize>,
}

fn replay(rows: &[Row], parameters: &[(&str, f64)]) -> Replayed {
    let parameters = [&[("weight", 0.02)], parameters].concat();
    let parameters = parameters.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
    let config = DisciplineConfig { name: "red".to_owned(), parameters };
    let states = Rc::default();
    let make = |config: &_, _| {
        let numbers = Randomness::given(rows.iter().map(|row| row.random).collect());
        Ok(Probe { inner: Discipline::build(config, numbers)?, states: Rc::clone(&states) })
    };
    let ports = [port(RATE_BPS, QueueLimit::Packets(60), config)];
    let tm = TrafficManager::with(&ports, 0, true, 1, make).expect("a port");
    let mut bench = Bench::new(tm);
    rows.iter().for_each(|row| bench.arrive(&row.came));
    bench.go_on(Time::MAX);
    let (mut dropped, mut marked) = (BTreeSet::new(), BTreeSet::new());
    for row in bench.rows() {
        match row.event {
            QueueEvent::Drop(_) => dropped.insert(row.packet as usize),
            QueueEvent::Mark(_) => marked.insert(row.packet as usize),
            _ => false,
        };
    }
    Replayed { states: states.take(), dropped, marked }
}

/// ns-2 writes six digits of its average.
const DIGITS: f64 = 1e-5;

fn check(run: &str, parameters: &[(&str, f64)]) {
    let rows = recording(run);
    assert_eq!(rows.len(), 1000);
    let ours = replay(&rows, parameters);
    for (n, row) in rows.iter().enumerate() {
        let (average, max_p) = ours.states[n];
        let near = |a: f64, b: f64| (a - b).abs() <= DIGITS * b.abs() + 1e-9;
        assert!(near(average, row.average), "{run}, row {n}: {average}, {}", row.average);
        assert!(near(max_p, row.max_p), "{run}, row {n}: max_p {max_p}, {}", row.max_p);
        assert_eq!(ours.dropped.contains(&n), row.is_dropped, "{run}, row {n}");
    }
    let least = rows.iter().filter(|row| row.is_dropped).count();
    assert!(least > 50 && rows.iter().any(|row| row.average > 15.0), "the recording has drops");
}

#[test]
fn red_drops_what_ns_2_drops() {
    check("red", &[("gentle", 0.0)]);
}

#[test]
fn gentle_red_drops_what_ns_2_drops() {
    check("gentle", &[]);
}

#[test]
fn adaptive_red_drops_what_ns_2_drops() {
    check("adaptive", &[("adaptive", 1.0), ("interval", 5e10), ("gentle", 0.0)]);
}

/// Up to the first early drop all is the same; a mark takes its place.
#[test]
fn with_ecn_the_first_early_drop_is_a_mark() {
    let rows = recording("gentle");
    let first = rows.iter().position(|row| row.is_dropped).expect("a drop");
    let ours = replay(&rows, &[("ecn", 1.0)]);
    assert_eq!(ours.marked.first(), Some(&first));
    assert!(ours.dropped.first().is_none_or(|&drop| drop > first));
}
