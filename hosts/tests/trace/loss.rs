//! Losses, marks, timestamps, and initial windows.

use crate::script::{Peer, SYN_ACK, Script, ack, data, peer, plain};
use narrows_hosts::config::FlowConfig;
use narrows_hosts::wire::options::Options;
use narrows_hosts::wire::segment::{Ecn, Flags};

#[test]
fn fast_retransmit_on_the_third_duplicate_with_sack() {
    let config = FlowConfig { sack: Some(true), ..plain() };
    let mut script = Script::new(&config, true);
    script.drain(0);
    let options = Options { mss: Some(1000), sack_permitted: true, ..Options::default() };
    script.send(100, Peer { options, ..peer(SYN_ACK, 0, 0, 1, 60_000) });
    script.drain(100);
    // As a receiver: two holes, the latest block first.
    script.send(110, data(1001, 1000, 1));
    script.recv(110, &[". 1:1(0) ack 1 win 8000 <sack 1001:2001>"]);
    script.send(120, data(3001, 1000, 1));
    script.recv(120, &[". 1:1(0) ack 1 win 8000 <sack 3001:4001,sack 1001:2001>"]);
    script.send(130, data(1, 1000, 1));
    script.recv(130, &[". 1:1(0) ack 2001 win 6000 <sack 3001:4001>"]);
    script.send(140, data(2001, 1000, 1));
    script.recv(140, &[". 1:1(0) ack 4001 win 4000"]);
    // As a sender (NewReno): six segments, the first is lost.
    script.write(6000);
    assert_eq!(script.drain(200).len(), 6);
    for n in 0..2 {
        script.send(300 + n, ack(4001, 1, 60_000));
        script.recv(300 + n, &[]);
    }
    script.send(302, ack(4001, 1, 60_000));
    script.recv(302, &[". 1:1001(1000) ack 4001 win 4000"]);
    script.send(303, ack(4001, 1, 60_000));
    script.recv(303, &[]);
    script.send(400, ack(4001, 6001, 60_000));
    let record = script.connection.record(script.now);
    // FlightSize 6: half is 3.
    assert_eq!((record.cwnd_bytes, record.ssthresh_bytes, record.retransmits), (3000, 3000, 1));
}

#[test]
fn ecn_is_negotiated_echoed_until_cwr_and_cuts_once_a_window() {
    let config = FlowConfig { ecn: Some(true), ..plain() };
    let mut script = Script::new(&config, true);
    script.recv(0, &["SEW 0:0(0) win 8000 <mss 1000,wscale 0>"]);
    let syn_ack = Peer {
        options: Options { mss: Some(1000), ..Options::default() },
        ..peer(SYN_ACK.with(Flags::ECE), 0, 0, 1, 60_000)
    };
    script.send(100, syn_ack);
    script.drain(100);
    // The receiver's side.
    script.send(110, Peer { ecn: Ecn::Ce, ..data(1, 1000, 1) });
    script.recv(110, &["E. 1:1(0) ack 1001 win 7000"]);
    script.send(120, Peer { ecn: Ecn::Ect0, ..data(1001, 1000, 1) });
    script.recv(120, &["E. 1:1(0) ack 2001 win 6000"]);
    script.send(
        130,
        Peer { flags: Flags::ACK.with(Flags::CWR), ecn: Ecn::Ect0, ..data(2001, 1000, 1) },
    );
    script.recv(130, &[". 1:1(0) ack 3001 win 5000"]);
    // The sender's.
    script.write(20_000);
    let lines = script.drain(200);
    assert_eq!(lines.len(), 10);
    assert_eq!(lines[0], ". 1:1001(1000) ack 3001 win 5000 [Ect0]");
    script.send(300, peer(Flags::ACK.with(Flags::ECE), 3001, 0, 1001, 60_000));
    assert_eq!(script.connection.record(script.now).cwnd_bytes, 5000, "half of 10, no growth");
    // 9 are outstanding: nothing is sent until 5 are acknowledged. The first new segment carries
    // CWR.
    let mut sent = Vec::new();
    for n in 2..=8 {
        let echo = peer(Flags::ACK.with(Flags::ECE), 3001, 0, 1 + n as u32 * 1000, 60_000);
        script.send(300 + n, echo);
        sent.extend(script.drain(300 + n));
    }
    assert_eq!(
        sent,
        [
            "W. 10001:11001(1000) ack 3001 win 5000 [Ect0]",
            ". 11001:12001(1000) ack 3001 win 5000 [Ect0]",
            ". 12001:13001(1000) ack 3001 win 5000 [Ect0]",
        ]
    );
    assert_eq!(script.connection.sender_counters().ecn_cuts, 1);
}

