//! Runs our own programs and STF tests, and p4c's if available.

use crate::common;
use narrows_common::{Packet, Rng, Time};
use narrows_queueing::QueueLimit;
use narrows_switch::{Match, Program, Switch, SwitchConfig, stf};
use std::sync::Arc;

fn check(json: &str, test: &str) {
    let program = Program::from_json(json).unwrap_or_else(|error| panic!("{error}"));
    if let Err(errors) = stf::run(Arc::new(program), test) {
        let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
        panic!("{}", lines.join("\n"));
    }
}

/// Defines a test for each program of `programs/` that has an STF file.
macro_rules! stf_tests {
    ($($name:ident)*) => {$(
        #[test]
        fn $name() {
            check(
                include_str!(concat!("programs/", stringify!($name), ".json")),
                include_str!(concat!("stf/", stringify!($name), ".stf")),
            );
        }
    )*};
}

stf_tests!(branches externs lifetimes profiles replicate stacks tables unions);

/// Kind 7 means labels only while the value set contains it.
#[test]
fn a_value_set_is_changed_at_run_time() {
    let program = Program::from_json(include_str!("programs/stacks.json")).unwrap();
    let ports = vec![common::port(1, None, QueueLimit::Packets(0))];
    let config = SwitchConfig { flow_field: None, ..common::config(ports) };
    let mut switch = Switch::new(Arc::new(program), config, Rng::from_seed(1)).unwrap();
    let send = |switch: &mut Switch| {
        switch.handle_packet(Time::ZERO, 0, Packet::from_bytes(&[7, 0, 0x0f]).into());
        switch.poll_transmit().unwrap().packet.to_bytes()
    };
    assert_eq!(send(&mut switch), [7, 0, 0, 0x0f], "a byte is skipped, two of a verdict come");
    let set = |switch: &mut Switch, part: Option<Match>| {
        switch.set_value_set("special", &[vec![part]]).unwrap();
        send(switch).len()
    };
    // With labels the packet gains six bytes and loses the skipped one.
    let text = |value: &str| value.to_owned();
    assert_eq!(set(&mut switch, Some(Match::Exact(text("7")))), 7);
    assert_eq!(set(&mut switch, Some(Match::Exact(text("8")))), 4);
    assert_eq!(set(&mut switch, Some(Match::Ternary(text("0x85"), text("0x0d")))), 7);
    assert_eq!(set(&mut switch, Some(Match::Ternary(text("0x85"), text("0xfd")))), 4);
    assert_eq!(set(&mut switch, Some(Match::Lpm(text("0x06"), 7))), 7);
    assert_eq!(set(&mut switch, Some(Match::Lpm(text("0x06"), 8))), 4);
    assert_eq!(set(&mut switch, Some(Match::Range(text("5"), text("7")))), 7);
    assert_eq!(set(&mut switch, Some(Match::Range(text("8"), text("255")))), 4);
    assert_eq!(set(&mut switch, None), 7);
    let mut refused = |parts: &[&str]| {
        let parts = parts.iter().map(|part| Some(Match::Exact(text(part)))).collect();
        switch.set_value_set("special", &[parts]).is_err()
    };
    assert!(refused(&["256"]) && refused(&["1", "2"]));
}

/// Checks that the runner can fail.
#[test]
fn one_wrong_digit_is_a_failure() {
    let json = include_str!("programs/replicate.json");
    let run = |test: &str| {
        let program = Program::from_json(json).unwrap();
        stf::run(Arc::new(program), test).map_err(|errors| errors[0].to_string())
    };
    let test = "packet 0 00ff00000000abcd\nexpect 1 0000110000**abc";
    assert_eq!(run(&format!("{test}d")), Ok(()));
    let error = run(&format!("{test}c")).unwrap_err();
    assert!(error.starts_with("line 2: port 1: packet 0: digit 15 differs"), "{error}");
    assert!(run(&format!("{test}$")).unwrap_err().contains("16 digits instead of 15"));
    assert!(run("expect 1 00").unwrap_err().contains("did not come"));
    assert!(run("packet 0 00\npacket 0 01\nexpect 1").unwrap_err().contains("too many"));
    assert!(run("packet 0 00\ncheck_counter passes(0) packets == 2").is_err());
    assert!(run("launch 1").unwrap_err().contains("'launch' is not supported"));
}

/// Every `NAME.json` with its `NAME.stf` in the directory `NARROWS_STF_CORPUS`: p4c's
/// `testdata/p4_16_samples/*-bmv2.stf` and its compiled programs.
#[test]
#[ignore = "needs a directory of compiled programs in NARROWS_STF_CORPUS"]
fn corpus() {
    let directory = std::env::var("NARROWS_STF_CORPUS").expect("NARROWS_STF_CORPUS is set");
    let (mut passed, mut failed) = (0, vec![]);
    for file in std::fs::read_dir(directory).expect("a directory") {
        let path = file.expect("an entry").path();
        let Ok(test) = std::fs::read_to_string(path.with_extension("stf")) else { continue };
        let Ok(json) = std::fs::read_to_string(path.with_extension("json")) else { continue };
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let result = match Program::from_json(&json) {
            Ok(program) => stf::run(Arc::new(program), &test).map_err(|e| e[0].to_string()),
            Err(error) => Err(error.to_string()),
        };
        match result {
            Ok(()) => passed += 1,
            Err(error) => failed.push(format!("{}: {error}", path.display())),
        }
    }
    assert!(failed.is_empty() && passed > 0, "{passed} passed; {}", failed.join("\n"));
}
