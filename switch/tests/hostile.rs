//! Foreign, truncated and mutated programs, and corrupt packets, cause an error that names the
//! object, or a run that ends; never a panic.

use crate::common::*;
use narrows_common::{Packet, Rng, Time};
use narrows_queueing::QueueLimit;
use narrows_switch::{
    CloneSession, Engine, LoadError, Match, Program, Replica, Statistics, Switch, SwitchConfig,
    Transmit,
};
use proptest::prelude::*;
use serde_json::Value;
use std::sync::Arc;

/// Machine code for one case in ten, because compiling takes longer than all the rest.
fn engine() -> impl Strategy<Value = Engine> {
    prop_oneof![1 => Just(Engine::Native), 9 => Just(Engine::Interpreter)]
}

/// Loads the program and, if that succeeds, runs packets. Any output is right, but it must end.
fn survive(engine: Engine, text: &str, packets: &[Vec<u8>]) -> Result<(), LoadError> {
    run(engine, &Arc::new(Program::from_json(text)?), packets);
    Ok(())
}

/// What packets become, and what the switch counts.
fn run(engine: Engine, program: &Arc<Program>, packets: &[Vec<u8>]) -> (Vec<Transmit>, Statistics) {
    let ports = vec![
        port(1, None, QueueLimit::Packets(0)),
        port(OUT, Some(1_000_000), QueueLimit::Packets(3)),
        port(COLLECTOR, Some(1_000_000), QueueLimit::Bytes(3000)),
    ];
    let config = SwitchConfig { flow_field: None, engine, ..config(ports) };
    let mut switch = Switch::new(program.clone(), config, Rng::from_seed(1)).unwrap();
    switch.set_clone_session(CloneSession {
        id: 5,
        replicas: vec![Replica { port: COLLECTOR, rid: 1 }],
        truncate_bytes: Some(60),
    });
    switch.set_multicast_group(1, &[Replica { port: OUT, rid: 1 }, Replica { port: 1, rid: 2 }]);
    let lpm = Match::Lpm("0x0a000200".into(), 24);
    let params = [("port", "2"), ("src_mac", "1"), ("dst_mac", "2")];
    let _ = switch.insert_entry(&entry("ipv4_lpm", [("hdr.ipv4.dst_addr", lpm)], "route", params));
    let every = [("every", "1"), ("session", "5")];
    let telemetry = [("egress_port", Match::Exact("2".into()))];
    let _ = switch.insert_entry(&entry("telemetry", telemetry, "report_every", every));
    for (i, bytes) in packets.iter().enumerate() {
        switch.handle_packet(Time::from_ps(i as u64), 1, Packet::from_bytes(bytes).into());
    }
    switch.handle_timeout(Time::from_ps(1 << 50));
    (std::iter::from_fn(|| switch.poll_transmit()).collect(), switch.statistics())
}

/// The number of values in a tree.
fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(items) => items.values().map(count).sum(),
        _ => 0,
    }
}

/// Changes the `at`-th value of a tree, depth-first; false if a parent was deleted.
fn mutate(value: &mut Value, at: &mut usize, change: &Change) {
    if *at == 0 {
        *at = usize::MAX;
        change.apply(value);
        return;
    }
    *at -= 1;
    match value {
        Value::Array(items) => {
            for item in items {
                if *at != usize::MAX {
                    mutate(item, at, change);
                }
            }
        }
        Value::Object(items) => {
            for (_, item) in items {
                if *at != usize::MAX {
                    mutate(item, at, change);
                }
            }
        }
        _ => {}
    }
}

#[derive(Clone, Debug)]
enum Change {
    Null,
    Number(i64),
    Text(String),
    Boolean(bool),
    /// Removes a member or item, or shortens a text.
    Remove(usize),
    /// Repeats an item.
    Double(usize),
    RenameKey(usize),
    /// Adds to a number, or changes the last character of a text.
    Nudge(i64),
}

