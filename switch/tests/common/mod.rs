//! The bottleneck program on two ports, and frames to send through it.
#![allow(dead_code, missing_docs)]

use narrows_common::{LengthBasis, Packet, Rng};
use narrows_queueing::{DisciplineConfig, PortConfig, QueueLimit};
use narrows_switch::{Engine, Match, Program, Switch, SwitchConfig, TableEntry, TimestampUnit};
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// p4c's output for `p4/v1model.p4`.
pub const BOTTLENECK_JSON: &str = include_str!("../../../p4/build/v1model.json");

pub const SERVER: [u8; 4] = [10, 0, 2, 1];
pub const CLIENT: [u8; 4] = [10, 0, 1, 1];
/// The bottleneck's output port.
pub const OUT: u16 = 2;
/// The port of the collector.
pub const COLLECTOR: u16 = 3;

pub fn bottleneck_program() -> Arc<Program> {
    static PROGRAM: OnceLock<Arc<Program>> = OnceLock::new();
    let load = || Arc::new(Program::from_json(BOTTLENECK_JSON).expect("our own program loads"));
    PROGRAM.get_or_init(load).clone()
}

pub fn port(port: u16, rate_bps: Option<u64>, queue: QueueLimit) -> PortConfig {
    PortConfig {
        port,
        rate_bps,
        queue,
        discipline: DisciplineConfig::default(),
        counts: LengthBasis::Frame,
        queues: 1,
        classes: vec![],
        trace: None,
        record: true,
        pipeline: 0,
    }
}

pub fn config(ports: Vec<PortConfig>) -> SwitchConfig {
    SwitchConfig {
        ports,
        timestamp_unit: TimestampUnit::Ns,
        flow_field: Some("meta.flow_id".into()),
        record_queue: true,
        engine: Engine::default(),
        pipeline: 0,
    }
}

pub fn strings<const N: usize>(pairs: [(&str, &str); N]) -> BTreeMap<String, String> {
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

pub fn entry<const N: usize>(
    table: &str,
    matches: impl IntoIterator<Item = (&'static str, Match)>,
    action: &str,
    params: [(&str, &str); N],
) -> TableEntry {
    TableEntry {
        table: table.into(),
        matches: matches.into_iter().map(|(name, part)| (name.to_owned(), part)).collect(),
        priority: 1,
        action: action.into(),
        params: strings(params),
    }
}

/// 10.0.2.0/24 leaves by port 2 and 10.0.1.0/24 by port 1.
pub fn routes(switch: &mut Switch) {
    for (prefix, port) in [("0x0a000200", "2"), ("0x0a000100", "1")] {
        let params = [("port", port), ("src_mac", "0x020000000001"), ("dst_mac", "0x020000000002")];
        let prefix = Match::Lpm(prefix.into(), 24);
        let route = entry("ipv4_lpm", [("hdr.ipv4.dst_addr", prefix)], "route", params);
        switch.insert_entry(&route).expect("a route");
    }
}

/// The client's flow to the server, number 1.
pub fn flow(switch: &mut Switch) {
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
}

/// The bottleneck: port 1 without limit, port 2 with the given rate and queue, port 3 for reports.
pub fn bottleneck(rate_bps: Option<u64>, queue: QueueLimit) -> Switch {
    bottleneck_on(Engine::default(), rate_bps, queue)
}

pub fn bottleneck_on(engine: Engine, rate_bps: Option<u64>, queue: QueueLimit) -> Switch {
    let ports = vec![
        port(1, None, QueueLimit::Packets(0)),
        port(OUT, rate_bps, queue),
        port(COLLECTOR, None, QueueLimit::Packets(0)),
    ];
    let rng = Rng::from_seed(1);
    let config = SwitchConfig { engine, ..config(ports) };
    let mut switch = Switch::new(bottleneck_program(), config, rng).expect("a switch");
    routes(&mut switch);
    switch
}

/// Processor time of this thread in seconds, if Linux reports it; otherwise wall-clock time.
pub fn cpu_seconds() -> f64 {
    static BEGUN: OnceLock<Instant> = OnceLock::new();
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    match text.split(' ').next().and_then(|ns| ns.parse::<f64>().ok()) {
        Some(ns) => ns / 1e9,
        None => BEGUN.get_or_init(Instant::now).elapsed().as_secs_f64(),
    }
}

/// A one's complement sum, word by word (RFC 1071).
pub fn checksum(bytes: &[u8]) -> u16 {
    let mut sum = 0u32;
    for word in bytes.chunks(2) {
        sum += u32::from(word[0]) << 8 | u32::from(*word.get(1).unwrap_or(&0));
    }
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !sum as u16
}

/// A TCP segment from the client to the server in a frame of `length` bytes, with real zeros.
pub fn frame(length: usize, sequence: u32) -> Vec<u8> {
    assert!(length >= 54, "no room for the headers");
    let mut bytes = vec![0u8; length];
    bytes[..6].copy_from_slice(&[2, 0, 0, 0, 0, 9]);
    bytes[6..12].copy_from_slice(&[2, 0, 0, 0, 0, 8]);
    bytes[12..14].copy_from_slice(&[8, 0]);
    bytes[14] = 0x45;
    bytes[16..18].copy_from_slice(&((length - 14) as u16).to_be_bytes());
    bytes[22] = 64;
    bytes[23] = 6;
    bytes[26..30].copy_from_slice(&CLIENT);
    bytes[30..34].copy_from_slice(&SERVER);
    let sum = checksum(&bytes[14..34]);
    bytes[24..26].copy_from_slice(&sum.to_be_bytes());
    bytes[34..36].copy_from_slice(&5001u16.to_be_bytes());
    bytes[36..38].copy_from_slice(&80u16.to_be_bytes());
    bytes[38..42].copy_from_slice(&sequence.to_be_bytes());
    bytes[46] = 0x50;
    bytes[47] = 0x10;
    bytes
}

/// Like `frame`, with the payload's zeros left virtual.
pub fn packet(length: usize, sequence: u32) -> Packet {
    let mut bytes = frame(length, sequence);
    bytes.truncate(54);
    Packet { zeros: (length - 54) as u32, data: bytes, ..Packet::default() }
}
