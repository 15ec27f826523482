//! Several pipelines behave like one switch: packet by packet in virtual time, and without loss or
//! reordering on two threads.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::common::{self, CLIENT, COLLECTOR, OUT, SERVER, entry, port, routes};
use narrows_common::{Duration, Packet, Rng, Time};
use narrows_dpdk::{Clock, Idle, IdleKind, Start};
use narrows_engine::network::managed_switch::ManagedSwitch;
use narrows_engine::network::managed_switch::pipelines::Pipelines;
use narrows_engine::real_time::{DataPath, Node, SwitchNode, inter_core_rings};
use narrows_queueing::{PortConfig, QueueLimit};
use narrows_switch::{
    CloneSession, ControlOperation, Count, Match, Program, Replica, Switch, TableEntry,
};

use crate::rings::{Rings, filled};
use crate::switches::running;

const IN: u16 = 1;
const REGISTERS: [&str; 4] = ["delay_count", "delay_sum", "delay_max", "delay_histogram"];

/// A switch's pipelines with its ports divided among `count`, running the bottleneck.
fn made(count: u16) -> Vec<ManagedSwitch> {
    let limit = QueueLimit::Packets(20);
    let ports = [(IN, Some(20_000_000)), (OUT, Some(8_000_000)), (COLLECTOR, None)];
    let ports = ports.into_iter().zip(0..).map(|((number, rate), index)| PortConfig {
        pipeline: index % count,
        ..port(number, rate, limit)
    });
    running(&common::bottleneck_program(), ports.collect(), set_up)
}

/// Two pipelines, the odd ports in the second one, running a program of the switch's tests.
fn two(program_json: &str) -> Vec<ManagedSwitch> {
    let program = Arc::new(Program::from_json(program_json).expect("it loads"));
    let ports = (1..=4).map(|number| PortConfig {
        pipeline: number % 2,
        ..port(number, None, QueueLimit::Packets(0))
    });
    running(&program, ports.collect(), |_| ())
}

/// Installs routes, a counted flow, and a report of every second packet of both ports.
fn set_up(switch: &mut Switch) {
    routes(switch);
    common::flow(switch);
    let replicas = vec![Replica { port: COLLECTOR, rid: 0 }];
    switch.set_clone_session(CloneSession { id: 1, replicas, truncate_bytes: None });
    for port in [IN, OUT] {
        let key = [("egress_port", Match::Exact(port.to_string()))];
        let every = [("every", "2"), ("session", "1")];
        switch.insert_entry(&entry("telemetry", key, "report_every", every)).expect("room");
    }
    let key = [("collector_port", Match::Exact(COLLECTOR.to_string()))];
    let to = [
        ("node_id", "7"),
        ("src_mac", "0x020000000003"),
        ("dst_mac", "0x0200000000cc"),
        ("src_addr", "0x0a000301"),
        ("dst_addr", "0x0a0003fe"),
        ("udp_port", "5600"),
    ];
    switch.insert_entry(&entry("collector", key, "send_to", to)).expect("room");
}

/// A frame from the client, or its mirror image from the server. The program drops a TTL of 1.
fn frame(to_server: bool, length: usize, ttl: u8, sequence: u32) -> Packet {
    let mut bytes = common::frame(length, sequence);
    if !to_server {
        bytes[26..30].copy_from_slice(&SERVER);
        bytes[30..34].copy_from_slice(&CLIENT);
    }
    bytes[22] = ttl;
    bytes[24..26].fill(0);
    let sum = common::checksum(&bytes[14..34]);
    bytes[24..26].copy_from_slice(&sum.to_be_bytes());
    Packet::from_bytes(&bytes)
}

/// All observable state of a switch after 3,000 packets at any port, faster than the bottleneck
/// sends them.
#[derive(Debug, PartialEq)]
struct Seen {
    /// Start, end and bytes of sent packets, by port.
    sent: BTreeMap<u16, Vec<(Time, Time, Vec<u8>)>>,
    ports: Vec<narrows_queueing::PortStatistics>,
    statistics: narrows_switch::Statistics,
    registers: Vec<Vec<String>>,
    drops: Vec<Count>,
    flows: Vec<(TableEntry, Count)>,
}

