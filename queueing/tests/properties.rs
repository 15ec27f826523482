//! Properties of every discipline in the list, for any input.

use crate::support::*;
use narrows_common::{Packet, Time};
use narrows_queueing::{
    DISCIPLINES, DROP_REASONS, Discipline, DisciplineConfig, DropReason, QueueEvent, QueueLimit,
    QueueRecord, Randomness, Record, TrafficManager, Unit,
};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

const RATE_BPS: u64 = 9_999_991;

/// Segments of three connections with gaps near a packet's time, bursts and pauses.
fn arrivals() -> impl Strategy<Value = Vec<Came>> {
    let gap = prop_oneof![Just(0u64), 0u64..2_000_000_000, 0u64..200_000_000_000];
    let payload = prop_oneof![Just(0u16), 1u16..1460, Just(1460u16)];
    prop::collection::vec((gap, 1u16..4, 0u32..2000, payload, 0u8..4), 1..150).prop_map(|steps| {
        let mut at_ps = 0;
        let came = |(gap, flow, ack, payload, ecn)| {
            at_ps += gap;
            Came { at_ps, packet: Segment { flow, ack, payload, ecn } }
        };
        steps.into_iter().map(came).collect()
    })
}

fn limit() -> impl Strategy<Value = QueueLimit> {
    prop_oneof![
        (0u64..60).prop_map(QueueLimit::Packets),
        (0u64..60_000).prop_map(QueueLimit::Bytes),
        (0u64..80_000_000_000).prop_map(QueueLimit::TimePs),
    ]
}

/// A discipline of the list, with parameters anywhere in their ranges or near their defaults.
fn discipline() -> impl Strategy<Value = (&'static Record, DisciplineConfig)> {
    let which = prop::sample::select(DISCIPLINES.iter().collect::<Vec<_>>());
    let choices = prop::collection::vec((0u8..4, 0.0f64..1.0), 16);
    (which, choices).prop_map(|(record, choices)| {
        let value = |known: &narrows_queueing::Parameter, (kind, share): (u8, f64)| {
            let value = match kind {
                0 => known.default,
                1 => known.min,
                2 => known.min + share * (known.max - known.min),
                _ => (known.default * (0.1 + share)).clamp(known.min, known.max),
            };
            if known.unit == Unit::Number { value } else { value.floor() }
        };
        let parameters = record.parameters.iter().zip(choices);
        let parameters = parameters
            .map(|(known, choice)| (known.name.to_owned(), value(known, choice)))
            .collect();
        (record, DisciplineConfig { name: record.name.to_owned(), parameters })
    })
}

fn bench(config: &DisciplineConfig, limit: QueueLimit) -> Bench<Discipline<Packet>> {
    let ports = [port(RATE_BPS, limit, config.clone())];
    Bench::new(TrafficManager::new(&ports, 0, true, 1).expect("a port"))
}

/// Checks the ledger: depths are sums, and each packet is stored or refused, and leaves once.
/// Returns the numbers of packets stored, sent and dropped.
fn check_ledger(record: &Record, limit: QueueLimit, rows: &[QueueRecord]) -> (u64, u64, u64) {
    let (mut waiting, mut left) = (BTreeMap::new(), BTreeSet::new());
    let (mut stored, mut dropped, mut bytes) = (0, 0, 0u64);
    let mut last = Time::ZERO;
    for row in rows {
        assert!(row.at >= last, "rows are in the order of time");
        last = row.at;
        let length = u64::from(row.length_bytes);
        match row.event {
            QueueEvent::Enqueue => {
                assert!(waiting.insert(row.packet, row.at).is_none(), "stored once");
                (stored, bytes) = (stored + 1, bytes + length);
            }
            QueueEvent::Dequeue => {
                let came = waiting.remove(&row.packet).expect("stored before");
                assert_eq!(row.sojourn, row.at.since(came));
                assert!(left.insert(row.packet), "left once");
                bytes -= length;
            }
            QueueEvent::Mark(_) => {}
            QueueEvent::Drop(reason) => {
                dropped += 1;
                let is_arriving = !left.contains(&row.packet) && !waiting.contains_key(&row.packet);
                check_cause(record, limit, reason, is_arriving, waiting.len(), bytes + length);
            }
        }
        assert_eq!((row.depth_packets as usize, row.depth_bytes), (waiting.len(), bytes));
    }
    (stored, left.len() as u64, dropped)
}

