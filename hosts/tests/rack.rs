//! The recoveries `linux`, `rack` and `linux-ns2` as traces. Segments of 1,000 bytes, a round trip
//! of 100 ms, and an initial window of ten segments unless stated otherwise. Expected times and
//! windows are computed by hand from RFC 8985, RFC 9937, RFC 5682 and RFC 2883.

use crate::script::{OUR_ISN, Peer, SYN_ACK, Script, ack, data, peer, plain};
use narrows_hosts::config::FlowConfig;
use narrows_hosts::wire::options::Options;

/// The start of segment `n`, from 0.
fn at(n: u32) -> u32 {
    1 + 1000 * n
}

/// The trace line of such a segment.
fn segment(n: u32) -> String {
    format!(". {}:{}(1000) ack 1 win 8000", at(n), at(n + 1))
}

/// An ACK that reports the segments of `ranges`, `[from, to)`.
fn sack(acked: u32, ranges: &[(u32, u32)]) -> Peer {
    let mut options = Options::default();
    for &(from, to) in ranges {
        options.sack.push(OUR_ISN.wrapping_add(at(from)), OUR_ISN.wrapping_add(at(to)));
    }
    Peer { options, ..ack(1, at(acked), 60_000) }
}

fn config(recovery: &str) -> FlowConfig {
    FlowConfig {
        recovery: recovery.to_owned(),
        profile: "linux".to_owned(),
        sack: Some(true),
        ..plain()
    }
}

/// Ten segments left at 100 ms, of 1,000.
fn flight(recovery: &str) -> Script {
    flight_of(&config(recovery), 10)
}

fn flight_of(config: &FlowConfig, segments: u32) -> Script {
    let options = Options { mss: Some(1460), sack_permitted: true, ..Options::default() };
    let mut script = Script::new(config, true);
    script.drain(0);
    script.send(100, Peer { options, ..peer(SYN_ACK, 0, 0, 1, 60_000) });
    assert_eq!(script.drain(100).len(), 1);
    script.write(if segments < 10 { u64::from(segments) * 1000 } else { 1_000_000 });
    assert_eq!(script.drain(100).len(), segments as usize);
    script
}

#[track_caller]
fn assert_sends(script: &mut Script, ms: u64, segments: &[u32]) {
    let lines: Vec<String> = segments.iter().map(|&n| segment(n)).collect();
    assert_eq!(script.drain(ms), lines, "at {ms} ms");
}

fn cwnd(script: &Script) -> u64 {
    script.connection.record(script.now).cwnd_bytes
}

#[test]
fn linux_leaves_no_time_for_reordering_after_the_third_sack() {
    for recovery in ["linux", "rack"] {
        let mut script = flight(recovery);
        // Limited transmit: what is SACKed is not in flight.
        script.send(200, sack(0, &[(1, 2)]));
        assert_sends(&mut script, 200, &[10]);
        script.send(201, sack(0, &[(1, 3)]));
        assert_sends(&mut script, 201, &[11]);
        // RFC 8985 section 6.2 step 4: three SACKed, no reordering seen: the window is 0.
        script.send(202, sack(0, &[(1, 4)]));
        assert_sends(&mut script, 202, &[0]);
        assert_eq!(cwnd(&script), 5000, "{recovery}: half of ten");
        assert_eq!(script.connection.sender_counters().fast_recoveries, 1);
    }
}

#[test]
fn rack_waits_a_quarter_of_a_round_trip() {
    let mut script = flight("rack");
    script.send(200, sack(0, &[(1, 2)]));
    assert_sends(&mut script, 200, &[10]);
    // min_RTT/4 = 25 ms.
    script.timer(225, &[&segment(0)]);
}

