//! Checks the traffic manager against conservation laws and arithmetic written out here.

use crate::common::*;
use narrows_common::{Duration, LengthBasis, PS_PER_S, Packet, Rate, Rng, Time};
use narrows_queueing::{DropReason, PortConfig, QueueEvent, QueueLimit, QueueRecord};
use narrows_switch::{ControlOperation, Switch, Transmit};
use proptest::prelude::*;

const PS: u128 = PS_PER_S as u128;

/// Runs arrivals `(ps, frame length)` through port 2 and returns what it sent and recorded.
fn run(
    switch: &mut Switch,
    arrivals: &[(u64, usize)],
    mut before: impl FnMut(&mut Switch, usize),
) -> (Vec<Transmit>, Vec<QueueRecord>) {
    for (i, &(at, length)) in arrivals.iter().enumerate() {
        let now = Time::from_ps(at);
        while let Some(due) = switch.poll_timeout().filter(|&due| due <= now) {
            switch.handle_timeout(due);
        }
        before(switch, i);
        switch.handle_packet(now, 1, packet(length, i as u32).into());
    }
    while let Some(due) = switch.poll_timeout() {
        switch.handle_timeout(due);
    }
    let sent = std::iter::from_fn(|| switch.poll_transmit()).collect();
    (sent, core::mem::take(switch.queue_records()))
}

fn sequence(packet: &Packet) -> u32 {
    u32::from_be_bytes(packet.data[38..42].try_into().unwrap())
}

/// Lindley's recursion: a packet starts when it arrives or when its predecessor ends. Within a busy
/// period the ends are `floor(start + bits so far * 10^12 / rate)`.
fn lindley(arrivals: &[(u64, usize)], rate_bps: u64) -> Vec<(u64, u64)> {
    let (mut begun, mut bits, mut end) = (0u128, 0u128, 0u128);
    let mut times = vec![];
    for &(at, length) in arrivals {
        let at = u128::from(at);
        if at > end {
            (begun, bits, end) = (at, 0, at);
        }
        let start = end;
        bits += length as u128 * 8;
        end = begun + bits * PS / u128::from(rate_bps);
        times.push((start as u64, end as u64));
    }
    times
}

