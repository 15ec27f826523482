//! Compares machine code with the interpreter: both engines run the same random entries and
//! packets. After every packet the whole state must be equal, and fields may only have the bits
//! that `KnownBits` gives. The interpreter's packets keep all metadata while they wait; the test
//! overwrites what it must not read after that (`spoil`).

use super::known_bits::KnownBits;
use crate::config::{Engine, SwitchConfig};
use crate::control::{DefaultAction, Match, TableEntry};
use crate::ir::{self, Algorithm, Case, KeyField, MatchKind, Slot, internal};
use crate::program::Program;
use crate::state::{CloneSession, Replica};
use crate::switch::Switch;
use crate::v1model::{TimestampUnit, Transmit};
use narrows_common::{Duration, LengthBasis, Packet, Payload, Rng, Time};
use narrows_queueing::{DisciplineConfig, PortConfig, QueueLimit};
use std::collections::BTreeMap;
use std::sync::Arc;

const PORTS: u16 = 8;

fn switch(program: &Arc<Program>, engine: Engine) -> Switch {
    let port = |port: u16| PortConfig {
        port,
        // One port in two has a rate.
        rate_bps: (port % 2 == 1).then_some(1_000_000_000),
        queue: QueueLimit::Packets(4),
        discipline: DisciplineConfig::default(),
        counts: LengthBasis::Frame,
        queues: 2,
        classes: vec![],
        trace: None,
        record: true,
        pipeline: 0,
    };
    let config = SwitchConfig {
        ports: (0..PORTS).map(port).collect(),
        timestamp_unit: TimestampUnit::Us,
        flow_field: None,
        record_queue: true,
        engine,
        pipeline: 0,
    };
    let mut switch = Switch::new(program.clone(), config, Rng::from_seed(3)).expect("a switch");
    let replicas = [1, 2].map(|port| Replica { port, rid: port });
    for id in [0, 1, 5, 7] {
        let truncate_bytes = (id == 7).then_some(40);
        switch.set_clone_session(CloneSession { id, replicas: replicas.to_vec(), truncate_bytes });
        switch.set_multicast_group(id + 1, &replicas);
    }
    switch.set_multicast_group(3, &[0, 1].map(|rid| Replica { port: 2, rid }));
    switch
}

/// A number below 2^`width`, often a small one, so that ports, indices and matches coincide.
fn number(rng: &mut Rng, width: u32) -> u64 {
    let all = rng.range(0, u64::MAX - 1) & crate::ir::mask(width);
    if rng.range(0, 2) == 0 { all } else { all % 8 }
}

fn part(rng: &mut Rng, field: &KeyField) -> Match {
    let mut value = || number(rng, field.width.min(64));
    let (a, b) = (value(), value());
    match field.kind {
        MatchKind::Exact => Match::Exact(a.to_string()),
        MatchKind::Lpm => Match::Lpm(a.to_string(), (b % (u64::from(field.width) + 1)) as u32),
        MatchKind::Ternary => Match::Ternary(a.to_string(), b.to_string()),
        MatchKind::Range => Match::Range(a.min(b).to_string(), a.max(b).to_string()),
    }
}

/// What a controller does to a table.
enum Change {
    Insert(TableEntry),
    SetDefault(DefaultAction),
}

impl Change {
    fn apply(&self, name: &str, twins: &mut [Switch; 2]) {
        let results = twins.each_mut().map(|switch| match self {
            Change::Insert(entry) => switch.insert_entry(entry).is_ok(),
            Change::SetDefault(default) => switch.set_default_action(default).is_ok(),
        });
        assert_eq!(results[0], results[1], "{name}");
    }
}

/// The entries of every table and, for one table in four, one of them as its default action.
fn changes(program: &ir::Program, rng: &mut Rng) -> Vec<Change> {
    let mut changes = vec![];
    for entry in entries(program, rng) {
        if rng.range(0, 23) == 0 {
            let TableEntry { table, action, params, .. } = entry.clone();
            changes.push(Change::SetDefault(DefaultAction { table, action, params }));
        }
        changes.push(Change::Insert(entry));
    }
    changes
}

/// Entries with random keys and actions for every table.
fn entries(program: &ir::Program, rng: &mut Rng) -> Vec<TableEntry> {
    let mut entries = vec![];
    for table in &program.tables {
        for _ in 0..if table.actions.is_empty() { 0 } else { 6 } {
            let action = table.actions[rng.range(0, table.actions.len() as u64 - 1) as usize];
            let action = &program.actions[action as usize];
            let parameters = action.parameters.iter();
            entries.push(TableEntry {
                table: table.name.clone(),
                matches: table.key.iter().map(|f| (f.name.clone(), part(rng, f))).collect(),
                priority: 1 + rng.range(0, 9) as i32,
                action: action.name.clone(),
                params: parameters
                    .map(|p| (p.name.clone(), number(rng, p.width.min(64)).to_string()))
                    .collect::<BTreeMap<_, _>>(),
            });
        }
    }
    entries
}