#[test]
fn linux_sends_every_second_segment_down_to_the_threshold() {
    let mut script = flight("linux");
    // 0 is lost; 10 and 11 leave by limited transmit.
    script.send(200, sack(0, &[(1, 2)]));
    script.send(200, sack(0, &[(1, 3)]));
    assert_sends(&mut script, 200, &[10, 11]);
    // At the start: 12 outstanding, 3 SACKed, 1 lost: 8 in flight, ssthresh 5, RecoverFS 10.
    // DeliveredData 1: ceil(1 x 5/10) - 0 = 1: the retransmission. In flight 9.
    script.send(202, sack(0, &[(1, 4)]));
    assert_sends(&mut script, 202, &[0]);
    // In flight 8: ceil(2 x 5/10) - 1 = 0.
    script.send(204, sack(0, &[(1, 5)]));
    assert_sends(&mut script, 204, &[]);
    // In flight 7: ceil(3 x 5/10) - 1 = 1: new data.
    script.send(206, sack(0, &[(1, 6)]));
    assert_sends(&mut script, 206, &[12]);
    script.send(208, sack(0, &[(1, 7)]));
    assert_sends(&mut script, 208, &[]);
    script.send(210, sack(0, &[(1, 8)]));
    assert_sends(&mut script, 210, &[13]);
    script.send(212, sack(0, &[(1, 9)]));
    assert_sends(&mut script, 212, &[]);
    // In flight 5, the threshold: nothing. Then 3: 9 delivered, 3 sent, up to the threshold.
    script.send(214, sack(0, &[(1, 10)]));
    assert_sends(&mut script, 214, &[]);
    script.send(300, sack(0, &[(1, 11)]));
    script.send(301, sack(0, &[(1, 12)]));
    assert_sends(&mut script, 301, &[14, 15]);
    // The ACK of the retransmission is past the recovery point: the window is ssthresh.
    script.send(302, ack(1, at(12), 60_000));
    assert_eq!(cwnd(&script), 5000);
    assert_sends(&mut script, 302, &[16]);
}

#[test]
fn linux_finds_a_lost_retransmission_by_what_left_after_it() {
    let mut script = flight("linux");
    for to in 2..=4 {
        script.send(200, sack(0, &[(1, to)]));
    }
    // Each SACK released one segment: 10, 11, and the retransmission.
    assert_eq!(script.drain(200).len(), 1);
    for to in 5..=10 {
        script.send(200, sack(0, &[(1, to)]));
        script.drain(200);
    }
    // Segments sent after the retransmission arrive, the retransmission does not.
    let before = script.connection.sender_counters();
    script.send(300, sack(0, &[(1, 11)]));
    let sent = script.drain(300);
    assert_eq!(sent.first(), Some(&segment(0)), "lost again");
    let after = script.connection.sender_counters();
    assert_eq!((after.timeouts, after.fast_recoveries), (0, before.fast_recoveries));
}

/// The segment that ends the application's data.
fn last_segment(number: u32) -> String {
    format!("P{}", segment(number))
}

#[test]
fn rack_probes_the_tail_after_two_round_trips() {
    let mut script = flight_of(&config("rack"), 3);
    // 2 x SRTT = 200 ms after the departure at 100; the time-out would be at 100 + 300.
    script.timer(300, &[&last_segment(2)]);
    assert_eq!(script.connection.sender_counters().loss_probes, 1);
    // Its SACK shows that 0 and 1 are lost, which left 200 ms before it.
    script.send(400, sack(0, &[(2, 3)]));
    assert_sends(&mut script, 400, &[0, 1]);
    assert_eq!(script.connection.sender_counters().timeouts, 0);
}

#[test]
fn rack_probes_in_place_of_a_time_out() {
    let mut script = flight_of(&config("rack"), 1);
    // 2 x 100 + 200 = 400 ms, but the time-out of 100 + max(200, 4 x 50) = 300 is earlier: the
    // probe takes its place (RFC 8985 section 7.2).
    assert_eq!(script.connection.poll_timeout().map(|at| at.as_us()), Some(400_000));
    script.at(400);
    script.connection.handle_timeout(script.now);
    assert_eq!(script.drain(400).len(), 1);
    let counters = script.connection.sender_counters();
    assert_eq!((counters.loss_probes, counters.timeouts), (1, 0));
}

#[test]
fn linux_cuts_for_a_probe_that_repaired_a_loss_only() {
    let duplicate = || {
        let mut acked = sack(3, &[]);
        acked.options.sack.push(OUR_ISN.wrapping_add(at(2)), OUR_ISN.wrapping_add(at(3)));
        acked
    };
    for (answer, cut) in [(sack(3, &[]), true), (duplicate(), false)] {
        let mut script = flight_of(&config("linux"), 3);
        script.timer(300, &[&last_segment(2)]);
        script.send(400, answer);
        assert_eq!(cwnd(&script) <= 5000, cut, "{}", cwnd(&script));
        assert_eq!(script.connection.sender_counters().timeouts, 0);
    }
}

