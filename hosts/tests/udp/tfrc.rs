//! Complete TFRC: both ends over a path, compared with RFC 5348's equation, ns-2.35 and TCP.

use crate::net::{Net, Path, flow, secs};
use narrows_common::record::FlowRecord;
use narrows_common::{Duration, Time};
use narrows_hosts::{FlowConfig, Recording};
use narrows_traffic::AppConfig;
use narrows_traffic::workloads::cbr;

/// 20 of TFRC, 8 of UDP, 20 of IPv4: 1,000 bytes of IPv4 with a message of 952.
const MESSAGE_BYTES: u32 = 952;

fn tfrc(id: u32) -> FlowConfig {
    FlowConfig {
        segment_bytes: Some(MESSAGE_BYTES),
        record: Recording::Ack,
        ..flow(id, "tfrc", "none", "rfc", None)
    }
}

fn path(rate_bps: u64, queue_packets: usize) -> Path {
    Path { queue_packets, ..Path::clean(rate_bps, Duration::from_ms(50)) }
}

/// Datagrams that arrived between two times.
fn came(net: &mut Net, from: f64, to: f64) -> u64 {
    net.run_until(secs(from));
    let before = net.hosts[1].flow_report(1).unwrap().received.segments_received;
    net.run_until(secs(to));
    net.hosts[1].flow_report(1).unwrap().received.segments_received - before
}

fn rows(net: &mut Net) -> Vec<FlowRecord> {
    core::mem::take(net.hosts[0].flow_records())
}

/// The denominator of section 3.1, with t_RTO in round trips.
fn denominator(p: f64, timeout_round_trips: f64) -> f64 {
    let slow = 3.0 * (3.0 * p / 8.0).sqrt() * p * (1.0 + 32.0 * p * p);
    (2.0 * p / 3.0).sqrt() + timeout_round_trips * slow
}

/// One in N datagrams is lost, and each loss is an event: p = 1/N. At 100 Mb/s and 50 ms a round
/// trip is 100 ms, plus 80 us for the datagram and 6.4 us for the report of 80 bytes. ns-2
/// (`ns2/tfrc.tcl`, `mbps 100 queue 1000 lose_every N`) has the same equation, but takes t_RTO from
/// TCP's estimator, where RFC 5348 has 4 R. Its estimator counts ticks of 100 ms, so R is one tick.
/// The deviation stays at the half tick of the first sample, because its gain, in integer quarter
/// ticks, removes nothing below a whole: 1 + 4 x 1/2 = 3 R. With ticks of 10 ms (`tick_s 0.01`) the
/// deviation stays at 3/4 of a tick: 10 + 4 x 3/4 = 1.3 R.
#[test]
fn tfrc_and_ns2_follow_the_equation_at_a_known_loss_rate() {
    for (every, timeout_of_ns2, of_ns2) in
        [(20, 3.0, 3812), (100, 3.0, 11346), (400, 3.0, 24008), (100, 1.3, 11769)]
    {
        let mut net = Net::new(path(100_000_000, 1_000), 1);
        net.dropper = Box::new(move |from, number, _| from == 0 && number % every == every - 1);
        net.open(&tfrc(1));
        let ours = came(&mut net, 20.0, 120.0) as f64;
        let p = 1.0 / every as f64;
        let expected = |timeout, rtt| 100.0 * (1.0 - p) / (rtt * denominator(p, timeout));
        assert!((ours / expected(4.0, 0.100_086_4) - 1.0).abs() < 1e-3, "{every}: {ours}");
        // Its datagrams have 1,032 bytes, its reports 40.
        assert!(
            (f64::from(of_ns2) / expected(timeout_of_ns2, 0.100_085_8) - 1.0).abs() < 1e-3,
            "{every}"
        );
    }
}

/// ns-2 (`mbps 2 queue 20`, `mbps 8 queue 50`) delivers 24,160 and 96,523 datagrams of 1,032 bytes
/// in 100 s: 99.7 % and 99.6 % of the line's capacity.
#[test]
fn tfrc_fills_a_saturated_link_as_ns2s_does() {
    for (mbps, queue, of_ns2) in [(2, 20, 24_160.0), (8, 50, 96_523.0)] {
        let mut net = Net::new(path(mbps * 1_000_000, queue - 1), 1);
        net.open(&tfrc(1));
        let ours = came(&mut net, 20.0, 120.0) as f64 * 1_000.0;
        assert!((ours / (of_ns2 * 1_032.0) - 1.0).abs() < 0.005, "{mbps} Mb/s: {ours}");
    }
}

