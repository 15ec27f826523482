//! A host as its caller sees it: many flows, bad packets, resets, records, configuration.

use crate::net::{Net, Path, flow, host_config, secs};
use narrows_common::record::Phase;
use narrows_common::{Duration, Packet, Rng, Time};
use narrows_hosts::api::{SegmentSize, State};
use narrows_hosts::wire::segment::{self, Discard, Flags};
use narrows_hosts::{
    FlowConfig, FlowError, Host, HostConfig, PROFILES, RECOVERIES, Recording, Settings, VARIANTS,
};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn discarded(host: &Host, reason: Discard) -> u64 {
    host.discards().find(|(found, _)| *found == reason).unwrap().1
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, max_shrink_iters: 100, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

    /// Three flows of zeros over a bad path: all data of each arrives, and the data sent equals the
    /// data needed plus retransmissions.
    #[test]
    fn flows_arrive_whole_over_bad_paths(
        seed: u64,
        choice in (0..VARIANTS.len(), 0..RECOVERIES.len(), 0..PROFILES.len()),
        bytes in 1u64..300_000,
        window in 1_000u64..200_000,
        faults in (0.0..0.1f64, 0.0..0.1f64, 0.0..0.05f64, 0.0..0.3f64),
        queue in 2usize..40,
    ) {
        let path = Path {
            rate_bps: 20_000_000,
            delay: Duration::from_ms(10),
            queue_packets: queue,
            arrivals_first: false,
            loss: faults.0,
            duplication: faults.1,
            corruption: faults.2,
            reordering: faults.3,
        };
        let mut net = Net::new(path, seed);
        for id in 1..=3 {
            let names = (VARIANTS[choice.0].name, RECOVERIES[choice.1].name, PROFILES[choice.2].name);
            let mut config = flow(id, names.0, names.1, names.2, Some(bytes * u64::from(id)));
            config.window_bytes = Some(window);
            config.start = secs(0.1 * f64::from(id));
            net.open(&config);
        }
        // A sender whose last ACKs were all lost is eventually reset; its data have arrived.
        net.run_while(secs(100_000.0), |net| !net.is_complete());
        for id in 1..=3 {
            let (sent, received) = (net.hosts[0].flow_report(id).unwrap(), net.hosts[1].flow_report(id).unwrap());
            let due = bytes * u64::from(id);
            prop_assert_eq!(received.received.delivered_bytes, due);
            prop_assert!(sent.was_reset || sent.acked_bytes == due);
            prop_assert!(sent.sent.bytes_sent >= due);
            prop_assert!(sent.established_at >= Some(secs(0.1 * f64::from(id))));
        }
    }

    /// Random bytes, and our own segments with random damage, are counted and never cause a panic.
    #[test]
    fn garbage_is_counted(seed: u64, garbage in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..100), 1..20)) {
        let mut net = Net::new(Path::clean(10_000_000, Duration::from_ms(1)), seed);
        net.open(&flow(1, "reno", "sack", "rfc", Some(10_000)));
        net.run_until(secs(0.5));
        let count = garbage.len() as u64;
        for data in garbage {
            net.hosts[1].handle_packet(secs(1.0), &Packet { data, ..Packet::default() });
        }
        let counted: u64 = net.hosts[1].discards().map(|(_, n)| n).sum();
        prop_assert_eq!(counted, count);
        prop_assert_eq!(net.hosts[1].flow_report(1).unwrap().received.delivered_bytes, 10_000);
    }
}

#[test]
fn damaged_packets_are_dropped_by_reason_and_sent_again() {
    let mut net =
        Net::new(Path { corruption: 0.05, ..Path::clean(10_000_000, Duration::from_ms(5)) }, 3);
    net.open(&flow(1, "reno", "sack", "rfc", Some(2_000_000)));
    net.run_while(secs(1000.0), |net| !net.is_complete());
    assert!(discarded(&net.hosts[1], Discard::BadTcpChecksum) > 10);
    assert!(discarded(&net.hosts[1], Discard::BadIpChecksum) > 1);
    let sent = net.hosts[0].flow_report(1).unwrap();
    assert!(sent.sent.retransmits > 50, "{:?}", sent.sent);
    assert_eq!(net.hosts[1].flow_report(1).unwrap().received.delivered_bytes, 2_000_000);
}

#[test]
fn a_segment_to_no_connection_is_answered_with_a_reset() {
    let mut net = Net::new(Path::clean(10_000_000, Duration::from_ms(1)), 1);
    net.hosts[0].open_flow(&flow(1, "reno", "newreno", "rfc", Some(1000))).unwrap();
    net.run_until(secs(1.0));
    assert_eq!(discarded(&net.hosts[1], Discard::NoConnection), 1);
    let report = net.hosts[0].flow_report(1).unwrap();
    assert!(report.was_reset && report.state == State::Closed && report.completed_at.is_none());
}