#[test]
fn linux_takes_back_a_time_out_whose_originals_arrive() {
    // The peer is silent for 400 ms, longer than the probe and the time-out.
    let mut script = flight("linux");
    script.timer(300, &[&segment(10)]);
    script.timer(600, &[&segment(0)]);
    assert_eq!((cwnd(&script), script.connection.sender_counters().timeouts), (1000, 1));
    // Step 2b: the ACK of the first moves the edge: two new segments.
    script.send(650, ack(1, at(1), 60_000));
    assert_sends(&mut script, 650, &[11, 12]);
    // Step 3b: the next ACK is for a segment sent once, so nothing had been lost.
    script.send(651, ack(1, at(2), 60_000));
    let counters = script.connection.sender_counters();
    assert_eq!((counters.undone_cuts, counters.retransmits), (1, 1));
    assert!(cwnd(&script) >= 10_000, "{}", cwnd(&script));
    let sent = script.drain(651);
    assert!(!sent.contains(&segment(1)) && !sent.contains(&segment(2)), "{sent:?}");
}

#[test]
fn linux_goes_on_with_a_time_out_that_was_one() {
    let mut script = flight("linux");
    script.timer(300, &[&segment(10)]);
    script.timer(600, &[&segment(0)]);
    script.send(700, ack(1, at(1), 60_000));
    assert_sends(&mut script, 700, &[11, 12]);
    // Step 3a: a SACK of the new data only, so 1 to 9 are lost. Two are in flight, one is SACKed;
    // the window is 2: one more.
    script.send(800, sack(1, &[(11, 12)]));
    assert_sends(&mut script, 800, &[1]);
    assert_eq!(script.connection.sender_counters().undone_cuts, 0);
}

#[test]
fn linux_takes_a_cut_back_by_d_sacks() {
    let mut script = flight("linux");
    for to in 2..=4 {
        script.send(200, sack(0, &[(1, to)]));
    }
    assert_eq!(script.drain(200).first(), Some(&segment(0)));
    assert_eq!(cwnd(&script), 5000);
    // 0 was late, not lost: the ACK covers everything; then the retransmission arrives as a
    // duplicate.
    script.send(210, sack(10, &[]));
    script.drain(210);
    let mut twice = sack(10, &[]);
    twice.options.sack.push(OUR_ISN.wrapping_add(at(0)), OUR_ISN.wrapping_add(at(1)));
    script.send(305, twice);
    assert_eq!(script.connection.sender_counters().undone_cuts, 1);
    assert!(cwnd(&script) >= 10_000, "{}", cwnd(&script));
}

#[test]
fn linux_takes_a_cut_back_by_an_old_echo() {
    let mut config = config("linux");
    config.timestamps = Some(true);
    let stamp = |peer: Peer, echo| {
        let options = Options { timestamps: Some((500, echo)), ..peer.options };
        Peer { options, ..peer }
    };
    let mut script = Script::new(&config, true);
    script.drain(0);
    let options = Options { mss: Some(1460), sack_permitted: true, ..Options::default() };
    script.send(100, stamp(Peer { options, ..peer(SYN_ACK, 0, 0, 1, 60_000) }, 0));
    script.write(1_000_000);
    assert_eq!(script.drain(100).len(), 10);
    for to in 2..=4 {
        script.send(200, stamp(sack(0, &[(1, to)]), 100));
    }
    script.drain(200);
    assert_eq!(cwnd(&script), 5000);
    // The original, which left at 100, fills the hole; the retransmission left at 200.
    script.send(210, stamp(ack(1, at(10), 60_000), 100));
    assert_eq!(script.connection.sender_counters().undone_cuts, 1);
    // An echo of the retransmission undoes nothing.
    let mut script = flight_of(&config, 10);
    for to in 2..=4 {
        script.send(200, sack(0, &[(1, to)]));
    }
    script.drain(200);
    script.send(300, stamp(ack(1, at(10), 60_000), 200));
    assert_eq!(script.connection.sender_counters().undone_cuts, 0);
}

