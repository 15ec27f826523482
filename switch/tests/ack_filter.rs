//! The ACK-filtering queue: which ACKs it drops, compared with ns-2.35.

use crate::common::*;
use narrows_common::{Duration, Packet, Rng, Time};
use narrows_queueing::{DisciplineConfig, PortConfig, QueueEvent, QueueLimit};
use narrows_switch::Switch;

/// ns-2's PacketQueue/Semantic in front of 19 kb/s: arrival and departure times of ACKs, in
/// microseconds (`hosts/tests/ns2/acks.tcl queue 6 seconds 1.4`).
const RUN: &str = include_str!("../../hosts/tests/ns2/acks_even.txt");

#[test]
fn acks_leave_a_filtering_queue_as_they_leave_ns2s() {
    // ns-2's ACKs have 40 bytes: 54 bytes take as long at 54/40 of the rate.
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
                switch.handle_packet(at, 1, ack.into());
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
    // ns-2's run ends while ACKs wait. Its trace truncates times to microseconds.
    for (ours, theirs) in ours.iter().zip(&theirs) {
        let off = ours.0.saturating_since(theirs.0).max(theirs.0.saturating_since(ours.0));
        assert!(ours.1 == theirs.1 && off < Duration::from_us(2), "{ours:?} {theirs:?}");
    }
    assert!(ours.len() >= theirs.len() && theirs.len() > 50);
}

#[test]
fn an_ack_replaces_older_acks_of_its_connection() {
    // 54 bytes at 432 kb/s take 1 ms. The first is in transmission while the others arrive.
    let filtering = PortConfig {
        discipline: DisciplineConfig::named("ack-filter"),
        ..port(OUT, Some(432_000), QueueLimit::Packets(10))
    };
    let config = config(vec![filtering]);
    let mut switch =
        Switch::new(bottleneck_program(), config, Rng::from_seed(1)).expect("a switch");
    routes(&mut switch);
    const ACK: u8 = 0x10;
    const ACK_PSH: u8 = 0x18;
    // Port, acknowledgment number, flags, length.
    let segments = [
        (7, 100, ACK, 54),
        (7, 200, ACK, 54),
        (7, 300, ACK, 54),     // removes 200, not 100, which has left
        (8, 250, ACK, 54),     // another connection
        (7, 300, ACK, 54),     // a duplicate: both stay
        (7, 400, ACK_PSH, 64), // data: removes none, and stays
        (7, 500, ACK, 54),     // removes both 300
        (7, 450, ACK, 54),     // older than the ACKs in the queue: stays
    ];
    for (n, &(source, ack, flags, length)) in segments.iter().enumerate() {
        let mut packet = packet(length, n as u32);
        packet.data[34..36].copy_from_slice(&u16::to_be_bytes(source));
        packet.data[42..46].copy_from_slice(&u32::to_be_bytes(ack));
        packet.data[47] = flags;
        switch.handle_packet(Time::from_ps(n as u64), 1, packet.into());
    }
    while let Some(due) = switch.poll_timeout() {
        switch.handle_timeout(due);
    }
    let number = |packet: &Packet| u32::from_be_bytes(packet.data[42..46].try_into().unwrap());
    let sent: Vec<u32> =
        std::iter::from_fn(|| switch.poll_transmit()).map(|sent| number(&sent.packet)).collect();
    assert_eq!(sent, [100, 250, 400, 500, 450]);
    let statistics = switch.port_statistics(OUT).unwrap();
    assert_eq!((statistics.enqueued, statistics.dequeued), (8, 8));
    assert_eq!((statistics.drops.total(), statistics.waiting_bytes), (3, 0));
    // Each filtered ACK was enqueued, dequeued and dropped, and the depth follows.
    let mut depth = 0;
    for record in switch.queue_records().iter() {
        depth = match record.event {
            QueueEvent::Enqueue => depth + 1,
            QueueEvent::Dequeue => depth - 1,
            QueueEvent::Mark(reason) => panic!("{} marks nothing", reason.name()),
            QueueEvent::Drop(reason) => {
                assert_eq!(reason.name(), "ack-filter");
                depth
            }
        };
        assert_eq!(record.depth_packets, depth);
    }
}
