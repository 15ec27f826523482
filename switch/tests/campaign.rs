//! Random packets through every program, with both engines side by side: they send the same bytes
//! at the same times, count the same, and never panic. `make fuzz` runs millions of packets.

use crate::common::{self, *};
use narrows_common::{Packet, Rng, Time};
use narrows_queueing::QueueLimit;
use narrows_switch::{CloneSession, Engine, Match, Program, Replica, Switch, SwitchConfig};
use std::sync::Arc;
use std::time::Instant;

const PROGRAMS: [(&str, &str); 13] = [
    ("v1model", BOTTLENECK_JSON),
    ("branches", include_str!("programs/branches.json")),
    ("control", include_str!("programs/control.json")),
    ("expressions", include_str!("programs/expressions.json")),
    ("externs", include_str!("programs/externs.json")),
    ("large", include_str!("programs/large.json")),
    ("priority", include_str!("programs/priority.json")),
    ("profiles", include_str!("programs/profiles.json")),
    ("replicate", include_str!("programs/replicate.json")),
    ("stacks", include_str!("programs/stacks.json")),
    ("tables", include_str!("programs/tables.json")),
    ("translated", include_str!("programs/translated.json")),
    ("unions", include_str!("programs/unions.json")),
];

/// Packets between two comparisons of the counts.
const COMPARE_EVERY: u64 = 1000;
/// The longest noise.
const NOISE_BYTES: u64 = 200;
/// Bytes that are changed: all headers, and some payload.
const CHANGED_BYTES: u64 = 90;

/// Packets for each program; `NARROWS_FUZZ_SCALE` multiplies them.
fn packets() -> u64 {
    let scale = std::env::var("NARROWS_FUZZ_SCALE").ok().and_then(|text| text.parse().ok());
    4_000 * scale.unwrap_or(1)
}

fn switch(engine: Engine, program: &Arc<Program>) -> Switch {
    let ports = (0..5).map(|number| {
        let rate_bps = (number == OUT).then_some(100_000_000);
        common::port(number, rate_bps, QueueLimit::Packets(20))
    });
    let ports = ports.map(|port| narrows_queueing::PortConfig { record: false, ..port }).collect();
    let config = config(ports);
    let config = SwitchConfig { flow_field: None, record_queue: false, engine, ..config };
    let mut switch = Switch::new(program.clone(), config, Rng::from_seed(1)).expect("a switch");
    switch.set_clone_session(CloneSession {
        id: 5,
        replicas: vec![Replica { port: COLLECTOR, rid: 1 }],
        truncate_bytes: Some(60),
    });
    switch.set_multicast_group(1, &[Replica { port: OUT, rid: 1 }, Replica { port: 1, rid: 2 }]);
    // Programs without these tables refuse the entries.
    for (prefix, port) in [("0x0a000200", "2"), ("0x0a000100", "1")] {
        let lpm = Match::Lpm(prefix.into(), 24);
        let params = [("port", port), ("src_mac", "1"), ("dst_mac", "2")];
        let route = entry("ipv4_lpm", [("hdr.ipv4.dst_addr", lpm)], "route", params);
        let _ = switch.insert_entry(&route);
    }
    let to = Match::Exact("0x020000000009".into());
    let _ = switch.insert_entry(&entry(
        "Receive.forward",
        [("hdr.ethernet.dst", to)],
        "Receive.send",
        [("port", "2")],
    ));
    let telemetry = [("egress_port", Match::Exact("2".into()))];
    let every = [("every", "3"), ("session", "5")];
    let _ = switch.insert_entry(&entry("telemetry", telemetry, "report_every", every));
    switch
}

/// A packet: a good one with some bytes changed, cut off or not, or noise.
fn draw(rng: &mut Rng, seeds: &[Vec<u8>], bytes: &mut Vec<u8>) {
    bytes.clear();
    let kind = rng.u32();
    if kind % 8 == 0 {
        let length = rng.range(0, NOISE_BYTES);
        bytes.extend((0..length).map(|_| rng.u32() as u8));
        return;
    }
    bytes.extend_from_slice(&seeds[(kind >> 3) as usize % seeds.len()]);
    for _ in 0..(kind >> 8) % 6 {
        let at = rng.range(0, CHANGED_BYTES - 1) as usize % bytes.len();
        let change = rng.u32();
        bytes[at] = match change & 3 {
            0 => 0,
            1 => bytes[at] ^ (1 << ((change >> 2) & 7)),
            _ => (change >> 8) as u8,
        };
    }
    if kind & (1 << 30) != 0 && kind & (1 << 31) != 0 {
        bytes.truncate(rng.range(0, bytes.len() as u64) as usize);
    }
}

/// Sends packets through both engines. Returns how many packets they sent.
fn compare(name: &str, text: &str, count: u64) -> u64 {
    let program = Arc::new(Program::from_json(text).expect("the program loads"));
    let (mut native, mut interpreted) =
        (switch(Engine::Native, &program), switch(Engine::Interpreter, &program));
    let mut rng = Rng::for_component(1, name);
    let mut seeds: Vec<Vec<u8>> = [54, 60, 100, 300].map(|length| frame(length, 1)).to_vec();
    let mut datagram = frame(100, 2);
    datagram[23] = 17;
    seeds.push(datagram);
    let (mut now, mut sent, mut bytes) = (Time::ZERO, 0, vec![]);
    for case in 0..count {
        draw(&mut rng, &seeds, &mut bytes);
        let port = 1 + (rng.u32() % 3) as u16;
        now = Time::from_ps(now.as_ps() + rng.range(0, 20_000_000));
        for switch in [&mut native, &mut interpreted] {
            switch.handle_timeout(now);
            switch.handle_packet(now, port, Packet::from_bytes(&bytes).into());
        }
        loop {
            let (one, other) = (native.poll_transmit(), interpreted.poll_transmit());
            assert_eq!(one, other, "{name}: packet {case} at port {port}: {bytes:02x?}");
            if one.is_none() {
                break;
            }
            sent += 1;
        }
        while let Some(one) = native.poll_digest() {
            let other = interpreted.poll_digest();
            assert_eq!(Some(one), other, "{name}: packet {case}: {bytes:02x?}");
        }
        if case % COMPARE_EVERY == 0 {
            assert_eq!(native.statistics(), interpreted.statistics(), "{name}: packet {case}");
        }
    }
    assert_eq!(native.statistics(), interpreted.statistics(), "{name}");
    sent
}

#[test]
fn engines_agree_on_random_packets_of_every_program() {
    let mut all = 0;
    for (name, text) in PROGRAMS {
        let begin = Instant::now();
        let sent = compare(name, text, packets());
        let seconds = begin.elapsed().as_secs_f64();
        println!("campaign packets {name}: {} cases, {sent} sent, {seconds:.1} s", packets());
        all += sent;
    }
    assert!(all > packets() / 2, "few packets get through");
}