#[test]
fn the_receiver_reports_what_arrives_twice() {
    // RFC 2883 section 4.1.1 and 4.2.1, in segments of 500 from 1 on.
    let mut script = flight_of(&config("linux"), 1);
    let block = |from: u32, to: u32| format!("sack {from}:{to}");
    let mut answer = |seq, len| {
        script.send(200, data(seq, len, at(1)));
        script.drain(200).pop().unwrap()
    };
    assert!(!answer(1, 500).contains("sack"));
    assert!(!answer(501, 500).contains("sack"));
    // Below the cumulative ACK.
    let line = answer(501, 500);
    assert!(line.contains(" ack 1001 ") && line.contains(&block(501, 1001)), "{line}");
    // Out of order, then again: first the duplicate, then the block that contains it.
    let line = answer(2001, 500);
    assert!(line.ends_with(&format!("<{}>", block(2001, 2501))), "{line}");
    answer(2501, 500);
    let line = answer(2001, 500);
    assert!(line.ends_with(&format!("<{},{}>", block(2001, 2501), block(2001, 3001))), "{line}");
    // Reported once.
    let line = answer(3001, 500);
    assert!(line.ends_with(&format!("<{}>", block(2001, 3501))), "{line}");
}

/// A window of ten with segment 0 lost, in ns-2's Agent/TCP/Linux.
fn halving(recovery: &str) -> Script {
    let mut script = flight(recovery);
    for n in 1..4 {
        script.send(200, sack(0, &[(1, 1 + n)]));
        assert_sends(&mut script, 200, &[9 + n]);
    }
    // The fourth above it: 8 are in flight, and one more may be sent.
    script.send(201, sack(0, &[(1, 5)]));
    assert_sends(&mut script, 201, &[0]);
    script
}

#[test]
fn linux_ns2_sends_every_second_ack_down_to_the_window() {
    let mut script = halving("linux-ns2");
    let sent = [vec![], vec![13], vec![], vec![14], vec![], vec![15], vec![], vec![16]];
    for (n, sent) in (6..).zip(sent) {
        script.send(202, sack(0, &[(1, n)]));
        assert_sends(&mut script, 202, &sent);
    }
    // 17 sent, 12 SACKed; the ACK removes one of the 5 in flight: the window is at its half.
    script.send(300, ack(1, at(13), 60_000));
    assert_eq!(cwnd(&script), 5000);
    assert_sends(&mut script, 300, &[17]);
}

#[test]
fn linux_ns2_min_goes_on_to_half_of_that_and_leaves_with_three() {
    // The first ten of twenty are lost. The window is cut to 10; its floor is 5.
    let first = FlowConfig { initial_window: Some(20), ..config("linux-ns2-min") };
    let mut script = flight_of(&first, 20);
    // In flight 12, 11, 10, 9: each ACK also reports a loss. Then every second ACK sends one.
    let sent = [Some(0), Some(1), Some(2), Some(3), None, Some(4), None, Some(5), None, Some(6)];
    for (n, sent) in (11..).zip(sent) {
        script.send(200, sack(0, &[(10, n)]));
        assert_sends(&mut script, 200, sent.as_slice());
    }
    // Six in flight after the first of these, five after the third: from there one for one.
    let sent = [None, Some(7), None, Some(8), Some(9), Some(20), Some(21), Some(22), Some(23)];
    for (n, sent) in (1..).zip(sent) {
        script.send(300, sack(n, &[(10, 20)]));
        assert_sends(&mut script, 300, sent.as_slice());
    }
    // Four in flight plus a burst of three, of the threshold of ten.
    script.send(400, ack(1, at(20), 60_000));
    assert_eq!(cwnd(&script), 7000);
    assert_sends(&mut script, 400, &[24, 25, 26]);
}

#[test]
fn linux_ns2_finds_a_lost_retransmission_by_later_segments() {
    let mut script = halving("linux-ns2");
    script.send(202, sack(0, &[(1, 6)]));
    script.send(202, sack(0, &[(1, 7)]));
    assert_sends(&mut script, 202, &[13]);
    // 13 left after 0 was retransmitted. 7, 8 and 9 are lost too, and 3 of 5 are in flight.
    script.send(203, sack(0, &[(1, 7), (13, 14)]));
    assert_sends(&mut script, 203, &[0, 7]);
    assert_eq!(script.connection.sender_counters().fast_recoveries, 1);
    assert_eq!(cwnd(&script), 5000, "no second cut");
}