/// The first report gives a round trip: 4 x 952 bytes per round trip (section 4.2), twice that
/// after another report (section 4.3), never more than twice the received rate.
#[test]
fn tfrc_begins_with_four_segments_and_doubles_them() {
    let mut net = Net::new(path(100_000_000, 1_000), 1);
    net.open(&tfrc(1));
    net.run_until(secs(1.0));
    let rows = rows(&mut net);
    let window = |row: &FlowRecord| (row.cwnd_bytes as f64 / 952.0).round() as u64;
    assert_eq!([window(&rows[0]), window(&rows[1])], [4, 8]);
    assert_eq!(rows[0].srtt, rows[0].rtt);
    for pair in rows.windows(2) {
        assert!(pair[1].cwnd_bytes <= 2 * pair[0].cwnd_bytes + 10, "{pair:?}");
        assert!(pair[1].at > pair[0].at);
    }
    assert!(window(rows.last().unwrap()) > 64, "{:?}", rows.last());
}

/// From 10 s on the return path is dead. The no-feedback timer is 4 R, then twice a segment's time.
/// The rate halves each time (section 4.4) until a segment leaves every 64 s.
#[test]
fn tfrc_halves_its_rate_when_no_report_comes() {
    let mut net = Net::new(path(8_000_000, 50), 1);
    net.dropper = Box::new(|_, _, _| false);
    net.open(&tfrc(1));
    net.run_until(secs(10.0));
    net.dropper = Box::new(|from, _, _| from == 1);
    let sent = |net: &Net| net.hosts[0].flow_report(1).unwrap().sent;
    net.run_until(secs(60.0));
    let (early, timeouts) = (sent(&net).segments_sent, sent(&net).timeouts);
    assert!(timeouts >= 8, "{timeouts}");
    net.run_until(secs(460.0));
    // 1,000 segments per second before; now at least one every 64 s.
    let late = sent(&net).segments_sent - early;
    assert!((5..=30).contains(&late), "{late}");
}

#[test]
fn tfrc_and_tcp_share_a_link_within_a_factor_of_two() {
    // ns-2 (`mbps 2 queue 20 tcp 1`): 9,145 and 14,772 from 20 s on. With TCP's packets delayed by
    // up to one packet's time, `late_s 0.004` and seeds 1 to 5: 11,841 to 12,891 and 11,193 to
    // 12,218.
    let mut net = Net::new(path(2_000_000, 19), 1);
    net.open(&tfrc(1));
    let tcp = flow(2, "reno", "sack", "ns2", None);
    net.open(&FlowConfig { window_bytes: Some(1_000_000), start: secs(0.1), ..tcp });
    net.run_until(secs(20.0));
    let acked = |net: &Net| net.hosts[0].flow_report(2).unwrap().acked_bytes / 1_000;
    let before = acked(&net);
    let ours = came(&mut net, 20.0, 120.0);
    let theirs = acked(&net) - before;
    assert!(ours < 2 * theirs && theirs < 2 * ours, "{ours} and {theirs}");
    assert!(ours + theirs > 24_000, "{ours} and {theirs} of 25,000");
}

/// 100 messages per second on a link for ten times as many: once the rate suffices each one leaves
/// when it is written, and the flow finishes.
#[test]
fn tfrc_carries_messages_with_a_pace_of_their_own() {
    let mut net = Net::new(path(8_000_000, 50), 1);
    let rate_bps = 952 * 8 * 100;
    let app = cbr::Config { rate_bps, size_bytes: 952, random: false, messages: Some(1_000) };
    net.open(&FlowConfig { app: AppConfig::from(app), ..tfrc(1) });
    net.run_while(secs(100.0), |net| !net.is_complete());
    let sent = net.hosts[0].flow_report(1).unwrap();
    assert_eq!(sent.completed_at, Some(Time::ZERO + Duration::from_ms(9_990)));
    let records = net.hosts[1].message_records();
    assert_eq!(records.len(), 1_000);
    let late = records.iter().skip(500).map(|record| record.read_at.since(record.written_at));
    // 50 ms plus 1 ms of transmission.
    assert_eq!(late.max(), Some(Duration::from_ms(51)));
}
