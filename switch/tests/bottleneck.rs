//! The bottleneck program on the software target, compared byte by byte.

use crate::common::*;
use narrows_common::{Duration, Packet, Time};
use narrows_queueing::{DropReason, QueueEvent, QueueLimit};
use narrows_switch::{CloneSession, DefaultAction, Engine, Match, Replica, Switch};

fn at_us(us: u64) -> Time {
    Time::ZERO + Duration::from_us(us)
}

#[test]
fn forwards_with_new_addresses_ttl_and_checksum() {
    for virtual_zeros in [false, true] {
        let mut switch = bottleneck(None, QueueLimit::Packets(0));
        let sent = frame(1000, 7);
        let packet = if virtual_zeros { packet(1000, 7) } else { Packet::from_bytes(&sent) };
        switch.handle_packet(at_us(5), 1, packet.into());
        let got = switch.poll_transmit().expect("one packet");
        assert_eq!((got.port, got.start, got.end), (OUT, at_us(5), at_us(5)));
        assert_eq!(got.packet.zeros, if virtual_zeros { 946 } else { 0 });
        let mut expected = sent.clone();
        expected[..12].copy_from_slice(&[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1]);
        expected[22] = 63;
        expected[24..26].fill(0);
        let sum = checksum(&expected[14..34]);
        expected[24..26].copy_from_slice(&sum.to_be_bytes());
        assert_eq!(got.packet.to_bytes(), expected);
        assert_eq!(switch.poll_transmit(), None);
    }
}

#[test]
fn options_pass_and_count_in_the_checksum() {
    let mut switch = bottleneck(None, QueueLimit::Packets(0));
    let mut sent = frame(200, 7);
    sent.splice(34..34, [7u8, 11, 4, 1, 2, 3, 4, 5, 6, 7, 8, 1]);
    sent[14] = 0x48;
    sent[16..18].copy_from_slice(&198u16.to_be_bytes());
    sent[24..26].fill(0);
    let sum = checksum(&sent[14..46]);
    sent[24..26].copy_from_slice(&sum.to_be_bytes());
    switch.handle_packet(Time::ZERO, 1, Packet::from_bytes(&sent).into());
    let got = switch.poll_transmit().expect("it passes").packet.to_bytes();
    assert_eq!(got.len(), sent.len());
    assert_eq!(got[34..], sent[34..]);
    assert_eq!(checksum(&got[14..46]), 0, "the sum over header and checksum is zero");
    assert_eq!(switch.read_counter("drops", 1).unwrap().packets, 0);
}

#[test]
fn drops_are_counted_by_reason() {
    let mut switch = bottleneck(None, QueueLimit::Packets(0));
    let changed = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = frame(100, 1);
        change(&mut bytes);
        bytes[24..26].fill(0);
        let sum = checksum(&bytes[14..34]);
        bytes[24..26].copy_from_slice(&sum.to_be_bytes());
        Packet::from_bytes(&bytes)
    };
    let mut corrupt = frame(100, 1);
    corrupt[24] ^= 1;
    let short = frame(100, 1)[..30].to_vec();
    let cases = [
        ("wrong checksum", 1, Packet::from_bytes(&corrupt)),
        ("cut short", 1, Packet::from_bytes(&short)),
        ("ARP", 2, changed(&|bytes| bytes[13] = 6)),
        ("no route", 3, changed(&|bytes| bytes[30] = 11)),
        ("TTL 1", 4, changed(&|bytes| bytes[22] = 1)),
    ];
    for (name, reason, packet) in cases {
        let before = switch.read_counter("drops", reason).unwrap().packets;
        switch.handle_packet(Time::ZERO, 1, packet.into());
        let after = switch.read_counter("drops", reason).unwrap().packets;
        assert_eq!(after, before + 1, "{name}");
        assert_eq!(switch.poll_transmit(), None, "{name}");
    }
    assert_eq!(switch.statistics().dropped_ingress, 5);
}