impl Change {
    fn apply(&self, value: &mut Value) {
        match (self, value) {
            (Change::Null, value) => *value = Value::Null,
            (Change::Number(n), value) => *value = Value::from(*n),
            (Change::Text(text), value) => *value = Value::from(text.as_str()),
            (Change::Boolean(b), value) => *value = Value::from(*b),
            (Change::Remove(i), Value::Array(items)) if !items.is_empty() => {
                items.remove(i % items.len());
            }
            (Change::Remove(i) | Change::RenameKey(i), Value::Object(items))
                if !items.is_empty() =>
            {
                let key = items.keys().nth(i % items.len()).cloned().unwrap();
                let removed = items.remove(&key).unwrap();
                if matches!(self, Change::RenameKey(_)) {
                    items.insert(format!("{key}_"), removed);
                }
            }
            (Change::Double(i), Value::Array(items)) if !items.is_empty() => {
                let item = items[i % items.len()].clone();
                items.push(item);
            }
            (Change::Nudge(n), Value::Number(number)) => {
                let nudged = number.as_i64().unwrap_or(0).wrapping_add(*n);
                *number = nudged.into();
            }
            (Change::Nudge(n), Value::String(text)) => {
                text.pop();
                text.push(char::from(b'0' + (n.unsigned_abs() % 50) as u8));
            }
            (_, value) => *value = Value::Null,
        }
    }
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        Just(Change::Null),
        prop_oneof![Just(-1i64), Just(0), Just(1), 0i64..3000, any::<i64>()]
            .prop_map(Change::Number),
        prop::sample::select(vec![
            "",
            "0x0",
            "-0x1",
            "0xffffffffffffffffffff",
            "*",
            "field",
            "header",
            "$valid$",
            "expression",
            "hexstr",
            "scalars",
            "ipv4",
            "tcp",
            "ethernet",
            "_jump",
            "assign",
            "extract",
            "lpm",
            "range",
            "ternary",
            "stack",
            "NoAction",
            "egress",
            "ingress",
            "standard_metadata"
        ])
        .prop_map(|text| Change::Text(text.to_owned())),
        any::<bool>().prop_map(Change::Boolean),
        (0usize..40).prop_map(Change::Remove),
        (0usize..40).prop_map(Change::Double),
        (0usize..40).prop_map(Change::RenameKey),
        (-300i64..300).prop_map(Change::Nudge),
    ]
}

/// `make fuzz` sets how many times more cases there are than in `make test`.
fn cases(number: u32) -> u32 {
    let scale = std::env::var("NARROWS_FUZZ_SCALE").ok().and_then(|text| text.parse().ok());
    number * scale.unwrap_or(1)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(150), failure_persistence: None, ..Default::default() })]

    #[test]
    fn mutated_programs_load_or_do_not(
        engine in engine(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), change()), 1..4),
        noise in prop::collection::vec(any::<u8>(), 0..120),
    ) {
        let mut root: Value = program().clone();
        let nodes = count(&root);
        for (at, change) in &changes {
            mutate(&mut root, &mut at.index(nodes), change);
        }
        let frames = [frame(100, 1), frame(1500, 2), noise, frame(60, 3)];
        let _ = survive(engine, &root.to_string(), &frames);
    }

    #[test]
    fn corrupt_packets_pass_or_are_dropped(
        engine in engine(),
        flips in prop::collection::vec((0usize..200, any::<u8>()), 0..12),
        cut in 0usize..200,
        noise in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        let mut bytes = frame(200, 1);
        for (at, value) in flips {
            bytes[at] = value;
        }
        let whole = bytes.clone();
        bytes.truncate(cut);
        survive(engine, BOTTLENECK_JSON, &[whole, bytes, noise]).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(30), failure_persistence: None, ..Default::default() })]

    #[test]
    fn both_engines_do_the_same(
        flips in prop::collection::vec((0usize..200, any::<u8>()), 0..8),
        cut in 0usize..200,
        noise in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        let mut bytes = frame(200, 1);
        for (at, value) in flips {
            bytes[at] = value;
        }
        let packets = [bytes.clone(), bytes[..cut].to_vec(), noise, frame(60, 2)];
        let native = run(Engine::Native, &bottleneck_program(), &packets);
        let interpreted = run(Engine::Interpreter, &bottleneck_program(), &packets);
        prop_assert_eq!(native, interpreted);
    }
}

