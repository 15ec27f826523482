//! Sends packets through a port with a discipline: what callgrind counts the instructions of.
//!
//! `valgrind --tool=callgrind target/release/examples/cost codel 100000`; the difference between
//! two numbers of packets is what the packets cost.

use narrows_common::{Duration, LengthBasis, Packet, Rng, Time};
use narrows_queueing::{Arrival, DisciplineConfig, PortConfig, QueueLimit, TrafficManager};

/// A TCP segment of a connection, 1,514 bytes, capable of ECN.
fn frame(flow: u16) -> Packet {
    let mut data = vec![0; 54];
    data[12..14].copy_from_slice(&[8, 0]);
    (data[14], data[15]) = (0x45, 2);
    data[16..18].copy_from_slice(&1500u16.to_be_bytes());
    data[23] = 6;
    data[26..34].copy_from_slice(&[10, 0, 1, 1, 10, 0, 2, 1]);
    data[34..36].copy_from_slice(&flow.to_be_bytes());
    Packet { data, zeros: 1460, ..Packet::default() }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let discipline = arguments.next().expect("a discipline");
    let packets: u64 = arguments.next().and_then(|text| text.parse().ok()).expect("a number");
    let port = PortConfig {
        port: 1,
        rate_bps: Some(100_000_000),
        queue: QueueLimit::Packets(1000),
        discipline: DisciplineConfig::named(&discipline),
        counts: LengthBasis::Frame,
        queues: 1,
        classes: vec![],
        trace: None,
        record: false,
        pipeline: 0,
    };
    let mut tm = TrafficManager::new(&[port], 0, false, 1).expect("a port");
    let (mut rng, mut now, mut spare) = (Rng::from_seed(1), Time::ZERO, Vec::new());
    let mut sent = 0;
    for n in 0..packets {
        // 95 % of the rate, in bursts: a packet takes 121 us.
        now += Duration::from_us(if n % 16 == 0 { rng.range(1500, 2550) } else { 0 });
        while let Some((at, port)) = tm.take_due(now) {
            while let Some(dequeued) = tm.dequeue_idle(at, port) {
                tm.transmit(at, port, 1514);
                spare.push(dequeued.queued.packet);
                sent += 1;
            }
        }
        let packet = spare.pop().unwrap_or_else(|| frame((n % 8) as u16));
        tm.offer(now, 0, Arrival { packet, flow: 1, priority: 0, frame_bytes: 1514 });
        while tm.dequeue_idle(now, 0).is_some_and(|dequeued| {
            tm.transmit(now, 0, 1514);
            spare.push(dequeued.queued.packet);
            sent += 1;
            true
        }) {}
        while let Some(packet) = tm.poll_dropped() {
            spare.push(packet);
        }
    }
    println!("{discipline}: {sent} of {packets} sent");
}