#[test]
fn flows_are_named_by_entries_and_counted() {
    let mut switch = bottleneck(None, QueueLimit::Packets(0));
    let flow = entry(
        "flow",
        [
            ("hdr.ipv4.src_addr", Match::Exact("0x0a000101".into())),
            ("dst_port", Match::Ternary("80".into(), "0xffff".into())),
        ],
        "set_flow",
        [("flow_id", "42")],
    );
    switch.handle_packet(Time::ZERO, 1, packet(100, 1).into());
    switch.insert_entry(&flow).unwrap();
    switch.handle_packet(Time::ZERO, 1, packet(100, 1).into());
    switch.handle_packet(Time::ZERO, 1, packet(300, 1).into());
    let flows: Vec<u32> = switch.queue_records().iter().map(|record| record.flow).collect();
    assert_eq!(flows[2..], [42; 4]);
    assert!(flows[0] >= 0x8000_0000, "the hash has its top bit set: {:#x}", flows[0]);
    let count = switch.entry_count(&flow).unwrap();
    assert_eq!((count.packets, count.bytes), (2, 400));
}

/// Ten frames of 1,250 bytes arrive together at 10 Mb/s: 1 ms each.
#[test]
fn the_programs_delays_are_the_queues() {
    let mut switch = bottleneck(Some(10_000_000), QueueLimit::Packets(7));
    for sequence in 0..10 {
        switch.handle_packet(Time::ZERO, 1, packet(1250, sequence).into());
    }
    while let Some(at) = switch.poll_timeout() {
        switch.handle_timeout(at);
    }
    // One is in transmission, seven wait, two find the queue full.
    let reads = |name: &str| switch.read_register(name, u64::from(OUT)).unwrap();
    assert_eq!(reads("delay_count"), 8);
    assert_eq!(reads("delay_max"), 7_000_000);
    assert_eq!(reads("delay_sum"), (1..=7).sum::<u64>() * 1_000_000);
    let bucket = |b: u64| switch.read_register("delay_histogram", u64::from(OUT) * 64 + b).unwrap();
    // 0; 1 ms is in 2^19..2^20, 2 ms below 2^21, 3 and 4 ms below 2^22, 5 to 7 ms below 2^23.
    let found: Vec<u64> = (0..64).map(bucket).collect();
    let mut expected = vec![0; 64];
    (expected[0], expected[20], expected[21]) = (1, 1, 1);
    (expected[22], expected[23]) = (2, 3);
    assert_eq!(found, expected);
    let records = core::mem::take(switch.queue_records());
    let drops =
        records.iter().filter(|record| record.event == QueueEvent::Drop(DropReason::QUEUE_FULL));
    assert_eq!(drops.map(|record| record.packet).collect::<Vec<_>>(), [8, 9]);
    let starts: Vec<u64> =
        std::iter::from_fn(|| switch.poll_transmit()).map(|sent| sent.start.as_ns()).collect();
    assert_eq!(starts, (0..8).map(|i| i * 1_000_000).collect::<Vec<_>>());
}