fn seen(count: u16) -> Seen {
    let mut made = made(count);
    let mut all = Pipelines::new(&mut made);
    let mut rng = Rng::from_seed(5);
    let (mut now, mut sent) = (Time::ZERO, BTreeMap::<_, Vec<_>>::new());
    for number in 0..3000 {
        if number == 1500 {
            let write = |pipeline: &mut ManagedSwitch| {
                Ok(pipeline.switch()?.write_register(
                    "delay_sum",
                    OUT.into(),
                    "0xfffffffffffffff0",
                )?)
            };
            all.each(write).expect("a cell");
        }
        now += Duration::from_ps(1 + rng.range(0, 800_000_000));
        let length = 60 + rng.range(0, 1400) as usize;
        let ttl = if rng.chance(0.05) { 1 } else { 64 };
        let (into, to_server) = ([IN, OUT, COLLECTOR][rng.range(0, 2) as usize], rng.chance(0.7));
        all.handle_packet(now, into, frame(to_server, length, ttl, number).into());
    }
    all.handle_timeout(now + Duration::from_ms(500));
    for transmit in all.take_sent() {
        let bytes = transmit.packet.to_bytes();
        sent.entry(transmit.port).or_default().push((transmit.start, transmit.end, bytes));
    }
    let registers = REGISTERS.iter().map(|name| {
        let cells = if *name == "delay_histogram" { 512 } else { 8 };
        all.registers(name, 0, cells).expect("cells")
    });
    Seen {
        registers: registers.collect(),
        ports: [IN, OUT, COLLECTOR]
            .map(|port| all.of_port(port).port_statistics(port).expect("a port"))
            .into(),
        statistics: all.statistics().0,
        drops: all.counts(|switch| switch.read_counters("drops", 0, 6)).expect("a counter"),
        flows: all.entries_from("flow", 0, 10).expect("a table").0,
        sent,
    }
}

#[test]
fn two_and_three_pipelines_equal_one_switch() {
    let whole = seen(1);
    // The comparison covers full queues, reports, drops and a histogram.
    assert!(whole.ports[1].refused > 100, "{:?}", whole.ports);
    assert_eq!(whole.sent[&COLLECTOR].len() as u64, whole.ports[2].transmitted);
    assert!(whole.ports[2].transmitted > 500 && whole.statistics.dropped_ingress > 100);
    for count in [2, 3] {
        let several = seen(count);
        assert_eq!(several, whole, "{count} pipelines");
    }
}

/// Its table has a time-out of 10 ms, and only packets of the second pipeline hit the entry.
#[test]
fn an_entry_is_idle_when_it_is_in_every_pipeline() {
    let mut made = two(include_str!("../../switch/tests/programs/profiles.json"));
    let mut all = Pipelines::new(&mut made);
    let at = |ms: u64| Time::ZERO + Duration::from_ms(ms);
    let key = [("hdr.h.a", Match::Exact("0x1".to_owned()))];
    let row = TableEntry { priority: 0, ..entry("I.idle", key, "I.out_by", [("port", "0x2")]) };
    all.each(|pipeline| {
        pipeline.switch()?.insert_entry(&row)?;
        Ok(pipeline.switch()?.set_idle_timeout(at(0), &row, Some(Duration::from_ms(10)))?)
    })
    .expect("room");
    all.handle_packet(at(6), 1, Packet::from_bytes(&[2, 1, 0, 0, 0, 0, 0, 0]).into());
    all.handle_timeout(at(10));
    assert_eq!(all.take_expired(), []);
    all.handle_timeout(at(16));
    assert_eq!(all.take_expired(), [row]);
    assert_eq!(all.take_expired(), []);
}

/// Ingress of both pipelines learns sources, and both count misses.
#[test]
fn digests_and_counts_are_of_all_pipelines() {
    let mut made = two(include_str!("../../switch/tests/programs/control.json"));
    let mut all = Pipelines::new(&mut made);
    for number in 1..=4 {
        let prefix = [
            ("hdr.ethernet.src", Match::Lpm("0".to_owned(), 0)),
            ("std.ingress_port", Match::Exact(number.to_string())),
        ];
        let learn = TableEntry { priority: 0, ..entry("prefixes", prefix, "learn", []) };
        // The table has room for two.
        let inserted = all.each(|pipeline| Ok(pipeline.switch()?.insert_entry(&learn)?));
        assert_eq!(inserted.is_ok(), number <= 2);
        all.handle_packet(Time::ZERO, number, Packet::from_bytes(&[number as u8; 60]).into());
    }
    let learned: Vec<_> = all.take_digests().into_iter().map(|digest| digest.values).collect();
    // The first pipeline has the even ports.
    assert_eq!(learned, [["0x20202020202", "0x2"], ["0x10101010101", "0x1"]]);
    let missed = |all: &mut Pipelines<'_>| {
        all.counts(|switch| Ok(vec![switch.default_count("acl")?])).expect("a table")[0]
    };
    assert_eq!(missed(&mut all), Count { packets: 4, bytes: 240 });
    let ten = Count { packets: 10, bytes: 1000 };
    all.set_count(ten, |switch, count| switch.set_default_count("acl", count)).expect("a table");
    all.handle_packet(Time::ZERO, 1, Packet::from_bytes(&[1; 60]).into());
    assert_eq!(missed(&mut all), Count { packets: 11, bytes: 1060 });
}

/// The packet is on its way between two pipelines.
#[test]
fn a_change_of_program_counts_the_handovers_it_loses() {
    let mut made = made(2);
    let mut all = Pipelines::new(&mut made);
    all.first().handle_packet(Time::ZERO, IN, frame(true, 100, 64, 0).into());
    let program = common::bottleneck_program();
    let switches: Vec<Switch> = all
        .configs()
        .iter()
        .map(|(config, seed)| config.build_of(&program, *seed).expect("it loads"))
        .collect();
    all.install(switches).expect("its ports");
    all.handle_timeout(Time::ZERO + Duration::from_ms(1));
    assert!(all.take_sent().is_empty());
    assert_eq!(all.statistics().0.dropped_egress, 1);
}

