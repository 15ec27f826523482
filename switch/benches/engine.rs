//! Packets per second of one core through ingress, queue and egress of the bottleneck program,
//! with a standing queue of 50 packets. Every packet is queued, dequeued and transmitted.
//!
//! ```text
//! cargo bench -p narrows-switch [-- SECONDS] [NAME]
//! ```
#![allow(missing_docs)]

#[path = "../tests/common/mod.rs"]
mod common;

use common::*;
use narrows_common::{Duration, Packet, Time};
use narrows_switch::{CloneSession, Match, QueueLimit, Replica, Switch};
use std::time::Instant;

/// 10 Gb/s.
const RATE_BPS: u64 = 10_000_000_000;
/// Packets waiting throughout.
const STANDING: u64 = 50;

fn switch(every: Option<&str>) -> Switch {
    let mut switch = bottleneck(Some(RATE_BPS), QueueLimit::Packets(1000));
    let flow = entry(
        "flow",
        [
            ("hdr.ipv4.src_addr", Match::Exact("0x0a000101".into())),
            ("hdr.ipv4.dst_addr", Match::Exact("0x0a000201".into())),
            ("hdr.ipv4.protocol", Match::Exact("6".into())),
            ("src_port", Match::Exact("5001".into())),
            ("dst_port", Match::Exact("80".into())),
        ],
        "set_flow",
        [("flow_id", "1")],
    );
    switch.insert_entry(&flow).expect("a flow");
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

/// Packets per second of wall-clock time.
fn measure(frame: &Packet, every: Option<&str>, seconds: f64) -> f64 {
    let mut switch = switch(every);
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
    let (begun, mut count) = (Instant::now(), 0u64);
    while begun.elapsed().as_secs_f64() < seconds {
        for _ in 0..10_000 {
            now += spacing;
            send(&mut switch, now);
        }
        count += 10_000;
    }
    let elapsed = begun.elapsed().as_secs_f64();
    let statistics = switch.port_statistics(OUT).expect("a port");
    assert_eq!(statistics.dropped_queue_full, 0, "the queue stands");
    assert!(statistics.waiting_packets + 1 >= STANDING, "{statistics:?}");
    count as f64 / elapsed
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let seconds = args.iter().find_map(|arg| arg.parse().ok()).unwrap_or(1.0);
    // Cargo adds `--bench`.
    let wanted = args.iter().find(|arg| arg.parse::<f64>().is_err() && !arg.starts_with('-'));
    println!("{:<28}{:>12}{:>12}{:>12}", "packets per second", "64 B", "1500 B", "1500 B zeros");
    for (name, every) in [
        ("telemetry off", None),
        ("telemetry 1 in 100", Some("100")),
        ("telemetry every packet", Some("1")),
    ] {
        if wanted.is_some_and(|wanted| !name.contains(wanted.as_str())) {
            continue;
        }
        let frames = [
            Packet::from_bytes(&frame(64, 1)),
            Packet::from_bytes(&frame(1500, 1)),
            packet(1500, 1),
        ];
        let rates = frames.map(|frame| measure(&frame, every, seconds));
        print!("{name:<28}");
        rates.iter().for_each(|rate| print!("{rate:>12.0}"));
        println!();
    }
}