/// Every drop has a cause: a full queue, or a reason of the discipline.
fn check_cause(
    record: &Record,
    limit: QueueLimit,
    reason: DropReason,
    is_arriving: bool,
    packets: usize,
    bytes_with_it: u64,
) {
    if reason != DropReason::QUEUE_FULL {
        let known = record.drops.iter().any(|own| own.name == reason.name());
        assert!(known, "{} drops for '{}'", record.name, reason.name());
        return;
    }
    if is_arriving {
        let exceeds = match limit {
            QueueLimit::Packets(most) => packets as u64 >= most,
            QueueLimit::Bytes(most) => bytes_with_it > most,
            QueueLimit::TimePs(most) => {
                u128::from(bytes_with_it) * 8 * PS > u128::from(most) * u128::from(RATE_BPS)
            }
        };
        assert!(exceeds, "{packets} packets, {bytes_with_it} bytes with this one: {limit:?}");
    }
}

/// Lindley's recursion: a packet starts when its predecessor has ended, or on arrival at an idle
/// port. Ends of a busy period are `floor(begin + bits so far * 10^12 / rate)`.
fn check_departures(arrivals: &[Came], sent: &[Sent]) {
    let (mut begin, mut bits, mut end) = (0u128, 0u128, 0u128);
    for one in sent {
        let came = u128::from(arrivals[one.number as usize].at_ps);
        let start = u128::from(one.start_ps);
        assert!(start >= end, "one packet at a time");
        assert!(start == end || start == came, "an idle port sends what comes at once");
        if start > end {
            (begin, bits) = (start, 0);
        }
        bits += u128::from(one.bytes) * 8;
        end = begin + bits * PS / u128::from(RATE_BPS);
        assert_eq!(u128::from(one.end_ps), end, "packet {}", one.number);
    }
}

/// The port sends while packets are queued: between an end and a later start the queue is empty.
fn check_work_conservation(rows: &[QueueRecord], sent: &[Sent]) {
    let settled = || rows.windows(2).filter(|pair| pair[0].at < pair[1].at).map(|pair| pair[0]);
    for pair in sent.windows(2) {
        let (end, start) = (pair[0].end_ps, pair[1].start_ps);
        let mut idle = settled().filter(|row| (end..start).contains(&row.at.as_ps()));
        assert!(idle.all(|row| row.depth_packets == 0), "packets wait from {end} to {start}");
    }
}

/// First in, first out: all packets where the discipline claims it, else those of each flow with
/// the same ECN codepoint.
fn check_order(record: &Record, arrivals: &[Came], sent: &[Sent]) {
    let mut last = BTreeMap::new();
    for one in sent {
        let packet = arrivals[one.number as usize].packet;
        let class = if record.is_fifo { (0, 0) } else { (packet.flow, packet.ecn) };
        let before = last.insert(class, one.number);
        assert!(before < Some(one.number), "{} sends out of order", record.name);
    }
}