/// Two pipelines with a port each, and a bottleneck fast enough to delay no packet.
fn nodes() -> [SwitchNode; 2] {
    let mut made = made(2);
    let mut all = Pipelines::new(&mut made);
    all.each(|pipeline| {
        let switch = pipeline.switch()?;
        let rate = narrows_common::Rate::from_bps(100_000_000_000);
        let set = ControlOperation::SetRate { port: OUT, rate };
        switch.control(Time::ZERO, &set).expect("a port");
        let limit = QueueLimit::Packets(10_000);
        let set = ControlOperation::SetQueueLimit { port: OUT, limit };
        switch.control(Time::ZERO, &set).expect("a port");
        Ok(())
    })
    .expect("a program");
    let mut each = made.into_iter().zip(inter_core_rings(2)).zip([IN, OUT]);
    [(); 2].map(|()| {
        let ((pipeline, rings), port) = each.next().expect("two");
        SwitchNode::new(Box::new(pipeline), &[(port, Duration::ZERO)]).with_rings(rings)
    })
}

/// 3,000 packets for a core that does not poll: its ring holds 2,048, and a turn takes 256.
#[test]
fn a_full_ring_stops_the_ports_and_keeps_the_order() {
    let [mut node, mut other] = nodes();
    let mut now = Time::ZERO;
    for number in 0..3000 {
        now += Duration::from_us(1);
        node.handle_packet(now, 0, frame(true, 100, 64, number).into());
        node.handle_timeout(now);
        assert_eq!(node.is_full(), number >= 2048);
    }
    let mut left = vec![];
    for _ in 0..12 {
        other.receive_from_cores();
        node.handle_timeout(now);
    }
    other.handle_timeout(now + Duration::from_ms(1));
    while let Some(departure) = other.poll_transmit() {
        left.push(u32::from_be_bytes(departure.packet.data[38..42].try_into().expect("four")));
    }
    assert!(!node.is_full());
    assert_eq!(left, (0..3000).collect::<Vec<u32>>());
}

/// All packets go to the other core, which keeps memory for some of them; then it returns the rest.
#[test]
fn memory_returns_to_the_core_from_which_packets_come() {
    let [mut node, mut other] = nodes();
    let (mut now, mut memory, mut at_first) = (Time::ZERO, BTreeSet::new(), 0);
    for number in 0..6000 {
        now += Duration::from_us(1);
        let mut packet = node.take_packet();
        memory.insert(&raw const *packet);
        packet.copy_front(&frame(true, 100, 64, number), 100);
        node.handle_packet(now, 0, packet);
        node.handle_timeout(now);
        other.receive_from_cores();
        other.handle_timeout(now);
        let departure = other.poll_transmit().expect("it leaves at once");
        other.recycle(departure.packet);
        // The reports leave by a port without a wire.
        node.receive_from_cores();
        assert!(node.poll_transmit().is_none());
        at_first = if number == 3000 { memory.len() } else { at_first };
    }
    assert_eq!(memory.len(), at_first);
}

/// Packets that arrive at the first core's port leave by the second core's.
#[test]
#[cfg_attr(not(has_dpdk), ignore = "needs libdpdk")]
fn pipes_on_two_cores_lose_nothing_and_keep_the_order() {
    const PACKETS: u32 = 20_000;
    let Rings { eal, pool, mut near, mut far, wires: [first, second] } = Rings::new();
    let [mut node, mut other] = nodes();
    let clock = Clock::start(eal);
    let path = |wire| DataPath::new(clock.clone(), Idle::new(IdleKind::Yield), vec![wire]);
    let (mut path, mut theirs) = (path(first), path(second));
    let start = Start { at_ns: path.begin(eal, None), rate: path.clock_rate() };
    let is_over = AtomicBool::new(false);
    let (mut sent, mut got, mut received) = (0u32, 0u32, vec![]);
    let theirs = thread::scope(|scope| {
        let thread = scope.spawn(|| {
            theirs.begin(eal, Some(start));
            while !is_over.load(Ordering::Relaxed) {
                theirs.turn(&mut other);
            }
            theirs.instrument()
        });
        while got < PACKETS {
            // Never have more packets in flight than the pool has.
            if sent < PACKETS && sent - got < 512 {
                let frame = frame(true, 300, 64, sent).to_bytes();
                near.transmit(&mut vec![filled(&pool, &frame)]);
                sent += 1;
            }
            path.turn(&mut node);
            far.receive(&mut received);
            for mbuf in received.drain(..) {
                assert_eq!(mbuf.data()[38..42], got.to_be_bytes());
                got += 1;
            }
        }
        is_over.store(true, Ordering::Relaxed);
        thread.join().expect("it ends")
    });
    assert_eq!(path.instrument().wires[0].received, u64::from(PACKETS));
    assert_eq!((theirs.wires[0].sent, theirs.wires[0].not_sent), (u64::from(PACKETS), 0));
}