#[test]
fn old_timestamps_are_refused() {
    let config = FlowConfig { timestamps: Some(true), ..plain() };
    let mut script = Script::new(&config, true);
    script.drain(0);
    let stamp = |value| Options { mss: None, timestamps: Some((value, 0)), ..Options::default() };
    script.send(
        100,
        Peer {
            options: Options { mss: Some(1012), ..stamp(1000) },
            ..peer(SYN_ACK, 0, 0, 1, 60_000)
        },
    );
    script.drain(100);
    script.send(110, Peer { options: stamp(999), ..data(1, 100, 1) });
    script.recv(110, &[". 1:1(0) ack 1 win 8000 <TS 110 1000>"]);
    script.send(120, Peer { options: stamp(1001), ..data(1, 100, 1) });
    script.recv(120, &[". 1:1(0) ack 101 win 7900 <TS 120 1001>"]);
    // Across the wrap of the clock.
    script.send(130, Peer { options: stamp(1001 + (1 << 31) - 1), ..data(101, 100, 1) });
    script.recv(130, &[". 1:1(0) ack 201 win 7800 <TS 130 2147484648>"]);
}

#[test]
fn slow_start_ends_at_the_initial_ssthresh() {
    let config = FlowConfig { initial_window: Some(4), initial_ssthresh: Some(6), ..plain() };
    let mut script = Script::established(&config, 60_000);
    script.write(60_000);
    // 4 segments with an ACK each: 5, 6, then a sixth of a segment for each of two more.
    for acked in 1..=4 {
        let now = script.now.as_us() / 1000;
        script.drain(now);
        script.send(now + 10, ack(1, 1 + 1000 * acked, 60_000));
    }
    let cwnd_bytes = script.connection.record(script.now).cwnd_bytes;
    assert!((6_300..=6_340).contains(&cwnd_bytes), "{cwnd_bytes}");
}

#[test]
fn idleness_restarts_from_the_initial_window() {
    let config = FlowConfig { initial_window: Some(4), ..plain() };
    let mut script = Script::established(&config, 60_000);
    script.write(12_000);
    let mut acked = 1;
    while acked < 12_001 {
        let sent = script.drain(script.now.as_us() / 1000).len() as u32;
        for _ in 0..sent {
            acked += 1000;
            let now = script.now.as_us() / 1000;
            script.send(now + 10, ack(1, acked, 60_000));
        }
    }
    assert!(script.connection.record(script.now).cwnd_bytes >= 8000);
    script.write(20_000);
    assert_eq!(script.drain(5_000).len(), 4);
}

#[test]
fn bic_and_cubic_of_2006_begin_with_a_threshold_of_100_segments() {
    // Three segments of 1,448 and a threshold of 100; Reno has no threshold.
    for (variant, own, ssthresh) in [
        ("bic", None, 100 * 1448),
        ("cubic", None, 100 * 1448),
        ("reno", None, u64::MAX),
        ("cubic", Some(50), 50 * 1448),
    ] {
        let mut config = crate::net::flow(1, variant, "newreno", "linux-2.6.18", None);
        config.initial_ssthresh = own;
        let mut script = Script::new(&config, true);
        script.drain(0);
        let options = Options { mss: Some(1460), timestamps: Some((1, 0)), ..Options::default() };
        script.send(100, Peer { options, ..peer(SYN_ACK, 0, 0, 1, 60_000) });
        let record = script.connection.record(script.now);
        assert_eq!((record.cwnd_bytes, record.ssthresh_bytes), (3 * 1448, ssthresh), "{variant}");
    }
}
