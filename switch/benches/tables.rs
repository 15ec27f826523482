//! A million routes and 100,000 ternary entries: insertions per second, their cost per packet, and
//! their memory. `cargo bench -p narrows-switch --bench tables`.
#![allow(missing_docs)]

#[path = "../tests/common/mod.rs"]
mod common;

use common::*;
use narrows_common::{Duration, Rng, Time};
use narrows_queueing::QueueLimit;
use narrows_switch::{ControlError, Match, Program, Switch, TableEntry};
use std::sync::Arc;
use std::time::Instant;

const ROUTES: u32 = 1_000_000;
const RULES: u32 = 100_000;
/// Packets per look-up measurement.
const PACKETS: u32 = 500_000;

fn switch() -> Switch {
    let program = include_str!("../tests/programs/large.json");
    let program = Arc::new(Program::from_json(program).expect("the program loads"));
    let ports = vec![port(1, None, QueueLimit::Packets(0))];
    let config = narrows_switch::SwitchConfig { flow_field: None, ..config(ports) };
    Switch::new(program, config, Rng::from_seed(1)).expect("a switch")
}

/// A route with a length as on the Internet: most are /24, some /16 to /23, a few /32.
fn route(rng: &mut Rng) -> TableEntry {
    let length = match rng.range(0, 99) {
        0..60 => 24,
        60..95 => rng.range(16, 23) as u32,
        _ => 32,
    };
    let prefix = rng.range(0, u64::from(u32::MAX)) >> (32 - length) << (32 - length);
    let prefix = Match::Lpm(format!("{prefix:#x}"), length);
    entry("routes", [("hdr.ipv4.dst_addr", prefix)], "route", [("port", "1")])
}

/// A rule with one of 27 masks.
fn rule(rng: &mut Rng, note: u32) -> TableEntry {
    let mut part = |masks: [u64; 3]| {
        let mask = masks[rng.range(0, 2) as usize];
        let value = rng.range(0, u64::from(u32::MAX)) & mask;
        Match::Ternary(format!("{value:#x}"), format!("{mask:#x}"))
    };
    let matches = [
        ("hdr.ipv4.src_addr", part([0xffff_ffff, 0xffff_ff00, 0xffff_0000])),
        ("hdr.ipv4.dst_addr", part([0xffff_ffff, 0xffff_ff00, 0xfff0_0000])),
        ("hdr.ipv4.protocol", part([0xff, 0x0f, 0])),
    ];
    let rule = entry("rules", matches, "mark", [("note", &note.to_string())]);
    TableEntry { priority: 1 + rng.range(0, 99) as i32, ..rule }
}

/// Nanoseconds per packet to random addresses.
fn packet_ns(switch: &mut Switch, rng: &mut Rng) -> f64 {
    let base = frame(64, 1);
    let mut now = Time::ZERO;
    let begun = Instant::now();
    for _ in 0..PACKETS {
        let mut packet = switch.take_packet();
        packet.data.extend_from_slice(&base);
        let addresses = rng.range(0, u64::MAX - 1).to_be_bytes();
        packet.data[26..34].copy_from_slice(&addresses);
        now += Duration::from_ns(1);
        switch.handle_packet(now, 1, packet);
        while let Some(sent) = switch.poll_transmit() {
            switch.recycle(sent.packet);
        }
        switch.queue_records().clear();
    }
    begun.elapsed().as_secs_f64() * 1e9 / f64::from(PACKETS)
}

/// Resident memory in megabytes, if Linux reports it.
fn resident_mb() -> f64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kib.unwrap_or(f64::NAN) * 1024.0 / 1e6
}

/// Inserts until the table holds `count` entries; skips entries that exist.
fn fill(switch: &mut Switch, count: u32, mut make: impl FnMut(u32) -> TableEntry) -> f64 {
    let (mut spent, mut stored) = (0.0, 0);
    while stored < count {
        let entries: Vec<TableEntry> = (0..1000).map(|i| make(stored + i)).collect();
        let begun = Instant::now();
        for entry in entries.iter().take((count - stored) as usize) {
            match switch.insert_entry(entry) {
                Ok(()) => stored += 1,
                Err(ControlError::Exists(_)) => {}
                Err(error) => panic!("{error}"),
            }
        }
        spent += begun.elapsed().as_secs_f64();
    }
    f64::from(count) / spent
}

fn main() {
    println!(
        "{:<28}{:>12}{:>12}{:>12}{:>12}",
        "table state", "inserts/s", "empty ns", "full ns", "memory MB"
    );
    for (name, count) in [("100,000 ternary entries", RULES), ("1,000,000 LPM routes", ROUTES)] {
        let (mut switch, mut rng) = (switch(), Rng::from_seed(7));
        let before = (packet_ns(&mut switch, &mut rng), resident_mb());
        let rate = match count {
            ROUTES => fill(&mut switch, count, |_| route(&mut rng)),
            _ => fill(&mut switch, count, |note| rule(&mut rng, note)),
        };
        let memory = resident_mb() - before.1;
        let full = packet_ns(&mut switch, &mut rng);
        println!("{name:<28}{rate:>12.0}{:>12.0}{full:>12.0}{memory:>12.0}", before.0);
    }
}