#[test]
fn flows_take_turns_a_segment_each() {
    let mut host = Host::new(&host_config(1), Rng::from_seed(1));
    let mut other = Host::new(&host_config(2), Rng::from_seed(2));
    for id in 1..=3 {
        let config = flow(id, "reno", "newreno", "ns2", None);
        host.open_flow(&config).unwrap();
        other.listen(&config).unwrap();
    }
    let pull = |host: &mut Host| {
        let (mut packets, mut packet) = (Vec::new(), Packet::default());
        while host.poll_transmit(Time::ZERO, &mut packet) {
            packets.push(packet.clone());
        }
        packets
    };
    host.handle_timeout(Time::ZERO);
    for syn in pull(&mut host) {
        other.handle_packet(Time::ZERO, &syn);
    }
    for answer in pull(&mut other) {
        host.handle_packet(Time::ZERO, &answer);
    }
    let ports: Vec<u16> = pull(&mut host)
        .iter()
        .map(|packet| segment::parse(packet).unwrap())
        .filter(|segment| !segment.payload.is_empty() && !segment.flags.has(Flags::SYN))
        .map(|segment| segment.ports.0 - 10_000)
        .collect();
    assert_eq!(ports, [1, 2, 3, 1, 2, 3], "an initial window of two segments each");
}

#[test]
fn records_come_per_ack_or_per_interval() {
    let run = |record| {
        let mut net = Net::new(
            Path { queue_packets: 20, ..Path::clean(10_000_000, Duration::from_ms(10)) },
            1,
        );
        let config = FlowConfig { record, ..flow(1, "reno", "sack", "ns2", None) };
        net.open(&FlowConfig { window_bytes: Some(200_000), ..config });
        net.run_until(secs(10.0));
        core::mem::take(net.hosts[0].flow_records())
    };
    assert!(run(Recording::Off).is_empty());
    let every = run(Recording::Ack);
    // 10 Mb/s of 1,040-byte packets, minus the handshake and slow start: at most 1,202 per second.
    assert!((11_500..12_100).contains(&every.len()), "{}", every.len());
    assert!(every.is_sorted_by_key(|record| (record.at, record.acked_bytes)));
    for phase in [Phase::SlowStart, Phase::CongestionAvoidance, Phase::FastRecovery] {
        assert!(every.iter().any(|record| record.phase == phase), "{phase:?}");
    }
    // 20 ms round trip, plus 0.83 ms per queued packet, at most 21: 20 to 40 ms per round.
    let rounds = every.last().unwrap().round;
    assert!((250..500).contains(&rounds), "{rounds} rounds");
    let some = run(Recording::IntervalPs(Duration::from_ms(100)));
    assert!((98..=100).contains(&some.len()), "{}", some.len());
}

#[test]
fn a_saturating_flow_fills_a_path_with_a_bdp_of_buffer() {
    // 10 Mb/s, 40 ms: 48 packets of 1,040 bytes, and as many in the queue. The window varies
    // between 96 and 48 packets; 48 is the product, so the line is never idle after slow start.
    let mut net =
        Net::new(Path { queue_packets: 48, ..Path::clean(10_000_000, Duration::from_ms(20)) }, 1);
    let config = flow(1, "reno", "sack", "ns2", None);
    net.open(&FlowConfig { window_bytes: Some(1_000_000), ..config });
    net.run_until(secs(10.0));
    let before = net.hosts[1].flow_report(1).unwrap().received.delivered_bytes;
    net.run_until(secs(70.0));
    let report = net.hosts[1].flow_report(1).unwrap();
    let goodput_bps = (report.received.delivered_bytes - before) as f64 * 8.0 / 60.0;
    let possible_bps = 10e6 * 1000.0 / 1040.0;
    assert!(goodput_bps > 0.995 * possible_bps, "{goodput_bps} of {possible_bps}");
    // A period is 48 or 49 rounds of 40 to 80 ms, 60 on average: 2.9 s. That gives 20 or 21 in 60
    // s, plus the first.
    let cuts = net.hosts[0].flow_report(1).unwrap().sent.fast_recoveries;
    assert!((20..=26).contains(&cuts), "{cuts} cuts");
    assert_eq!(net.hosts[0].flow_report(1).unwrap().sent.timeouts, 0);
}