/// No mark without cause: a reason of the discipline's own, on a packet that can be marked, once;
/// and what is sent with a mark has one in the ledger.
fn check_marks(record: &Record, arrivals: &[Came], rows: &[QueueRecord], sent: &[Sent]) {
    let mut marked = BTreeSet::new();
    for row in rows {
        if let QueueEvent::Mark(reason) = row.event {
            let known = record.marks.iter().any(|own| own.name == reason.name());
            assert!(known, "{} marks for '{}'", record.name, reason.name());
            assert!(marked.insert(row.packet), "{}: marked once", record.name);
            assert_ne!(arrivals[row.packet as usize].packet.ecn, 0, "{}", record.name);
        }
    }
    for one in sent {
        assert_eq!(one.is_marked, marked.contains(&one.number), "{}", record.name);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..Default::default() })]

    #[test]
    fn packets_are_conserved_and_served_as_the_discipline_claims(
        (record, config) in discipline(), limit in limit(), arrivals in arrivals(),
    ) {
        let mut bench = bench(&config, limit);
        arrivals.iter().for_each(|came| bench.arrive(came));
        let last = Time::from_ps(arrivals.last().map_or(0, |came| came.at_ps));
        bench.go_on(last);
        let before = bench.tm.statistics(0);
        prop_assert_eq!(before.enqueued + before.refused, arrivals.len() as u64);
        prop_assert_eq!(before.enqueued, before.dequeued + before.waiting_packets);
        bench.go_on(Time::MAX);
        let (rows, done) = (bench.rows(), bench.tm.statistics(0));
        let (stored, left, dropped) = check_ledger(record, limit, &rows);
        prop_assert_eq!((stored, left, dropped), (done.enqueued, done.dequeued, done.drops.total()));
        prop_assert_eq!((done.waiting_packets, done.waiting_bytes), (0, 0));
        prop_assert_eq!(bench.dropped, dropped);
        prop_assert_eq!(bench.sent.len() as u64 + dropped, arrivals.len() as u64);
        check_order(record, &arrivals, &bench.sent);
        check_marks(record, &arrivals, &rows, &bench.sent);
        check_departures(&arrivals, &bench.sent);
        check_work_conservation(&rows, &bench.sent);
    }

    /// A packet that bypasses the queue of an idle port leaves the same rows and counts, and the
    /// same port, as one that the queue stores and gives back.
    #[test]
    fn a_packet_past_an_idle_queue_leaves_the_same_traces(
        limit in limit(), arrivals in arrivals(),
    ) {
        let [mut plain, mut passing] = [(); 2].map(|()| bench(&DisciplineConfig::default(), limit));
        let mut passed = 0;
        for came in &arrivals {
            plain.arrive(came);
            passed += u64::from(passing.arrive_or_pass(came));
            prop_assert_eq!(plain.tm.statistics(0), passing.tm.statistics(0));
            prop_assert_eq!(plain.tm.next_due(), passing.tm.next_due());
        }
        plain.go_on(Time::MAX);
        passing.go_on(Time::MAX);
        prop_assert!(passed > 0, "the first packet finds an idle port");
        prop_assert_eq!(plain.rows(), passing.rows());
        prop_assert_eq!(&plain.sent, &passing.sent);
        prop_assert_eq!(plain.dropped, passing.dropped);
        prop_assert_eq!(plain.tm.waited(0, Time::MAX), passing.tm.waited(0, Time::MAX));
    }

    /// A change of discipline neither loses nor duplicates packets, and keeps their order.
    #[test]
    fn a_change_of_discipline_moves_the_packets_that_wait(
        (_, first) in discipline(), (_, second) in discipline(), arrivals in arrivals(), at in 0.0f64..1.0,
    ) {
        let mut bench = bench(&first, QueueLimit::Packets(1000));
        let change = (arrivals.len() as f64 * at) as usize;
        for (i, came) in arrivals.iter().enumerate() {
            if i == change {
                let now = Time::from_ps(came.at_ps);
                bench.go_on(now);
                bench.tm.set_discipline(now, 0, &second).expect("it is of the list");
            }
            bench.arrive(came);
        }
        bench.go_on(Time::MAX);
        let done = bench.tm.statistics(0);
        prop_assert_eq!(done.enqueued + done.refused, arrivals.len() as u64);
        prop_assert_eq!(done.enqueued, done.dequeued);
        prop_assert_eq!(bench.sent.len() as u64 + done.drops.total(), arrivals.len() as u64);
        prop_assert_eq!(done.waiting_packets, 0);
        check_departures(&arrivals, &bench.sent);
    }
}

#[test]
fn names_are_the_lists_own_and_defaults_are_in_their_ranges() {
    let names: BTreeSet<_> = DISCIPLINES.iter().map(|record| record.name).collect();
    assert_eq!(names.len(), DISCIPLINES.len());
    let reasons: BTreeSet<_> = DROP_REASONS.iter().map(|reason| reason.name).collect();
    assert_eq!(reasons.len(), DROP_REASONS.len());
    for (reason, known) in DropReason::all().zip(DROP_REASONS) {
        assert_eq!(reason.name(), known.name);
    }
    for record in DISCIPLINES {
        let config = DisciplineConfig::named(record.name);
        let made =
            Discipline::<Packet>::build(&config, Randomness::given(vec![])).expect("its defaults");
        assert_eq!(made.record().name, record.name);
        for known in record.parameters {
            assert!((known.min..=known.max).contains(&known.default), "{}", known.name);
        }
    }
}

#[test]
fn what_does_not_fit_is_refused_by_name() {
    let refused = |name: &str, parameter: &str, value: f64| {
        let parameters = BTreeMap::from([(parameter.to_owned(), value)]);
        let config = DisciplineConfig { name: name.to_owned(), parameters };
        config.resolve().expect_err("it does not fit").to_string()
    };
    let unknown = refused("red-ish", "x", 1.0);
    assert!(unknown.contains("'red-ish'") && unknown.contains("drop-tail, "), "{unknown}");
    let none = refused("drop-tail", "target", 1.0);
    assert!(none.contains("no parameter 'target'; expected none"), "{none}");
    for record in DISCIPLINES {
        for known in record.parameters {
            let above = refused(record.name, known.name, known.max * 2.0 + 1.0);
            assert!(above.contains(known.name) && above.contains(record.name), "{above}");
            if known.unit != Unit::Number {
                refused(record.name, known.name, known.min + 0.5);
            }
        }
    }
}

#[test]
fn a_plan_writes_a_discipline_as_its_name_or_with_parameters() {
    let read = |json: &str| serde_json::from_str::<DisciplineConfig>(json);
    assert_eq!(read(r#""ack-filter""#).unwrap(), DisciplineConfig::named("ack-filter"));
    let whole = read(r#"{"name": "any", "parameters": {"target": 5000000000}}"#).unwrap();
    assert_eq!(whole.parameters["target"], 5e9);
    assert!(read(r#"{"name": "any", "target": 5}"#).is_err());
}
