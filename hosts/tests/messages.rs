//! Messages of applications, from write to read.

use crate::net::{Net, Path, flow, secs};
use narrows_common::record::MessageRecord;
use narrows_common::{Duration, Time};
use narrows_hosts::{FlowConfig, FlowError};
use narrows_traffic::AppConfig;
use narrows_traffic::workloads::{cbr, cve, telnet, trace};

const MBPS: u64 = 1_000_000;

fn carrying(app: AppConfig) -> FlowConfig {
    FlowConfig { app, nagle: Some(false), ..flow(1, "reno", "sack", "rfc", None) }
}

fn updates(users: u32, messages: u64) -> AppConfig {
    AppConfig::from(cve::Config {
        size_bytes: 80,
        interval: Duration::from_ms(50),
        users,
        messages: Some(messages),
    })
}

/// Runs to completion; returns the messages that the receiver read.
fn read(net: &mut Net, config: &FlowConfig) -> Vec<MessageRecord> {
    net.open(config);
    net.run_while(secs(1_000.0), |net| !net.is_complete());
    assert!(net.is_complete());
    core::mem::take(net.hosts[1].message_records())
}

#[test]
fn an_idle_link_takes_transmission_plus_propagation() {
    // 1 Mb/s and 20 ms; 80 bytes, 20 of IPv4 and 20 of TCP are 960 bits: 0.96 ms.
    let mut net = Net::new(Path::clean(MBPS, Duration::from_ms(20)), 1);
    let mut config = carrying(updates(1, 40));
    config.timestamps = Some(false);
    let records = read(&mut net, &config);
    assert_eq!(records.len(), 40);
    for (number, record) in records.iter().enumerate() {
        assert_eq!((record.flow, record.message, record.length_bytes), (1, number as u64, 80));
        assert_eq!(record.written_at, Time::ZERO + Duration::from_ms(50 * number as u64));
        // The first message waits for the handshake: a round trip with 40 or 44 bytes or more.
        let latency = record.read_at.since(record.written_at);
        if number > 0 {
            assert_eq!(latency, Duration::from_us(20_960), "message {number}");
        } else {
            assert!(latency > Duration::from_us(60_960) && latency < Duration::from_ms(63));
        }
    }
    let counters = net.hosts[1].flow_report(1).unwrap().messages.unwrap();
    assert_eq!((counters.read, counters.is_garbled), (40, false));
    assert_eq!(net.hosts[0].flow_report(1).unwrap().messages, None);
}

#[test]
fn what_a_loss_holds_up_is_replaced_by_the_last() {
    // 20 ms, 100 Mb/s. Update 10, in the 11th data segment, is lost; later updates wait for it. It
    // was written at 0.5 s. Updates 11, 12 and 13 cause three duplicate ACKs, the third at 0.65 +
    // 0.04 s. The retransmission arrives 20 ms later, at 0.71 s, after update 13 and before update
    // 14, which arrives at 0.72 s. So 10 to 13 are read together.
    let mut net = Net::new(Path::clean(100 * MBPS, Duration::from_ms(20)), 1);
    let (mut data, mut lost) = (0, 0);
    net.dropper = Box::new(move |from, _, packet| {
        data += u64::from(from == 0 && packet.len() > 130);
        let is_lost = from == 0 && packet.len() > 130 && data == 11 && lost == 0;
        lost += u64::from(is_lost);
        is_lost
    });
    let config = FlowConfig {
        initial_window: Some(10),
        delayed_ack: Some(false),
        ..carrying(updates(1, 40))
    };
    let records = read(&mut net, &config);
    assert_eq!(records.len(), 40);
    assert!(records.windows(2).all(|pair| pair[0].message + 1 == pair[1].message));
    let at = records[10].read_at;
    assert!(at > secs(0.71) && at < secs(0.711), "{at:?}");
    let together: Vec<u64> =
        records.iter().filter(|record| record.read_at == at).map(|record| record.message).collect();
    assert_eq!(together, [10, 11, 12, 13]);
    let counters = net.hosts[1].flow_report(1).unwrap().messages.unwrap();
    assert_eq!((counters.read, counters.superseded), (40, Some(3)));
}

#[test]
fn messages_survive_loss_reordering_and_any_segment_size() {
    for (seed, segment_bytes) in [(1, 7), (2, 100), (3, 536), (4, 1448), (5, 1448), (6, 23)] {
        let path = Path {
            loss: 0.03,
            reordering: 0.1,
            duplication: 0.03,
            ..Path::clean(10 * MBPS, Duration::from_ms(5))
        };
        let mut net = Net::new(path, seed);
        let sizes = [24, 25, 3_000, 80, 24, 1_448, 65_536, 40];
        let writes: Vec<(Duration, u32)> = (0..200)
            .map(|n| {
                (Duration::from_ms(n), sizes[n as usize % sizes.len()].min(40 * segment_bytes))
            })
            .map(|(at, size)| (at, size.max(24)))
            .collect();
        let app = AppConfig::from(trace::Config { writes: writes.clone() });
        let config = FlowConfig { segment_bytes: Some(segment_bytes), ..carrying(app) };
        let records = read(&mut net, &config);
        let found: Vec<(Duration, u32)> = records
            .iter()
            .map(|r| (r.written_at.since(Time::ZERO), r.length_bytes as u32))
            .collect();
        assert_eq!(found, writes, "seed {seed}");
        assert!(records.windows(2).all(|pair| pair[0].read_at <= pair[1].read_at));
        let report = net.hosts[1].flow_report(1).unwrap();
        assert!(!report.messages.unwrap().is_garbled);
        let bytes: u64 = writes.iter().map(|&(_, size)| u64::from(size)).sum();
        assert_eq!(report.received.delivered_bytes, bytes);
    }
}

#[test]
fn a_flow_s_messages_depend_on_the_seed_and_its_number_only() {
    let typing = AppConfig::from(telnet::Config {
        size_bytes: 100,
        interval: Some(Duration::from_ms(100)),
        messages: Some(50),
    });
    let written = |seed, others: u32| {
        let mut net = Net::new(Path::clean(10 * MBPS, Duration::from_ms(5)), seed);
        for id in 2..2 + others {
            net.open(&FlowConfig { app: typing.clone(), ..flow(id, "reno", "sack", "rfc", None) });
        }
        let records = read(&mut net, &carrying(typing.clone()));
        let own = records.iter().filter(|record| record.flow == 1);
        own.map(|record| record.written_at).collect::<Vec<_>>()
    };
    assert_eq!(written(1, 0).len(), 50);
    assert_eq!(written(1, 0), written(1, 3));
    assert_ne!(written(1, 0), written(2, 0));
}

#[test]
fn a_rate_out_of_range_is_refused() {
    let app = AppConfig::from(cbr::Config {
        rate_bps: 0,
        size_bytes: 100,
        random: false,
        messages: None,
    });
    let mut net = Net::new(Path::clean(MBPS, Duration::ZERO), 1);
    let error = net.hosts[0].open_flow(&carrying(app)).unwrap_err();
    assert!(matches!(error, FlowError::App { flow: 1, .. }));
    assert_eq!(
        error.to_string(),
        "flow 1: app cbr: rate_bps = 0 is out of range; expected 1 to 1000000000000"
    );
}