fn arrivals() -> impl Strategy<Value = Vec<(u64, usize)>> {
    // Gaps near a packet's transmission time at these rates, and long ones.
    let gap = prop_oneof![0u64..3_000_000, 0u64..3_000_000_000, Just(0u64)];
    prop::collection::vec((gap, 54usize..3000), 1..80).prop_map(|steps| {
        let mut at = 0;
        let step = |(gap, length)| {
            at += gap;
            (at, length)
        };
        steps.into_iter().map(step).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..Default::default() })]

    /// Compares departures to the picosecond.
    #[test]
    fn departures_are_lindleys(
        arrivals in arrivals(),
        rate in prop::sample::select(vec![5_000_000u64, 622_000_000, 9_999_999_937, 7]),
    ) {
        let mut switch = bottleneck(Some(rate), QueueLimit::Packets(1000));
        let (sent, _) = run(&mut switch, &arrivals, |_, _| {});
        let got: Vec<_> = sent.iter().map(|t| (t.start.as_ps(), t.end.as_ps())).collect();
        // Beyond the end of time everything is "never".
        let expected: Vec<_> = lindley(&arrivals, rate).into_iter()
            .take_while(|&(start, _)| start < u64::MAX).collect();
        prop_assume!(expected.len() == arrivals.len());
        prop_assert_eq!(got, expected);
    }

    /// A new rate applies to queued packets; a transmission in progress ends at its old rate.
    #[test]
    fn a_rate_change_applies_to_queued_packets(
        sizes in prop::collection::vec(54usize..3000, 2..40),
        rates in prop::sample::select(vec![(5_000_000u64, 9_000_001u64), (622_000_000, 999_983), (1_000_000, 9_999_999_937)]),
        share in 0u64..1000,
    ) {
        let (before, after) = rates;
        let mut switch = bottleneck(Some(before), QueueLimit::Packets(1000));
        for (i, &size) in sizes.iter().enumerate() {
            switch.handle_packet(Time::ZERO, 1, packet(size, i as u32).into());
        }
        // A time within the transmission of all packets at the first rate.
        let total: u128 = sizes.iter().map(|&size| size as u128 * 8).sum();
        let change = (total * PS / u128::from(before)) as u64 / 1000 * share;
        let rate = Rate::from_bps(after);
        let set = ControlOperation::SetRate { port: OUT, rate };
        switch.control(Time::from_ps(change), &set).unwrap();
        while let Some(due) = switch.poll_timeout() {
            switch.handle_timeout(due);
        }
        let got: Vec<_> = std::iter::from_fn(|| switch.poll_transmit())
            .map(|t| (t.start.as_ps(), t.end.as_ps())).collect();
        let (mut bits, mut end, mut expected) = (0u128, 0u64, vec![]);
        let mut switched: Option<(u64, u128)> = None;
        for &size in &sizes {
            let start = end;
            if start > change && switched.is_none() {
                switched = Some((start, 0));
            }
            end = match &mut switched {
                None => {
                    bits += size as u128 * 8;
                    (bits * PS / u128::from(before)) as u64
                }
                Some((from, bits)) => {
                    *bits += size as u128 * 8;
                    *from + (*bits * PS / u128::from(after)) as u64
                }
            };
            expected.push((start, end));
        }
        prop_assert_eq!(got.len(), expected.len());
        for (got, expected) in got.iter().zip(&expected) {
            // The fraction of a picosecond carried over the change may add one to an end.
            prop_assert!(got.0.abs_diff(expected.0) <= 1 && got.1.abs_diff(expected.1) <= 1,
                "{:?} {:?}", got, expected);
        }
    }

    /// Every packet was enqueued or dropped, every enqueued packet was dequeued, depths are sums.
    #[test]
    fn the_ledger_is_conserved(
        arrivals in arrivals(),
        limit in prop_oneof![
            (0u64..6).prop_map(QueueLimit::Packets),
            (0u64..9000).prop_map(QueueLimit::Bytes),
            (0u64..2_000_000_000).prop_map(QueueLimit::TimePs),
        ],
        until in 0u64..400_000_000_000,
    ) {
        let rate = 10_000_000u64;
        let mut switch = bottleneck(Some(rate), limit);
        for (i, &(at, length)) in arrivals.iter().enumerate() {
            switch.handle_packet(Time::from_ps(at), 1, packet(length, i as u32).into());
        }
        let last = arrivals.last().map_or(0, |&(at, _)| at);
        switch.handle_timeout(Time::from_ps(last.saturating_add(until)));
        let records = core::mem::take(switch.queue_records());
        let statistics = switch.port_statistics(OUT).unwrap();
        let (mut depth, mut waiting, mut in_order) = (0u32, 0u64, 0u64);
        let (mut enqueued, mut dequeued, mut dropped) = (0u64, 0u64, 0u64);
        let mut came = std::collections::BTreeMap::new();
        for record in &records {
            let length = u64::from(record.length_bytes);
            match record.event {
                QueueEvent::Enqueue => {
                    (depth, waiting, enqueued) = (depth + 1, waiting + length, enqueued + 1);
                    came.insert(record.packet, record.at);
                }
                QueueEvent::Dequeue => {
                    (depth, waiting, dequeued) = (depth - 1, waiting - length, dequeued + 1);
                    let at = came.remove(&record.packet).expect("enqueued before");
                    prop_assert_eq!(record.sojourn, record.at.since(at));
                    prop_assert!(record.packet >= in_order, "first in, first out");
                    in_order = record.packet;
                }
                QueueEvent::Mark(_) => prop_assert!(false, "DropTail marks nothing"),
                QueueEvent::Drop(reason) => {
                    prop_assert_eq!(reason, DropReason::QUEUE_FULL);
                    dropped += 1;
                    // The packet would have exceeded the limit, computed independently.
                    let after = u128::from(waiting + length) * 8;
                    let exceeds = match limit {
                        QueueLimit::Packets(most) => u64::from(depth) >= most,
                        QueueLimit::Bytes(most) => waiting + length > most,
                        QueueLimit::TimePs(most) => after * PS > u128::from(most) * u128::from(rate),
                    };
                    prop_assert!(exceeds);
                }
            }
            prop_assert_eq!((record.depth_packets, record.depth_bytes), (depth, waiting));
            // Never above the limit, except for the packet of an idle port.
            let within = match limit {
                QueueLimit::Packets(most) => u64::from(depth) <= most.max(1),
                QueueLimit::Bytes(most) => waiting <= most || depth == 1,
                QueueLimit::TimePs(most) => {
                    u128::from(waiting) * 8 * PS <= u128::from(most) * u128::from(rate) || depth == 1
                }
            };
            prop_assert!(within);
        }
        prop_assert_eq!(enqueued + dropped, arrivals.len() as u64);
        prop_assert_eq!(enqueued, dequeued + came.len() as u64);
        prop_assert_eq!(
            (statistics.enqueued, statistics.dequeued, statistics.refused),
            (enqueued, dequeued, dropped)
        );
        prop_assert_eq!(statistics.waiting_packets, came.len() as u64);
    }

    /// The next packet is the oldest one of the highest priority queued.
    #[test]
    fn priorities_are_strict(classes in prop::collection::vec(0u8..3, 2..60)) {
        let mut ports = vec![port(1, None, QueueLimit::Packets(0))];
        ports.push(PortConfig { queues: 3, ..port(OUT, Some(1_000_000), QueueLimit::Packets(1000)) });
        let mut switch = priority_switch(ports);
        for (i, &class) in classes.iter().enumerate() {
            let mut bytes = [0u8; 60];
            (bytes[0], bytes[1]) = (class, i as u8);
            switch.handle_packet(Time::ZERO, 1, Packet::from_bytes(&bytes).into());
        }
        while let Some(due) = switch.poll_timeout() {
            switch.handle_timeout(due);
        }
        let got: Vec<u8> = std::iter::from_fn(|| switch.poll_transmit()).map(|t| t.packet.data[1]).collect();
        // The first left immediately; the others are queued together.
        let mut waiting: Vec<u8> = (1..classes.len() as u8).collect();
        waiting.sort_by_key(|&i| std::cmp::Reverse(classes[i as usize]));
        waiting.insert(0, 0);
        prop_assert_eq!(got, waiting);
    }
}