#[test]
fn a_report_says_what_the_ledger_says() {
    let mut switch = bottleneck(Some(10_000_000), QueueLimit::Packets(100));
    switch.set_clone_session(CloneSession {
        id: 5,
        replicas: vec![Replica { port: COLLECTOR, rid: 0 }],
        truncate_bytes: None,
    });
    let port = |port: &str| Match::Exact(port.into());
    let every = [("every", "1"), ("session", "5")];
    let telemetry = entry("telemetry", [("egress_port", port("2"))], "report_every", every);
    switch.insert_entry(&telemetry).unwrap();
    let collector = [
        ("node_id", "9"),
        ("src_mac", "0x020000000011"),
        ("dst_mac", "0x020000000012"),
        ("src_addr", "0x0a000301"),
        ("dst_addr", "0x0a000302"),
        ("udp_port", "32766"),
    ];
    let collector = entry("collector", [("collector_port", port("3"))], "send_to", collector);
    switch.insert_entry(&collector).unwrap();
    for sequence in 0..4 {
        switch.handle_packet(at_us(u64::from(sequence) * 300), 1, packet(1250, sequence).into());
    }
    while let Some(at) = switch.poll_timeout() {
        switch.handle_timeout(at);
    }
    let records = core::mem::take(switch.queue_records());
    let dequeues: Vec<_> = records
        .iter()
        .filter(|record| record.event == QueueEvent::Dequeue && record.port == OUT)
        .collect();
    let reports: Vec<_> = std::iter::from_fn(|| switch.poll_transmit())
        .filter(|sent| sent.port == COLLECTOR)
        .map(|sent| (sent.start, sent.packet.to_bytes()))
        .collect();
    assert_eq!((dequeues.len(), reports.len()), (4, 4));
    for (i, (record, (at, report))) in dequeues.iter().zip(&reports).enumerate() {
        assert_eq!(record.at, *at, "reported when its transmission began");
        assert_eq!(record.sojourn, Duration::from_us(i as u64 * 700));
        assert_eq!(report[12..15], [8, 0, 0x45]);
        assert_eq!(checksum(&report[14..34]), 0);
        let total = u16::from_be_bytes([report[16], report[17]]);
        assert_eq!(report.len(), 14 + total as usize, "the frame is cut to its report");
        // The report has the delay as 32 bits, and the sequence number.
        let delay = (record.sojourn.as_ns() as u32).to_be_bytes();
        assert!(report[42..].windows(4).any(|bytes| bytes == delay), "delay in report {i}");
        let inner = &report[report.len() - 40..];
        assert_eq!(inner[0], 0x45, "the inner packet begins with its IPv4 header");
        assert_eq!(inner[24..28], (i as u32).to_be_bytes());
    }
}

#[test]
fn loss_has_the_probability_that_was_set() {
    let mut switch = bottleneck(None, QueueLimit::Packets(0));
    // One in eight.
    let threshold = [("loss", "0x20000000")];
    let loss = entry("loss", [("egress_port", Match::Exact("2".into()))], "lose_below", threshold);
    switch.insert_entry(&loss).unwrap();
    for sequence in 0..80_000 {
        switch.handle_packet(Time::ZERO, 1, packet(100, sequence).into());
    }
    let lost = switch.read_counter("drops", 5).unwrap().packets;
    // Six standard deviations of a binomial: sqrt(80,000 / 8 * 7 / 8) = 93.5.
    assert!((10_000 - 561..=10_000 + 561).contains(&lost), "{lost} of 80,000");
}

/// A switch that sends a packet towards OUT twice with probability `below` / 2^32.
fn duplicating(engine: Engine, rate_bps: Option<u64>, queue: u64, below: &str) -> Switch {
    let mut switch = bottleneck_on(engine, rate_bps, QueueLimit::Packets(queue));
    let key = [("egress_port", Match::Exact(OUT.to_string()))];
    let duplicate = entry("duplicate", key, "duplicate_below", [("duplicate", below)]);
    switch.insert_entry(&duplicate).unwrap();
    let replicas = [0, 1].map(|rid| Replica { port: OUT, rid });
    switch.set_multicast_group(u32::from(OUT) + 1, &replicas);
    switch
}

#[test]
fn duplication_has_the_probability_that_was_set() {
    let counts = [Engine::Native, Engine::Interpreter].map(|engine| {
        // One in eight.
        let mut switch = duplicating(engine, None, 0, "0x20000000");
        for sequence in 0..80_000 {
            switch.handle_packet(Time::ZERO, 1, packet(100, sequence).into());
        }
        let sent = std::iter::from_fn(|| switch.poll_transmit()).count() as u64;
        let twice = switch.read_counter("duplicates", u64::from(OUT)).unwrap().packets;
        assert_eq!((sent, switch.statistics().duplicated), (80_000 + twice, twice));
        twice
    });
    assert_eq!(counts[0], counts[1], "machine code draws as the interpreter does");
    // Six standard deviations of a binomial: sqrt(80,000 / 8 * 7 / 8) = 93.5.
    assert!((10_000 - 561..=10_000 + 561).contains(&counts[0]), "{} of 80,000", counts[0]);
}