/// The program without its source notes, which the loader ignores.
fn program() -> &'static Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(strip),
            Value::Object(items) => {
                items.remove("source_info");
                items.values_mut().for_each(strip);
            }
            _ => {}
        }
    }
    static ROOT: std::sync::OnceLock<Value> = std::sync::OnceLock::new();
    ROOT.get_or_init(|| {
        let mut root = serde_json::from_str(BOTTLENECK_JSON).unwrap();
        strip(&mut root);
        root
    })
}

#[test]
fn what_is_no_program_is_refused() {
    for cut in [0, 1, 100, 10_000, BOTTLENECK_JSON.len() - 2] {
        let error = Program::from_json(&BOTTLENECK_JSON[..cut]).unwrap_err();
        assert!(matches!(error, LoadError::Json(_)), "{error}");
    }
    for foreign in ["{}", "[]", "null", "7", "{\"header_types\": []}", "{\"name\": \"package\"}"] {
        let error = Program::from_json(foreign).unwrap_err().to_string();
        assert!(error.contains("not a bmv2 JSON program"), "{foreign}: {error}");
    }
}

#[test]
fn errors_name_the_thing() {
    let refuse = |from: &str, to: &str, expected: &[&str]| {
        let text = program().to_string();
        assert!(text.contains(from), "'{from}' is in the program");
        let error = Program::from_json(&text.replace(from, to)).unwrap_err().to_string();
        for part in expected {
            assert!(error.contains(part), "'{error}' should name '{part}'");
        }
    };
    refuse(r#""op":"mark_to_drop""#, r#""op":"drop_gently""#, &["action", "drop_gently"]);
    refuse(r#""op":"modify_field_rng_uniform""#, r#""op":"rng""#, &["loss", "'rng'"]);
    refuse(r#""algo":"crc32""#, r#""algo":"md5""#, &["calculation 'calc", "'md5'"]);
    refuse(r#""match_type":"lpm""#, r#""match_type":"longest""#, &["table", "'longest'"]);
    refuse(r#"["tcp","src_port"]"#, r#"["tcp","sport"]"#, &["tcp_t.sport"]);
    refuse(r#""op":"<=""#, r#""op":"=<""#, &["'=<'"]);
    refuse(r#""next_state":"parse_tcp""#, r#""next_state":"parse_sctp""#, &["'parse_sctp'"]);
    refuse(r#""name":"egress""#, r#""name":"outgress""#, &["pipeline", "'egress'"]);
    refuse(r#""type":"simple""#, r#""type":"indirect""#, &["table", "action profile"]);
    refuse(r#""type":"simple""#, r#""type":"keyless""#, &["table", "'keyless'"]);
}

/// An endless parser times out; an endless control is aborted.
#[test]
fn endless_loops_end() {
    let text = program().to_string();
    let looped = text.replace(r#""next_state":"parse_l4""#, r#""next_state":"start""#);
    assert_ne!(looped, text);
    survive(Engine::Native, &looped, &[frame(100, 1)]).unwrap();
    survive(Engine::Interpreter, &looped, &[frame(100, 1)]).unwrap();
    let mut root = program().clone();
    for pipeline in root["pipelines"].as_array_mut().unwrap() {
        let first = pipeline["init_table"].clone();
        for table in pipeline["tables"].as_array_mut().unwrap() {
            for (_, next) in table["next_tables"].as_object_mut().unwrap() {
                *next = first.clone();
            }
        }
    }
    survive(Engine::Native, &root.to_string(), &[frame(100, 1)]).unwrap();
    survive(Engine::Interpreter, &root.to_string(), &[frame(100, 1)]).unwrap();
}