/// A switch with a program that takes the priority from a packet's first byte and sends to port 2.
fn priority_switch(ports: Vec<PortConfig>) -> Switch {
    let json = include_str!("programs/priority.json");
    let program = narrows_switch::Program::from_json(json).unwrap();
    let config = narrows_switch::SwitchConfig { flow_field: None, ..config(ports) };
    Switch::new(program.into(), config, Rng::from_seed(1)).unwrap()
}

/// Sends back to back; compares bits sent with rate times time.
fn saturate(rate_bps: u64, seconds: f64, length: usize, counts: LengthBasis, counted: usize) {
    let ports = vec![
        port(1, None, QueueLimit::Packets(0)),
        PortConfig { counts, ..port(OUT, Some(rate_bps), QueueLimit::Packets(100)) },
    ];
    let config = narrows_switch::SwitchConfig { record_queue: false, ..config(ports) };
    let mut switch = Switch::new(bottleneck_program(), config, Rng::from_seed(1)).unwrap();
    routes(&mut switch);
    let end = Time::ZERO + Duration::from_secs_f64(seconds);
    let (mut now, mut bits) = (Time::ZERO, 0u128);
    for _ in 0..3 {
        switch.handle_packet(now, 1, packet(length, 0).into());
    }
    while now <= end {
        // One packet arrives whenever one leaves, so the queue never empties.
        now = switch.poll_timeout().unwrap();
        switch.handle_timeout(now);
        let mut another = switch.take_packet();
        another.copy_front(&packet(length, 0), length);
        switch.handle_packet(now, 1, another);
        while let Some(sent) = switch.poll_transmit() {
            bits += if sent.end <= end { counted as u128 * 8 } else { 0 };
            switch.recycle(sent.packet);
        }
    }
    let due = u128::from(rate_bps) * u128::from(end.as_ps()) / PS;
    assert!(due >= bits && due - bits < counted as u128 * 8, "{rate_bps} bit/s: {bits} of {due}");
}

#[test]
fn a_minute_at_5_mbps_loses_less_than_a_packet() {
    saturate(5_000_000, 60.0, 1514, LengthBasis::Frame, 1514);
    saturate(5_000_000, 60.0, 1514, LengthBasis::Ip, 1500);
    saturate(5_000_000, 60.0, 60, LengthBasis::Wire, 84);
}

