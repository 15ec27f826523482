//! Compares the switch with bmv2's `simple_switch` on 225 packets through our program, recorded by
//! `golden/record_bmv2.py`: every port must send the same bytes in the same order. bmv2 serves
//! ports by threads, so reports of two ports may overtake one another. Reports are compared in any
//! order, and without the clock, the queue and the sequence.

use crate::common::*;
use narrows_common::{Duration, Packet, Rng, Time};
use narrows_queueing::QueueLimit;
use narrows_switch::{CloneSession, Replica, Switch, SwitchConfig, TableEntry};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ops::Range;

#[derive(Deserialize)]
struct Recording {
    entries: Vec<TableEntry>,
    sent: Vec<Sent>,
    received: BTreeMap<u16, Vec<String>>,
}

#[derive(Deserialize)]
struct Sent {
    port: u16,
    bytes: String,
}

/// Report fields that differ from run to run: sequence number, hop latency, depth at departure,
/// both timestamps, queueing delay and depth at arrival (`p4/headers.p4`, after 42 bytes of
/// Ethernet, IPv4 and UDP, 8 of the group and 12 of the main header).
const OF_THE_RUN: [Range<usize>; 5] = [43..46, 66..70, 71..74, 74..90, 102..110];

fn bytes(hex: &str) -> Vec<u8> {
    let digits = (0..hex.len()).step_by(2);
    digits.map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reports without the fields that differ from run to run, sorted.
fn timeless(mut reports: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    for report in &mut reports {
        OF_THE_RUN.into_iter().for_each(|part| report[part].fill(0));
    }
    reports.sort();
    reports
}

#[test]
fn every_port_sends_what_bmv2_sent() {
    let recording: Recording = serde_json::from_str(include_str!("golden/bmv2.json")).unwrap();
    let ports = [1, OUT, COLLECTOR].map(|number| port(number, None, QueueLimit::Packets(64)));
    let config = SwitchConfig { record_queue: false, ..config(ports.to_vec()) };
    let mut switch = Switch::new(bottleneck_program(), config, Rng::from_seed(1)).unwrap();
    for entry in &recording.entries {
        switch.insert_entry(entry).unwrap();
    }
    let replicas = vec![Replica { port: COLLECTOR, rid: 0 }];
    switch.set_clone_session(CloneSession { id: 1, replicas, truncate_bytes: None });
    let mut received: BTreeMap<u16, Vec<Vec<u8>>> = BTreeMap::new();
    for (i, sent) in recording.sent.iter().enumerate() {
        let now = Time::ZERO + Duration::from_ms(2 * i as u64);
        switch.handle_packet(now, sent.port, Packet::from_bytes(&bytes(&sent.bytes)).into());
        while let Some(transmit) = switch.poll_transmit() {
            received.entry(transmit.port).or_default().push(transmit.packet.to_bytes());
        }
    }
    for (port, expected) in &recording.received {
        let mut got = received.remove(port).unwrap_or_default();
        let mut expected: Vec<_> = expected.iter().map(|packet| bytes(packet)).collect();
        if *port == COLLECTOR {
            (got, expected) = (timeless(got), timeless(expected));
        }
        assert_eq!(got.len(), expected.len(), "packets from port {port}");
        assert!(!expected.is_empty(), "port {port} was used");
        for (i, (got, expected)) in got.iter().zip(&expected).enumerate() {
            assert_eq!(hex(got), hex(expected), "port {port}, packet {i}");
        }
    }
    assert!(received.is_empty(), "nothing from other ports");
}