/// Two packets arrive together, each twice: one of the four is in transmission, two wait, the last
/// finds the queue full.
#[test]
fn each_of_two_copies_is_queued_or_dropped_by_itself() {
    for engine in [Engine::Native, Engine::Interpreter] {
        let mut switch = duplicating(engine, Some(10_000_000), 2, "0xffffffff");
        for sequence in 0..2 {
            switch.handle_packet(Time::ZERO, 1, packet(1250, sequence).into());
        }
        while let Some(at) = switch.poll_timeout() {
            switch.handle_timeout(at);
        }
        let arrivals = switch.queue_records().iter().filter(|row| row.at == Time::ZERO);
        let arrivals: Vec<_> =
            arrivals.map(|row| (row.packet, row.event, row.is_duplicate)).collect();
        let full = QueueEvent::Drop(DropReason::QUEUE_FULL);
        let expected = [
            (0, QueueEvent::Enqueue, false),
            (0, QueueEvent::Dequeue, false),
            (1, QueueEvent::Enqueue, true),
            (2, QueueEvent::Enqueue, false),
            (3, full, true),
        ];
        assert_eq!(arrivals, expected);
        let sent: Vec<_> = std::iter::from_fn(|| switch.poll_transmit()).collect();
        let sequence = |at: usize| sent[at].packet.data[38..42].to_vec();
        assert_eq!([0, 1, 2].map(sequence), [[0; 4], [0; 4], [0, 0, 0, 1]].map(Vec::from));
        assert_eq!(sent[0].packet, sent[1].packet, "both have the new addresses");
        assert_eq!(switch.read_register("delay_count", u64::from(OUT)).unwrap(), 3);
        assert_eq!(switch.statistics().duplicated, 2);
    }
}

#[test]
fn names_that_do_not_fit_are_refused_by_name() {
    let mut switch = bottleneck(None, QueueLimit::Packets(0));
    let good = || {
        let lpm = Match::Lpm("0x0a000000".into(), 8);
        let params = [("port", "2"), ("src_mac", "1"), ("dst_mac", "2")];
        entry("ipv4_lpm", [("hdr.ipv4.dst_addr", lpm)], "route", params)
    };
    let mut refuse = |change: &dyn Fn(&mut narrows_switch::TableEntry), expected: &str| {
        let mut entry = good();
        change(&mut entry);
        let error = switch.insert_entry(&entry).unwrap_err().to_string();
        assert!(error.contains(expected), "'{error}' should contain '{expected}'");
    };
    refuse(&|e| e.table = "ipv5_lpm".into(), "no table 'ipv5_lpm'");
    refuse(&|e| e.action = "drop".into(), "action of table");
    refuse(&|e| drop(e.params.remove("port")), "'port' is missing");
    refuse(&|e| drop(e.params.insert("port".into(), "512".into())), "at most 9 bits");
    refuse(&|e| drop(e.params.insert("speed".into(), "1".into())), "'speed'");
    let lpm = |value: &str, length| Match::Lpm(value.into(), length);
    let set = |part: Match| {
        move |e: &mut narrows_switch::TableEntry| {
            e.matches.insert("hdr.ipv4.dst_addr".into(), part.clone());
        }
    };
    refuse(&set(lpm("0x0a", 33)), "prefix of 0 to 32");
    refuse(&set(lpm("ten", 8)), "'ten'");
    refuse(&set(lpm("0x100000000", 8)), "at most 32 bits");
    refuse(&set(Match::Range("1".into(), "2".into())), "kind lpm");
    refuse(&|e| drop(e.matches.insert("ttl".into(), lpm("1", 1))), "key field");
    let fixed = DefaultAction {
        table: "delay_log2".into(),
        action: "set_bucket".into(),
        params: strings([("number", "1")]),
    };
    switch.set_default_action(&fixed).expect("its default is not constant");
    let constant =
        entry("delay_log2", [("queue_delay", lpm("1", 32))], "set_bucket", [("number", "1")]);
    let error = switch.insert_entry(&constant).unwrap_err().to_string();
    assert!(error.contains("constant"), "{error}");
    switch.insert_entry(&good()).unwrap();
    assert!(switch.insert_entry(&good()).unwrap_err().to_string().contains("exists"));
    switch.delete_entry(&good()).unwrap();
    assert!(switch.delete_entry(&good()).unwrap_err().to_string().contains("no such entry"));
}
