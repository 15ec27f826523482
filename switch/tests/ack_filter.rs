//! The filtering queue against ns-2.35's.

mod common;

use common::*;
use narrows_common::{Duration, Rng, Time};
use narrows_queueing::{DisciplineConfig, PortConfig, QueueLimit};
use narrows_switch::Switch;

/// ns-2's PacketQueue/Semantic in front of 19 kb/s: when ACKs came, and which left when, in
/// microseconds (`hosts/tests/ns2/acks.tcl queue 6 seconds 1.4`).
const RUN: &str = include_str!("../../hosts/tests/ns2/acks_even.txt");

#[test]
fn acks_leave_a_filtering_queue_as_they_leave_ns2s() {
    // ns-2's ACKs have 40 bytes: 54 take as long at 54/40 of the rate.
    let filtering = PortConfig {
        discipline: DisciplineConfig::named("ack-filter"),
        ..port(OUT, Some(19_000 * 54 / 40), QueueLimit::Packets(1000))
    };
    let mut switch =
        Switch::new(bottleneck_program(), config(vec![filtering]), Rng::from_seed(1)).unwrap();
    routes(&mut switch);
    let mut theirs = vec![];
    for line in RUN.lines() {
        let [queue, sign, at_us, number] = line.split(' ').collect::<Vec<_>>().try_into().unwrap();
        let at = Time::ZERO + Duration::from_us(at_us.parse().unwrap());
        let number: u32 = number.parse().unwrap();
        match (queue, sign) {
            ("slow", "+") => {
                while let Some(due) = switch.poll_timeout().filter(|&due| due <= at) {
                    switch.handle_timeout(due);
                }
                let mut ack = packet(54, 0);
                ack.data[42..46].copy_from_slice(&number.to_be_bytes());
                ack.data[47] = 0x10;
                switch.handle_packet(at, 1, ack);
            }
            ("slow", _) => theirs.push((at, number)),
            _ => {}
        }
    }
    while let Some(due) = switch.poll_timeout() {
        switch.handle_timeout(due);
    }
    let sent = std::iter::from_fn(|| switch.poll_transmit());
    let number = |ack: &[u8]| u32::from_be_bytes(ack[42..46].try_into().unwrap());
    let ours: Vec<_> = sent.map(|sent| (sent.start, number(&sent.packet.data))).collect();
    // ns-2's run ends while ACKs wait. Its trace cuts times off at a microsecond.
    for (ours, theirs) in ours.iter().zip(&theirs) {
        let off = ours.0.saturating_since(theirs.0).max(theirs.0.saturating_since(ours.0));
        assert!(ours.1 == theirs.1 && off < Duration::from_us(2), "{ours:?} {theirs:?}");
    }
    assert!(ours.len() >= theirs.len() && theirs.len() > 50);
}
