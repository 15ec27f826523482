//! Our senders in the `ns2` profile against what ns-2.35 itself did.
//!
//! Setup of the oracle (its numbers: one run each of ns 2.35, FTP, 10 s): 8 Mb/s, 50 ms, queue
//! 1000, window 30, 1000-byte packets, TCPSink or Sack1 sink; the packets with the given numbers
//! on the link, the SYN being 0, are lost.
mod net;

use narrows_common::record::{FlowRecord, Phase};
use narrows_common::{Duration, Packet, Rng};
use narrows_hosts::tcp::wire;
use narrows_hosts::{AccessConfig, AccessLink, Counts, Recording};
use net::{Net, Path, flow, secs};

/// Acknowledged packets, retransmissions, time-outs, window cuts, last ssthresh in packets.
type Outcome = [u64; 5];

fn run(recovery: &str, lost: &[u64], min_rto_ms: u64) -> Outcome {
    let mut net = Net::new(Path::clean(8_000_000, Duration::from_ms(50)), 1);
    let mut config = flow(1, "reno", recovery, "ns2", None);
    config.window_bytes = Some(30_000);
    config.min_rto = Some(Duration::from_ms(min_rto_ms));
    config.record = Recording::Ack;
    let lost = lost.to_vec();
    // ns-2's link carries no ACK of the handshake: count the SYN and the data.
    let mut number = 0;
    net.dropper = Box::new(move |direction, _, packet: &Packet| {
        let is_counted = direction == 0
            && wire::parse(packet)
                .is_ok_and(|s| !s.payload.is_empty() || s.flags.has(wire::Flags::SYN));
        number += u64::from(is_counted);
        is_counted && lost.contains(&(number - 1))
    });
    net.open(&config);
    net.run_until(secs(10.0));
    let report = net.hosts[0].flow_report(1).unwrap();
    let last = *net.hosts[0].flow_records().last().unwrap();
    [
        report.acked_bytes / 1000,
        report.sent.retransmits,
        report.sent.timeouts,
        report.sent.fast_recoveries + report.sent.timeouts,
        last.ssthresh_bytes / 1000,
    ]
}

/// One flow, ns-2's numbers. Ours are held to them exactly: same link, same packet sizes, same
/// timers; the handshake takes one round trip in both.
fn check(recovery: &str, min_rto_ms: u64, rows: &[(&[u64], Outcome)]) {
    for (lost, expected) in rows {
        assert_eq!(run(recovery, lost, min_rto_ms), *expected, "{recovery}, lost {lost:?}");
    }
}

#[test]
fn newreno_is_ns2s_impatient_newreno() {
    let rows: [(&[u64], Outcome); 4] = [
        (&[60], [2656, 1, 0, 1, 15]),
        (&[60, 62], [2632, 2, 0, 1, 15]),
        (&[60, 62, 64], [2408, 6, 1, 2, 7]),
        (&[60, 62, 64, 66], [2379, 8, 1, 2, 7]),
    ];
    check("newreno", 200, &rows);
}

#[test]
fn newreno_with_a_minimum_of_one_second_needs_no_timeout() {
    let rows: [(&[u64], Outcome); 2] =
        [(&[60, 62], [2632, 2, 0, 1, 15]), (&[60, 62, 64], [2604, 3, 0, 1, 15])];
    check("newreno", 1000, &rows);
}

#[test]
fn sack_keeps_pace_with_ns2s_sack1() {
    // Packets, time-outs, cuts and thresholds are Sack1's. Retransmissions are one more than its
    // 1, 2, 3, 4: the window of 30 admits no new data, and RFC 6675 then has its rescue
    // retransmission (NextSeg rule 4), which ns-2 has not.
    let rows: [(&[u64], Outcome); 4] = [
        (&[60], [2654, 2, 0, 1, 15]),
        (&[60, 62], [2654, 3, 0, 1, 15]),
        (&[60, 62, 64], [2654, 4, 0, 1, 15]),
        (&[60, 62, 64, 66], [2654, 5, 0, 1, 15]),
    ];
    check("sack", 200, &rows);
}

/// A window of 1,000 against 10 Mb/s and 10 ms, then 2 Mb/s, 50 ms and a queue of 20, for 60 s.
/// ns-2's DropTail takes in a packet only while fewer than its limit less one wait.
fn saturated(recovery: &str) -> Net {
    let path = Path { queue_packets: 19, ..Path::clean(2_000_000, Duration::from_ms(50)) };
    let mut net = Net::new(path, 1);
    let access = AccessConfig {
        rate_bps: 10_000_000,
        delay: Duration::from_ms(10),
        jitter: Duration::ZERO,
        queue_packets: None,
        counts: Counts::Ip,
    };
    net.access = Some(AccessLink::new(&access, Rng::from_seed(1)));
    let mut config = flow(1, "reno", recovery, "ns2", None);
    config.window_bytes = Some(1_000_000);
    config.record = Recording::Ack;
    net.open(&config);
    net.run_until(secs(60.0));
    net
}

#[test]
fn a_saturated_path_as_ns2_saw_it() {
    // ns2/saturated.tcl on ns 2.35, Newreno: 13777 packets acknowledged, 114 sent again, one
    // time-out. From its trace, when the window was cut:
    const CUTS_S: [f64; 14] = [
        1.03334, 6.49734, 10.84723, 15.19712, 19.54701, 23.89690, 28.24678, 32.59667, 36.94656,
        41.29645, 45.64634, 49.99622, 54.34611, 58.69600,
    ];
    let mut net = saturated("newreno");
    let report = net.hosts[0].flow_report(1).unwrap();
    assert_eq!(report.acked_bytes / 1000, 13777);
    assert_eq!((report.sent.retransmits, report.sent.timeouts), (114, 1));
    let enters = |pair: &&[FlowRecord]| {
        pair[1].phase == Phase::FastRecovery && pair[0].phase != Phase::FastRecovery
    };
    let records = net.hosts[0].flow_records();
    let cuts: Vec<f64> =
        records.windows(2).filter(enters).map(|pair| pair[1].at.as_secs_f64()).collect();
    assert_eq!(cuts.len(), CUTS_S.len());
    // Ours are 0.08 ms late throughout: real SYNs carry options, and the handshake has an ACK.
    for (ours, theirs) in cuts.iter().zip(CUTS_S) {
        assert!((ours - theirs).abs() < 0.0002, "{ours} s, ns-2 {theirs} s");
    }

    // Sack1 has 13777, 114 and 1 too. RFC 6675 keeps its SACKs over the time-out and is through
    // with the first loss 0.72 s sooner, which is 173 packets or 1.3 %.
    let report = saturated("sack").hosts[0].flow_report(1).unwrap();
    assert!((13777..=13983).contains(&(report.acked_bytes / 1000)), "{}", report.acked_bytes);
    assert!((report.sent.retransmits, report.sent.timeouts) <= (114, 1), "{:?}", report.sent);
}
