//! Compares datagrams of applications with arithmetic and with ns-2.35.

use crate::net::{Net, Path, flow, host_config, secs};
use narrows_common::{Duration, Rng, Time};
use narrows_hosts::{FlowConfig, FlowError, Host};
use narrows_traffic::AppConfig;
use narrows_traffic::workloads::{cbr, request_response};

/// IPv4 and UDP.
const HEADERS_BYTES: u32 = 28;

/// A flow of messages of `size_bytes`, one every `interval_us`.
fn cbr(id: u32, size_bytes: u32, interval_us: u64, messages: Option<u64>) -> FlowConfig {
    let rate_bps = u64::from(size_bytes) * 8_000_000 / interval_us;
    assert_eq!(rate_bps * interval_us, u64::from(size_bytes) * 8_000_000, "no whole rate");
    let app = AppConfig::from(cbr::Config { rate_bps, size_bytes, random: false, messages });
    FlowConfig { app, ..flow(id, "udp", "none", "rfc", None) }
}

fn ms(ms: u64) -> Duration {
    Duration::from_ms(ms)
}

#[test]
fn udp_takes_its_transmission_and_the_propagation() {
    // 1 Mb/s and 20 ms; 972 bytes and 28 of headers are 8,000 bits: 8 ms.
    let mut net = Net::new(Path::clean(1_000_000, ms(20)), 1);
    net.open(&cbr(1, 972, 10_000, Some(50)));
    net.run_while(secs(100.0), |net| !net.is_complete());
    let sent = net.hosts[0].flow_report(1).unwrap();
    let came = net.hosts[1].flow_report(1).unwrap();
    // 0 to 49, each 10 ms.
    assert_eq!(sent.completed_at, Some(Time::ZERO + ms(490)));
    assert_eq!((sent.sent.segments_sent, sent.sent.bytes_sent), (50, 50 * 972));
    assert_eq!(came.received.delivered_bytes, 50 * 972);
    assert_eq!((came.one_way_delay.min, came.one_way_delay.max), (ms(28), ms(28)));
    let datagrams = came.datagrams.unwrap();
    assert_eq!((datagrams.received, datagrams.lost, datagrams.duplicates), (50, 0, 0));
    assert_eq!((datagrams.jitter, datagrams.delay_variation.max), (Duration::ZERO, Duration::ZERO));
    let records = net.hosts[1].message_records();
    assert_eq!(records.len(), 50);
    assert!(records.iter().all(|record| record.read_at.since(record.written_at) == ms(28)));
}

/// 100 datagrams every 10 ms into a link that takes 20 ms each, with room for 5 besides the one in
/// transmission. Datagram n arrives at 10 n; accepted ones leave 20 ms apart.
#[test]
fn udp_loses_what_exceeds_the_rate_to_the_last_packet() {
    let path = Path { queue_packets: 5, ..Path::clean(400_000, ms(20)) };
    let mut net = Net::new(path, 1);
    net.open(&cbr(1, 972, 10_000, Some(100)));
    net.run_while(secs(100.0), |net| !net.is_complete());
    let datagrams = net.hosts[1].flow_report(1).unwrap().datagrams.unwrap();
    // By 990 ms transmissions began at 0, 20, ..., 980: 50. The last five are queued.
    assert_eq!(datagrams.received, 55);
    // The very last one is lost too, which the receiver can't know.
    assert_eq!((net.drops, datagrams.lost), (45, 44));
    // Full from 90 ms on, the queue accepts one every 20 ms, which waits 5 transmissions minus 10
    // ms. The delay is the empty path's plus the wait, at most 20 + 20 + 100 - (0 or 10) ms.
    let delay = net.hosts[1].flow_report(1).unwrap().one_way_delay;
    assert_eq!((delay.min, delay.max), (ms(40), ms(140)));
}

/// CBR sources with 1.35 Mb/s in total on about 1 Mb/s, and with 1.05: ns-2's counts of datagrams
/// received in 100 s and missed by its receivers (`ns2/datagrams.tcl`; `queue 21`, because its
/// DropTail holds one less). The rate is odd, so no packet arrives just as another leaves.
#[test]
fn udp_loses_on_a_saturated_link_what_it_loses_in_ns2() {
    let sources = [(1000, 10_000, 0), (500, 16_000, 3_000), (300, 8_000, 1_100)];
    for expected in [&[(7474, 2515), (4021, 2223), (10440, 2049)][..], &[(9530, 457), (6173, 69)]] {
        let path = Path { queue_packets: 20, ..Path::clean(1_009_433, ms(10)) };
        let mut net = Net::new(path, 1);
        for (id, (bytes, interval_us, start_us)) in (1..).zip(&sources[..expected.len()]) {
            let start = Time::ZERO + Duration::from_us(*start_us);
            let config = cbr(id, bytes - HEADERS_BYTES, *interval_us, None);
            net.open(&FlowConfig { start, ..config });
        }
        net.run_until(secs(100.0));
        let counted: Vec<_> = (1..=expected.len())
            .map(|id| net.hosts[1].flow_report(id as u32).unwrap().datagrams.unwrap())
            .map(|datagrams| (datagrams.received, datagrams.lost))
            .collect();
        assert_eq!(counted, *expected);
    }
}

#[test]
fn udp_counts_what_a_path_does_to_datagrams() {
    let path =
        Path { loss: 0.1, duplication: 0.1, reordering: 0.2, ..Path::clean(10_000_000, ms(5)) };
    let mut net = Net::new(path, 7);
    net.open(&cbr(1, 972, 1_000, Some(5_000)));
    net.run_while(secs(100.0), |net| !net.is_complete());
    let datagrams = net.hosts[1].flow_report(1).unwrap().datagrams.unwrap();
    assert_eq!(datagrams.received, 5_000 - net.drops);
    // Losses after the last received datagram are unknown.
    assert!((net.drops - 5..=net.drops).contains(&datagrams.lost), "{datagrams:?}");
    assert!((350..550).contains(&datagrams.duplicates), "a tenth of 4,500: {datagrams:?}");
    assert!(datagrams.reordered > 300, "{datagrams:?}");
    let numbers: std::collections::BTreeSet<u64> =
        net.hosts[1].message_records().iter().map(|record| record.message).collect();
    assert_eq!(numbers.len() as u64, datagrams.received, "each once");
}

/// 3,000 bytes in one write, split at 1,472: three datagrams of 1,000 bytes.
#[test]
fn udp_cuts_a_long_message_into_datagrams_alike() {
    let mut net = Net::new(Path::clean(1_000_000, ms(1)), 1);
    net.open(&cbr(1, 3_001, 100_000, Some(2)));
    net.run_while(secs(10.0), |net| !net.is_complete());
    let lengths: Vec<u64> =
        net.hosts[1].message_records().iter().map(|record| record.length_bytes).collect();
    assert_eq!(lengths, [1_001, 1_000, 1_000, 1_001, 1_000, 1_000]);
}

#[test]
fn udp_refuses_applications_that_need_a_stream() {
    let answering = AppConfig::from(request_response::Config {
        size_bytes: 100,
        response_bytes: 100,
        think: None,
        messages: None,
    });
    let mut host = Host::new(&host_config(1), Rng::from_seed(1));
    let mut refused = |app: AppConfig| {
        let config = FlowConfig { app, ..flow(1, "udp", "none", "rfc", None) };
        host.open_flow(&config).unwrap_err()
    };
    for app in [flow(1, "udp", "none", "rfc", None).app, answering] {
        assert!(matches!(refused(app), FlowError::Unmet { value: "udp", .. }));
    }
}
