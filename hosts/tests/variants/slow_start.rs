//! The end of slow start before a loss: HyStart++ (RFC 9406) and Linux's HyStart, in CUBIC.

use super::{Flow, assert_close};
use narrows_common::Duration;

/// A CUBIC flow in its first slow start.
fn cubic(hystart: f64, cwnd: f64) -> Flow {
    Flow::starting("cubic", &[("hystart", hystart)], cwnd)
}

/// A round of `acks` ACKs of one segment each, all with the same round trip.
fn round(flow: &mut Flow, acks: u32, rtt_ms: f64) -> f64 {
    let before = flow.cwnd();
    flow.round += 1;
    flow.now += Duration::from_ms(100);
    for _ in 0..acks {
        flow.ack(1.0, rtt_ms);
    }
    flow.cwnd() - before
}

#[test]
fn cubic_hystart_plus_grows_by_a_quarter_after_an_rtt_rise() {
    // 100 ms: an eighth is 12.5 ms.
    let mut flow = cubic(2.0, 10.0);
    assert_close(round(&mut flow, 10, 100.0), 10.0, 1e-3, "slow start");
    assert_close(round(&mut flow, 20, 112.0), 20.0, 1e-3, "not yet");
    // 126 >= 112 + 14 on the eighth sample; the other twelve count a quarter each.
    assert_close(round(&mut flow, 20, 126.0), 8.0 + 12.0 / 4.0, 1e-3, "conservative");
    // Four more rounds, then congestion avoidance: five in total.
    for n in 0..4 {
        assert_close(round(&mut flow, 20, 126.0), 5.0, 1e-3, &format!("round {n}"));
        assert_eq!(flow.cc.ssthresh_bytes(), u64::MAX);
    }
    round(&mut flow, 1, 126.0);
    assert_close(flow.cc.ssthresh_bytes() as f64 / 1e4, flow.cwnd(), 0.3, "avoidance");
}

#[test]
fn cubic_hystart_plus_takes_it_back_when_the_round_trip_falls() {
    let mut flow = cubic(2.0, 10.0);
    round(&mut flow, 10, 100.0);
    round(&mut flow, 20, 120.0);
    assert_close(round(&mut flow, 20, 120.0), 5.0, 1e-3, "conservative");
    // Below the baseline of 120 on the eighth sample: slow start again from the ninth ACK on.
    assert_close(round(&mut flow, 20, 101.0), 8.0 / 4.0 + 12.0, 1e-3, "slow start");
}

#[test]
fn cubic_hystart_plus_requires_four_to_sixteen_milliseconds() {
    for (base_ms, rise_ms, turns) in
        [(8.0, 3.9, false), (8.0, 4.0, true), (400.0, 15.9, false), (400.0, 16.0, true)]
    {
        let mut flow = cubic(2.0, 10.0);
        round(&mut flow, 10, base_ms);
        round(&mut flow, 20, base_ms + rise_ms);
        let grew = round(&mut flow, 20, base_ms + rise_ms);
        assert_close(grew, if turns { 5.0 } else { 20.0 }, 1e-3, &format!("{base_ms} + {rise_ms}"));
    }
}

#[test]
fn cubic_hystart_as_in_linux_ends_at_a_risen_round_trip() {
    // Active from 16 segments on; the first eight samples of a round are collected, the ninth is
    // judged: above 100 + 12.5 ms.
    let mut flow = cubic(1.0, 20.0);
    round(&mut flow, 10, 100.0);
    assert_eq!(flow.cc.ssthresh_bytes(), u64::MAX);
    round(&mut flow, 8, 113.0);
    assert_eq!(flow.cc.ssthresh_bytes(), u64::MAX);
    flow.ack(1.0, 113.0);
    assert_close(flow.cc.ssthresh_bytes() as f64 / 1e4, flow.cwnd(), 1e-3, "the ninth");
    let mut flow = cubic(1.0, 20.0);
    round(&mut flow, 10, 100.0);
    round(&mut flow, 20, 112.0);
    assert_eq!(flow.cc.ssthresh_bytes(), u64::MAX);
}

#[test]
fn cubic_hystart_as_in_linux_ends_with_a_long_train_of_acks() {
    // ACKs a millisecond apart: half of 100 ms plus at most 1 ms for a burst: after 50.5 ms.
    let mut flow = cubic(1.0, 20.0);
    flow.round = 1;
    let mut ended_at = None;
    for n in 0..80u32 {
        flow.ack(1.0, 100.0);
        if ended_at.is_none() && flow.cc.ssthresh_bytes() != u64::MAX {
            ended_at = Some(n);
        }
        flow.now += Duration::from_ms(1);
    }
    assert_eq!(ended_at, Some(51));
    // Three milliseconds apart is not a train.
    let mut flow = cubic(1.0, 20.0);
    flow.round = 1;
    for _ in 0..80 {
        flow.ack(1.0, 100.0);
        flow.now += Duration::from_ms(3);
    }
    assert_eq!(flow.cc.ssthresh_bytes(), u64::MAX);
}