#[test]
fn a_minute_at_622_mbps_loses_less_than_a_packet() {
    saturate(622_000_000, 60.0, 1514, LengthBasis::Frame, 1514);
}

#[test]
fn a_minute_at_an_awkward_rate_loses_less_than_a_packet() {
    // Jumbo frames, so that a minute has 8 million packets.
    saturate(9_999_999_937, 60.0, 9014, LengthBasis::Wire, 9038);
}

#[test]
fn an_idle_ports_packet_is_enqueued_and_dequeued_at_once() {
    let mut switch = bottleneck(Some(1_000_000), QueueLimit::Packets(0));
    let (sent, records) = run(&mut switch, &[(7, 100)], |_, _| {});
    assert_eq!(sent.len(), 1, "a limit of no packets still passes an idle port");
    let events: Vec<_> =
        records.iter().map(|r| (r.event, r.at.as_ps(), r.depth_packets, r.sojourn)).collect();
    assert_eq!(
        events,
        [(QueueEvent::Enqueue, 7, 1, Duration::ZERO), (QueueEvent::Dequeue, 7, 0, Duration::ZERO)]
    );
}

#[test]
fn a_departure_makes_room_for_an_arrival_at_the_same_instant() {
    // 1,000 bits at 1 Mb/s take 1 ms. One is in transmission, one waits, and it leaves as the third
    // arrives.
    let mut switch = bottleneck(Some(1_000_000), QueueLimit::Packets(1));
    let ms = 1_000_000_000;
    let (sent, _) = run(&mut switch, &[(0, 125), (1, 125), (ms, 125)], |_, _| {});
    assert_eq!(sent.iter().map(|t| sequence(&t.packet)).collect::<Vec<_>>(), [0, 1, 2]);
}

#[test]
fn late_and_spurious_timeouts_change_nothing() {
    let arrivals: Vec<_> = (0..20).map(|i| (i * 300_000_000, 500)).collect();
    let mut punctual = bottleneck(Some(10_000_000), QueueLimit::Packets(100));
    let (sent, _) = run(&mut punctual, &arrivals, |_, _| {});
    let mut late = bottleneck(Some(10_000_000), QueueLimit::Packets(100));
    for (i, &(at, length)) in arrivals.iter().enumerate() {
        late.handle_packet(Time::from_ps(at), 1, packet(length, i as u32).into());
        late.handle_timeout(Time::from_ps(at));
        late.handle_timeout(Time::from_ps(at));
    }
    late.handle_timeout(Time::from_ps(1 << 60));
    assert_eq!(late.poll_timeout(), None);
    let other: Vec<_> = std::iter::from_fn(|| late.poll_transmit()).collect();
    assert_eq!(sent, other);
}

/// A caller may run each switch on its own thread.
#[test]
fn a_switch_can_be_sent() {
    fn sent<T: Send>() {}
    sent::<Switch>();
}

/// Compares the integral of the depth, computed from its own events, with `queues_waited` at every
/// event.
#[test]
fn the_mean_depth_is_the_area_under_the_depth() {
    // 1,000 bytes at 8 Mb/s take 1 ms. Of three packets that arrive together, the first leaves
    // immediately, the second waits 1 ms, the third, of 500 bytes, 2 ms.
    let mut switch = bottleneck(Some(8_000_000), QueueLimit::Packets(1000));
    for (i, length) in [1000, 1000, 500].into_iter().enumerate() {
        switch.handle_packet(Time::ZERO, 1, packet(length, i as u32).into());
    }
    const MS: u64 = 1_000_000_000;
    let (packets, bytes) = switch.queues_waited(Time::from_ps(MS / 2), OUT).unwrap()[0];
    assert_eq!(packets, u128::from(2 * (MS / 2)));
    assert_eq!(bytes, u128::from(MS / 2) * 1500);
    switch.handle_timeout(Time::from_ps(9 * MS));
    let (packets, bytes) = switch.queues_waited(Time::from_ps(10 * MS), OUT).unwrap()[0];
    assert_eq!(packets, u128::from(MS + 2 * MS));
    assert_eq!(bytes, u128::from(MS) * 1000 + u128::from(2 * MS) * 500);
    assert!(switch.queues_waited(Time::ZERO, 77).is_err());
}
