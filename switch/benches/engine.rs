//! Packets per second through ingress, queue and egress, for the bottleneck program with a standing
//! queue and for a program of thirty tables.
//!
//! `cargo bench -p narrows-switch --bench engine -- [SECONDS] [NAME] [interpreter]
//! [PACKETSpackets]` measures each for one second by default. Seconds are processor time
//! (`cpu_seconds`), which other processes disturb little. With a number of packets, such as
//! `20000packets`, two builds do the same work under callgrind.
#![allow(missing_docs)]

#[path = "../tests/common/mod.rs"]
mod common;

use common::*;
use narrows_common::{Duration, Packet, Rng, Time};
use narrows_queueing::QueueLimit;
use narrows_switch::{CloneSession, Engine, Match, Program, Replica, Switch};
use std::sync::Arc;

/// 10 Gb/s.
const RATE_BPS: u64 = 10_000_000_000;
/// Packets queued throughout.
const STANDING: u64 = 50;

fn tables30(engine: Engine) -> Switch {
    let program = include_str!("../tests/programs/tables30.json");
    let program = Arc::new(Program::from_json(program).expect("the program loads"));
    let ports = vec![port(1, Some(RATE_BPS), QueueLimit::Packets(1000))];
    let config = narrows_switch::SwitchConfig { flow_field: None, engine, ..config(ports) };
    Switch::new(program, config, Rng::from_seed(1)).expect("a switch")
}

fn telemetry(engine: Engine, every: Option<&str>) -> Switch {
    let mut switch = bottleneck_on(engine, Some(RATE_BPS), QueueLimit::Packets(1000));
    flow(&mut switch);
    let port = |port: &str| Match::Exact(port.into());
    if let Some(every) = every {
        let replicas = vec![Replica { port: COLLECTOR, rid: 0 }];
        switch.set_clone_session(CloneSession { id: 5, replicas, truncate_bytes: None });
        let params = [("every", every), ("session", "5")];
        let telemetry = entry("telemetry", [("egress_port", port("2"))], "report_every", params);
        switch.insert_entry(&telemetry).expect("telemetry");
        let params = [
            ("node_id", "9"),
            ("src_mac", "0x020000000011"),
            ("dst_mac", "0x020000000012"),
            ("src_addr", "0x0a000301"),
            ("dst_addr", "0x0a000302"),
            ("udp_port", "32766"),
        ];
        let collector = entry("collector", [("collector_port", port("3"))], "send_to", params);
        switch.insert_entry(&collector).expect("a collector");
    }
    switch
}

/// How long to measure.
#[derive(Clone, Copy)]
enum Until {
    Seconds(f64),
    Packets(u64),
}

/// Packets that leave by `out` per second of processor time.
fn measure(mut switch: Switch, out: u16, frame: &Packet, until: Until) -> f64 {
    let spacing = Duration::from_ps(frame.len() as u64 * 8 * 1_000_000_000_000 / RATE_BPS);
    let mut now = Time::ZERO;
    let send = |switch: &mut Switch, now: Time| {
        let mut packet = switch.take_packet();
        packet.data.extend_from_slice(&frame.data);
        packet.zeros = frame.zeros;
        switch.handle_packet(now, 1, packet);
        while let Some(sent) = switch.poll_transmit() {
            switch.recycle(sent.packet);
        }
        switch.queue_records().clear();
    };
    for _ in 0..=STANDING {
        send(&mut switch, now);
    }
    let (begun, mut count) = (cpu_seconds(), 0u64);
    while match until {
        Until::Seconds(seconds) => cpu_seconds() - begun < seconds,
        Until::Packets(packets) => count < packets,
    } {
        for _ in 0..10_000 {
            now += spacing;
            send(&mut switch, now);
        }
        count += 10_000;
    }
    let elapsed = cpu_seconds() - begun;
    let statistics = switch.port_statistics(out).expect("a port");
    assert_eq!(statistics.refused, 0, "the queue stands");
    assert!(statistics.waiting_packets + 1 >= STANDING, "{statistics:?}");
    count as f64 / elapsed
}

/// A name, a switch, and the output port of its packets.
type Measured = (&'static str, fn(Engine) -> Switch, u16);

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let packets = |arg: &String| arg.strip_suffix("packets")?.parse().ok();
    let until = match args.iter().find_map(packets) {
        Some(packets) => Until::Packets(packets),
        None => Until::Seconds(args.iter().find_map(|arg| arg.parse().ok()).unwrap_or(1.0)),
    };
    // Cargo appends `--bench`.
    let is_number = |arg: &String| arg.parse::<f64>().is_ok() || packets(arg).is_some();
    let word = |arg: &&String| !is_number(arg) && !arg.starts_with('-');
    let engine = match args.iter().any(|arg| arg == "interpreter") {
        true => Engine::Interpreter,
        false => Engine::Native,
    };
    let wanted = args.iter().filter(word).find(|arg| *arg != "interpreter");
    println!("{:<28}{:>12}{:>12}{:>14}", "packets per second", "64 B", "1500 B", "1500 B zeros");
    let programs: [Measured; 4] = [
        ("telemetry off", |engine| telemetry(engine, None), OUT),
        ("telemetry 1 in 100", |engine| telemetry(engine, Some("100")), OUT),
        ("telemetry every packet", |engine| telemetry(engine, Some("1")), OUT),
        ("thirty tables", tables30, 1),
    ];
    for (name, make, out) in programs {
        if wanted.is_some_and(|wanted| !name.contains(wanted.as_str())) {
            continue;
        }
        let frames = [
            Packet::from_bytes(&frame(64, 1)),
            Packet::from_bytes(&frame(1500, 1)),
            packet(1500, 1),
        ];
        let rates = frames.map(|frame| measure(make(engine), out, &frame, until));
        println!("{name:<28}{:>12.0}{:>12.0}{:>14.0}", rates[0], rates[1], rates[2]);
    }
}