/// Why a second flow with this change is refused.
fn refuse(change: serde_json::Value) -> Result<(), String> {
    let mut json = serde_json::json!({
        "id": 1,
        "source": {"ip": "10.0.0.1", "port": 10_001},
        "destination": {"ip": "10.0.0.2", "port": 5001},
        "start_ps": 1_000_000_000_000u64,
        "variant": "new-aimd", "recovery": "sack", "profile": "ns2",
        "segment_bytes": 1000, "window_bytes": 200_000, "min_rto_ps": 200_000_000_000u64,
        "params": {"rebase": 1.0},
        "app": {"kind": "bulk", "bytes": 20_000_000},
        "record": {"interval_ps": 10_000_000_000u64},
    });
    let host: HostConfig = serde_json::from_value(serde_json::json!({
        "name": "h1", "mac": "02:00:00:00:00:01", "ip": "10.0.0.1", "gateway_mac": "02:00:00:00:01:00",
        "access": {"rate_bps": 5_000_000, "delay_ps": 15_000_000, "queue_packets": 100, "counts": "frame"},
    })).unwrap();
    json.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
    let flow: FlowConfig = serde_json::from_value(json).map_err(|error| error.to_string())?;
    let mut host = Host::new(&host, Rng::from_seed(1));
    host.open_flow(&flow).map_err(|error: FlowError| error.to_string())?;
    host.open_flow(&flow).map_err(|error: FlowError| error.to_string())
}

#[test]
fn a_flow_is_read_from_json_and_refused_with_its_reason() {
    for (change, reason) in [
        (
            serde_json::json!({}),
            "flow 1: 10.0.0.1:10001 to 10.0.0.2:5001 is used by flow 1; expected another port",
        ),
        (
            serde_json::json!({"recovery": "tahoo"}),
            "flow 1: recovery = \"tahoo\" is unknown; expected one of newreno, newreno-slow, reno, tahoe, sack, sack1, fack, \
             fack-rampdown, fack-overdamping, fack-half, vegas, full-reno, full-newreno, full-sack, \
             linux-ns2, linux-ns2-min, linux, rack",
        ),
        (
            serde_json::json!({"profile": "ns3"}),
            "flow 1: profile = \"ns3\" is unknown; expected one of rfc, linux, ns2, ns2-2004, linux-2.6.18",
        ),
        (
            serde_json::json!({"params": {"alpha": 1.0}}),
            "variant new-aimd: no parameter \"alpha\"; expected one of rebase",
        ),
        (
            serde_json::json!({"params": {"rebase": 7.0}}),
            "variant new-aimd: rebase = 7 is out of range; expected 0 to 1",
        ),
        (serde_json::json!({"sack": false}), "flow 1: sack needs SACK, but sack = false"),
        (
            serde_json::json!({"segment_bytes": 0}),
            "flow 1: segment_bytes = 0 is out of range; expected 1 to 65455",
        ),
        (
            serde_json::json!({"window_bytes": 1u64 << 31}),
            "flow 1: window_bytes = 2147483648 is out of range; expected 1 to 1073741824",
        ),
        (
            serde_json::json!({"source": {"ip": "10.0.0.9", "port": 1}}),
            "flow 1: source is 10.0.0.9; expected this host's address 10.0.0.1",
        ),
        (
            serde_json::json!({"destination": {"ip": "fd00::2", "port": 5001}}),
            "flow 1: 10.0.0.1:10001 to [fd00::2]:5001; expected addresses of one IP version",
        ),
    ] {
        assert_eq!(refuse(change).unwrap_err(), reason);
    }
}

/// Over IPv6, whose header is 20 bytes longer.
#[test]
fn packets_of_a_path_mtu_are_as_long_over_ipv6() {
    for profile in PROFILES {
        let over_ipv4 = flow(1, "reno", "newreno", profile.name, None);
        let mut over_ipv6 = over_ipv4.clone();
        over_ipv6.source.ip = "fd00::1".parse().unwrap();
        over_ipv6.destination.ip = "fd00::2".parse().unwrap();
        let segment_bytes = |flow| Settings::resolve(flow).unwrap().segment_bytes;
        let less = if matches!(profile.segment, SegmentSize::Mss(_)) { 20 } else { 0 };
        assert_eq!(segment_bytes(&over_ipv6) + less, segment_bytes(&over_ipv4));

        over_ipv6.segment_bytes = Some(65_436);
        assert_eq!(
            Settings::resolve(&over_ipv6).unwrap_err().to_string(),
            "flow 1: segment_bytes = 65436 is out of range; expected 1 to 65435",
        );
    }
}

#[test]
fn an_unknown_name_is_refused_with_what_is_known() {
    for (change, word) in [
        (
            serde_json::json!({"variant": "renu"}),
            "flow 1: variant = \"renu\" is unknown; expected one of reno, aimd-fc, ",
        ),
        (serde_json::json!({"segmnt": 1}), "unknown field `segmnt`"),
        (serde_json::json!({"app": {"kind": "bulk", "byte": 1}}), "unknown field `byte`"),
        (
            serde_json::json!({"app": {"kind": "bilk"}}),
            "kind = \"bilk\" is unknown; expected one of bulk, ",
        ),
        (serde_json::json!({"record": "acks"}), "unknown variant `acks`"),
    ] {
        let error = refuse(change).unwrap_err();
        assert!(error.contains(word), "{error}");
    }
}
