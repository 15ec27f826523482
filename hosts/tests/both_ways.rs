//! Connections with messages in both directions: requests and responses, forwarded updates.

use crate::net::{Net, Path, flow, secs};
use narrows_common::Duration;
use narrows_common::record::MessageRecord;
use narrows_hosts::FlowConfig;
use narrows_traffic::AppConfig;
use narrows_traffic::message::Header;
use narrows_traffic::workloads::{cbr, cve_server, request_response};

fn carrying(id: u32, app: AppConfig) -> FlowConfig {
    let timestamps = Some(false);
    FlowConfig { app, nagle: Some(false), timestamps, ..flow(id, "reno", "sack", "rfc", None) }
}

#[test]
fn a_transaction_takes_both_ways_and_the_next_follows_it() {
    // 1 Mb/s, 20 ms. A request of 100 bytes and a response of 500, with 40 of headers each: 1.12 ms
    // and 4.32 ms of transmission, 45.44 ms in total.
    let app = request_response::Config {
        size_bytes: 100,
        response_bytes: 500,
        think: None,
        messages: Some(5),
    };
    let mut net = Net::new(Path::clean(1_000_000, Duration::from_ms(20)), 1);
    net.open(&carrying(1, AppConfig::from(app)));
    net.run_while(secs(10.0), |net| !net.is_complete());
    assert!(net.is_complete());
    assert!(net.hosts[1].message_records().is_empty(), "the server records none");
    let records = core::mem::take(net.hosts[0].message_records());
    let numbers: Vec<u64> = records.iter().map(|record| record.message).collect();
    assert_eq!(numbers, [0, 1, 2, 3, 4]);
    for pair in records.windows(2) {
        let [before, after] = pair else { unreachable!("windows of two") };
        assert_eq!(after.written_at, before.read_at);
        assert_eq!(after.read_at.since(after.written_at), Duration::from_us(45_440));
        assert_eq!(after.length_bytes, 500);
    }
    let counters = net.hosts[0].flow_report(1).unwrap().messages.unwrap();
    assert_eq!((counters.read, counters.superseded, counters.is_garbled), (5, None, false));
}

#[test]
fn an_update_reaches_exactly_the_others_of_its_partition() {
    // Flows 1 to 3 are one part of the world, 4 and 5 another; ten updates each.
    let mut net = Net::new(Path::clean(100_000_000, Duration::from_ms(20)), 1);
    for id in 1..=5 {
        let app = cve_server::Config {
            size_bytes: 80,
            interval: Duration::from_ms(50),
            partition: if id <= 3 { 1 } else { 2 },
            messages: None,
        };
        net.open(&carrying(id, AppConfig::from(app)));
    }
    net.run_until(secs(2.01));
    let records = core::mem::take(net.hosts[0].message_records());
    assert!(net.hosts[1].message_records().is_empty(), "the server records none");
    let origins = |id: u32| {
        let of = |record: &&MessageRecord| record.flow == id;
        let mut origins: Vec<u32> =
            records.iter().filter(of).map(|record| Header::origin(record.message)).collect();
        origins.sort_unstable();
        origins.dedup();
        origins
    };
    assert_eq!(
        [1, 2, 3, 4, 5].map(origins),
        [vec![2, 3], vec![1, 3], vec![1, 2], vec![5], vec![4]]
    );
    // 40 ms of propagation, and little else if nothing waits for a handshake.
    let settled = |record: &&MessageRecord| record.written_at > secs(0.5);
    for record in records.iter().filter(settled) {
        let latency = record.read_at.since(record.written_at);
        assert!((Duration::from_ms(40)..Duration::from_ms(41)).contains(&latency), "{record:?}");
    }
    // 41 updates of each began in 2.01 s; those of the last 40 ms are in flight.
    let of_four = records.iter().filter(|record| record.flow == 4);
    assert_eq!(of_four.count(), 40);
}

#[test]
fn what_the_send_buffer_has_no_room_for_is_left_out() {
    // 800 kb/s of messages of 1,000 bytes into 80 kb/s: a tenth passes, minus headers. No message
    // waits for more than 5,000 bytes before it, slightly over 0.5 s.
    let app = cbr::Config { rate_bps: 800_000, size_bytes: 1_000, random: false, messages: None };
    let mut config = carrying(1, AppConfig::from(app));
    config.send_buffer_bytes = Some(5_000);
    let mut net = Net::new(Path::clean(80_000, Duration::from_ms(1)), 1);
    net.open(&config);
    net.run_until(secs(100.0));
    let skipped = net.hosts[0].flow_report(1).unwrap().skipped_messages;
    let records = core::mem::take(net.hosts[1].message_records());
    assert!((900..=1_000).contains(&records.len()), "{}", records.len());
    let written = records.len() as u64 + 5;
    assert!((10_000 - written..=10_001).contains(&(skipped + 5)), "{skipped}");
    for record in &records {
        let latency = record.read_at.since(record.written_at);
        assert!(latency < Duration::from_ms(700), "{record:?}");
    }
    // The numbers include the skipped messages.
    assert!(records.last().unwrap().message > 9_900);
}