/// The constants of the parser's selects, as bytes.
fn dictionary(program: &ir::Program) -> Vec<Vec<u8>> {
    let mut words = vec![];
    for case in program.selects.iter().flat_map(|select| &select.cases) {
        let Case::Value { parts, .. } = case else { continue };
        for &(value, mask) in parts {
            let bytes = (64 - mask.leading_zeros()).div_ceil(8).max(1) as usize;
            words.push(value.to_be_bytes()[8 - bytes..].to_vec());
        }
    }
    words
}

/// Random bytes, or an IPv4 packet with its checksum, in both cases with some words of the
/// dictionary.
fn packet(rng: &mut Rng, words: &[Vec<u8>]) -> Packet {
    let length = rng.range(0, 160) as usize;
    let mut data: Vec<u8> = (0..length).map(|_| number(rng, 8) as u8).collect();
    let ipv4 = [8, 0, 0x45, 0, 0, 60, 0, 0, 0, 0, 64, 6, 0, 0];
    if length >= 12 + ipv4.len() && rng.range(0, 1) == 0 {
        data[12..12 + ipv4.len()].copy_from_slice(&ipv4);
    }
    for _ in 0..if words.is_empty() { 0 } else { rng.range(0, 3) } {
        let word = &words[rng.range(0, words.len() as u64 - 1) as usize];
        let at = rng.range(0, 20) as usize;
        if at + word.len() <= data.len() {
            data[at..at + word.len()].copy_from_slice(word);
        }
    }
    if data.len() >= 34 && data[14] == 0x45 {
        data[24..26].fill(0);
        let sum = Algorithm::Csum16.digest(&[&data[14..34]], 0) as u16;
        data[24..26].copy_from_slice(&sum.to_be_bytes());
    }
    // The native twin sometimes gets half of the packet in a device's memory.
    let kept = (rng.range(0, 3) == 0).then(|| data.split_off(data.len() / 2));
    let payload = kept.map(Payload::leaked);
    let zeros = if rng.range(0, 3) == 0 { rng.range(0, 1400) as u32 } else { 0 };
    Packet { data, payload, zeros, ..Packet::default() }
}

/// All state that a packet can have changed, except sent packets.
fn state(switch: &Switch) -> String {
    let m = &switch.model.machine;
    format!(
        "{:?}{:?}{:?}{:?}",
        m.state.registers, m.state.counters, m.state.meters, m.state.direct_meters
    )
}

/// Runs both engines on several sets of entries; returns the number of packets that left.
fn compare(name: &str, json: &str, packets: u32) -> usize {
    let once = |seed| {
        let Ok(program) = Program::from_json(json) else { return 0 };
        assert_eq!(program.not_native(), None, "{name}");
        let Ok(mut keeps_all) = Program::from_json(json) else { return 0 };
        let keeps_all_ir = Arc::get_mut(&mut keeps_all.ir).expect("one owner");
        keeps_all_ir.bridged_end = keeps_all_ir.metadata_end;
        let programs = [Arc::new(program), Arc::new(keeps_all)];
        let left = compare_once(name, &programs, seed, packets);
        assert!(programs[0].whole_machine_code().is_some(), "{name}");
        left
    };
    (1..=4).map(once).sum()
}

/// Overwrites the slots that a packet does not carry to egress.
fn spoil(switch: &mut Switch) {
    let program = &switch.model.program;
    let ingress_only = program.egress_headers_end as usize..program.packet_end as usize;
    switch.model.machine.slots[ingress_only].fill(0x5a5a_5a5a_5a5a_5a5a);
}

fn compare_once(name: &str, programs: &[Arc<Program>; 2], seed: u64, packets: u32) -> usize {
    let mut twins =
        [switch(&programs[0], Engine::Native), switch(&programs[1], Engine::Interpreter)];
    let program = &*programs[0].ir;
    let known_bits = KnownBits::new(program);
    // The slots that `spoil` overwrites.
    let ingress_only = program.egress_headers_end..program.packet_end;
    let (mut rng, words) = (Rng::from_seed(seed), dictionary(program));
    let mut changes = changes(program, &mut rng).into_iter();
    // An odd seed's tables change before the first packet, an even one's also while packets wait:
    // then machine code for the tables in use gives way to that for all tables.
    let changes_at_once = if seed % 2 == 1 { usize::MAX } else { changes.len() / 8 };
    changes.by_ref().take(changes_at_once).for_each(|change| change.apply(name, &mut twins));
    let (mut now, mut left) = (Time::ZERO, 0);
    for i in 0..packets {
        if i % 8 == 7 {
            changes.by_ref().take(1).for_each(|change| change.apply(name, &mut twins));
        }
        now += Duration::from_us(number(&mut rng, 5));
        let (port, packet) = (number(&mut rng, 9) as u16, packet(&mut rng, &words));
        let copy = packet.clone();
        spoil(&mut twins[1]);
        twins[1].handle_timeout(now);
        let mut arriving = [packet, copy.clone()].into_iter();
        let sent = twins.each_mut().map(|switch| {
            switch.handle_packet(now, port, arriving.next().expect("one for each twin").into());
            let sent = std::iter::from_fn(|| switch.poll_transmit());
            sent.map(|sent| Transmit { packet: sent.packet.clone(), ..sent }).collect::<Vec<_>>()
        });
        assert_eq!(sent[0], sent[1], "{name}: packet {i}: {copy:?}");
        left += sent[0].len();
        let slots = twins.each_ref().map(|switch| &switch.model.machine.slots);
        let of_packets = 0..program.packet_end;
        // A packet that ingress drops leaves what only egress uses as the one before set it.
        let set = program.standard.set_at_dequeue().map(|field| field.slot);
        let is_stale = |slot: Slot| slot >= program.bridged_end && set.contains(&slot);
        let is_noted =
            |slot: Slot| usize::from(slot - internal::LOOK_UPS) < internal::LOOK_UPS_KEPT;
        let is_seen =
            |&slot: &Slot| !known_bits.is_private(slot) && !is_stale(slot) && !is_noted(slot);
        let differs = of_packets.clone().filter(is_seen);
        let differs = differs.map(usize::from).find(|&slot| slots[0][slot] != slots[1][slot]);
        assert_eq!(differs, None, "{name}: packet {i}: a slot after {copy:?}");
        let is_wide = |&slot: &Slot| slots[1][usize::from(slot)] & !known_bits.bits(slot) != 0;
        let wide = of_packets.filter(|slot| !(ingress_only.contains(slot))).find(is_wide);
        assert_eq!(wide, None, "{name}: packet {i}: a bit of a slot after {copy:?}");
        if i % 64 == 0 || i + 1 == packets {
            assert_eq!(state(&twins[0]), state(&twins[1]), "{name}: packet {i}");
        }
        let digests = twins.each_mut().map(|switch| switch.poll_digest());
        assert_eq!(digests[0], digests[1], "{name}: packet {i}");
    }
    assert_eq!(twins[0].statistics(), twins[1].statistics(), "{name}");
    left
}

/// Every program in `tests/programs`, and the bottleneck.
#[test]
fn both_engines_do_the_same() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let programs = std::fs::read_dir(root.join("tests/programs")).expect("programs");
    let mut paths: Vec<_> = programs.map(|file| file.expect("a file").path()).collect();
    paths.push(root.join("../p4/build/v1model.json"));
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    assert!(paths.len() > 5);
    let mut left = 0;
    for path in paths {
        let json = std::fs::read_to_string(&path).expect("a program");
        left += compare(&path.display().to_string(), &json, 1000);
    }
    assert!(left > 10_000, "{left} packets left");
}

/// A switch compiles the tables in use for its first packet, all of them for another table, and all
/// at once on request.
#[test]
fn machine_code_looks_up_the_tables_in_use() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../p4/build/v1model.json");
    let json = std::fs::read_to_string(path).expect("the bottleneck");
    let made = || {
        let program = Program::from_json(&json).expect("a program");
        switch(&Arc::new(program), Engine::Native)
    };
    let lacked = |switch: &Switch| {
        let tables = 0..switch.model.program.tables.len();
        tables.filter(|&table| switch.model.phases.lacks(table)).count()
    };
    let (mut lazy, mut whole) = (made(), made());
    whole.compile();
    for switch in [&mut lazy, &mut whole] {
        switch.handle_packet(Time::ZERO, 1, Packet::from_bytes(&[0; 60]).into());
    }
    assert_eq!(lacked(&whole), 0);
    assert!(lacked(&lazy) > 100, "{} tables", lacked(&lazy));
    let entry = TableEntry {
        table: "ipv4_lpm".to_owned(),
        matches: [("hdr.ipv4.dst_addr".to_owned(), Match::Lpm("0x0a000000".to_owned(), 8))].into(),
        priority: 0,
        action: "no_route".to_owned(),
        params: BTreeMap::new(),
    };
    lazy.insert_entry(&entry).expect("it fits");
    assert_eq!(lacked(&lazy), 0);
}

/// p4c's own compiled programs, if `NARROWS_STF_CORPUS` names their directory.
#[test]
#[ignore = "needs a directory of compiled programs in NARROWS_STF_CORPUS"]
fn both_engines_do_the_same_with_the_corpus() {
    let directory = std::env::var("NARROWS_STF_CORPUS").expect("NARROWS_STF_CORPUS is set");
    let mut left = 0;
    for file in std::fs::read_dir(directory).expect("a directory") {
        let path = file.expect("an entry").path();
        if path.extension().is_some_and(|extension| extension == "json") {
            let json = std::fs::read_to_string(&path).expect("a program");
            left += compare(&path.display().to_string(), &json, 100);
        }
    }
    assert!(left > 1000, "{left} packets left");
}
