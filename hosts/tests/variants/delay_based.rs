//! Illinois, YeAH, Vegas, Compound and LEDBAT.

use super::{Flow, assert_close};
use narrows_common::Duration;

/// A flow whose base round trip is 100 ms and whose greatest is 200 ms.
fn spread(name: &str, cwnd: f64) -> Flow {
    let mut flow = Flow::new(name, cwnd);
    flow.ack(0.0, 100.0);
    flow.ack(0.0, 200.0);
    // Only the next round's samples count for the mean.
    flow.round += 1;
    flow.ack(0.0, 100.0);
    flow
}

/// Ends a round of samples of `rtt_ms` that acknowledges nothing.
fn samples(flow: &mut Flow, rtt_ms: f64) {
    flow.ack(0.0, rtt_ms);
    flow.ack(0.0, rtt_ms);
    flow.round += 1;
    flow.ack(0.0, rtt_ms);
}

#[test]
fn illinois_follows_its_curves() {
    // dm = 100 ms, d1 = 1 ms. alpha = 10 / (1 + (da - 1)/99 x 9.7/0.3); beta = 1/8 to 10 ms, 1/2
    // from 80 ms: at 45 ms 1/8 + 3/8 x 35/70 = 0.3125.
    for (da, alpha, beta) in [
        (10.0, 10.0 / (1.0 + 9.0 / 99.0 * 9.7 / 0.3), 0.125),
        (45.0, 0.650_406_5, 0.3125),
        (80.0, 10.0 / (1.0 + 79.0 / 99.0 * 9.7 / 0.3), 0.5),
        (100.0, 0.3, 0.5),
    ] {
        let mut flow = spread("illinois", 1000.0);
        samples(&mut flow, 100.0 + da);
        flow.ack(1000.0, 100.0 + da);
        // 44/99 x 32.33 + 1 = 15.370: alpha 0.6506 at da = 45 ms.
        assert_close(flow.cwnd() - 1000.0, alpha, 1e-3, &format!("alpha at {da} ms"));
        let cwnd = flow.cwnd();
        assert_close(flow.lose() / cwnd, 1.0 - beta, 1e-3, &format!("beta at {da} ms"));
    }
    // Below 15 segments it is Reno.
    let mut flow = spread("illinois", 14.0);
    samples(&mut flow, 110.0);
    flow.ack(14.0, 110.0);
    assert_close(flow.cwnd(), 15.0, 1e-3, "Reno");
}

#[test]
fn illinois_trusts_a_short_queue_after_five_rounds() {
    let mut flow = spread("illinois", 1000.0);
    samples(&mut flow, 200.0);
    for _ in 0..4 {
        samples(&mut flow, 100.0);
        let cwnd = flow.cwnd();
        flow.ack(100.0, 100.0);
        assert_close(flow.cwnd() - cwnd, 0.03, 1e-3, "alpha still 0.3");
    }
    samples(&mut flow, 100.0);
    let cwnd = flow.cwnd();
    flow.ack(100.0, 100.0);
    assert_close(flow.cwnd() - cwnd, 1.0, 1e-2, "alpha 10");
}

#[test]
fn yeah_is_scalable_on_a_short_queue_and_drains_a_long_one() {
    let mut flow = Flow::new("yeah", 1000.0);
    samples(&mut flow, 100.0);
    flow.ack(100.0, 100.0);
    assert_close(flow.cwnd(), 1001.0, 1e-3, "one for 100");
    // Q = 1001 (1 - 100/110) = 91 > 80: the window decreases by Q. (That ACK's 100 ms is the
    // minimum of its round; the next round shows the queue.)
    samples(&mut flow, 110.0);
    samples(&mut flow, 110.0);
    assert_close(flow.cwnd(), 910.0, 1e-2, "decongestion");
    // Now in slow mode: Reno.
    let cwnd = flow.cwnd();
    flow.ack(cwnd, 110.0);
    assert_close(flow.cwnd() - cwnd, 1.0, 1e-3, "Reno");
    // A loss removes max(min(Q, W/2), W/8): Q 91 is less than 911/8 = 113.9.
    assert_close(flow.lose(), 911.0 * 7.0 / 8.0, 1e-2, "an eighth");
}

#[test]
fn yeah_halves_against_reno() {
    let mut flow = Flow::new("yeah", 100.0);
    samples(&mut flow, 100.0);
    // RTT - base = 20 ms > base/8: slow for 16 rounds, Q = 16.7 being below 80.
    for _ in 0..16 {
        samples(&mut flow, 120.0);
    }
    assert_close(flow.lose(), 50.0, 1e-3, "half");
}

#[test]
fn vegas_keeps_two_to_four_segments() {
    // cwnd 100: diff = 100 (RTT - 100)/100, that is RTT - 100 ms.
    for (rtt_ms, expected) in [(101.0, 101.0), (103.0, 100.0), (105.0, 99.0)] {
        let mut flow = Flow::new("vegas", 100.0);
        flow.ack(0.0, 100.0);
        samples(&mut flow, rtt_ms);
        assert_close(flow.cwnd(), 100.0, 1.0, "so far");
        let mut flow = Flow::new("vegas", 100.0);
        samples(&mut flow, 100.0);
        let before = flow.cwnd();
        assert_close(before, 101.0, 1e-3, "an empty queue");
        samples(&mut flow, rtt_ms);
        assert_close(flow.cwnd() - before, expected - 100.0, 1e-3, &format!("{rtt_ms} ms"));
    }
    // ns-2's beta of 3 considers 3.5 segments too many.
    let ns2 = [("alpha", 1.0), ("beta", 3.0)];
    let mut flow = Flow::with("vegas", &ns2, 100.0, 10_000);
    flow.ack(0.0, 100.0);
    samples(&mut flow, 103.5);
    samples(&mut flow, 103.5);
    assert_close(flow.cwnd(), 100.0, 1e-3, "101, then 100");
}

#[test]
fn vegas_leaves_slow_start_when_a_queue_forms() {
    // Threshold 500, window 100: diff = 100 x 0.1 = 10 > 1: 100 x 100/110 + 1 = 91.9.
    let mut flow = Flow::new("vegas", 1000.0);
    flow.time_out();
    flow.ack(99.0, 100.0);
    assert_close(flow.cwnd(), 100.0, 1e-3, "slow start");
    samples(&mut flow, 110.0);
    // The first sample, 100 ms, was the minimum of that round: no effect yet.
    samples(&mut flow, 110.0);
    assert_close(flow.cwnd(), 91.909, 1e-2, "left slow start");
}

#[test]
fn vegas_does_not_judge_the_path_by_the_queue_before_a_time_out() {
    // 250 ms against 100 would end slow start at once: 1 x (250 - 100)/100 = 1.5 > 1.
    let mut flow = Flow::new("vegas", 1000.0);
    samples(&mut flow, 100.0);
    flow.ack(0.0, 250.0);
    flow.ack(0.0, 250.0);
    flow.time_out();
    flow.round += 1;
    for doubled in [2.0, 4.0, 8.0] {
        flow.ack(doubled / 2.0, 250.0);
        assert_close(flow.cwnd(), doubled, 1e-3, "slow start");
    }
}

#[test]
fn compound_adds_the_window_of_delay() {
    // win 1000: 1/8 x 1000^(3/4) - 1 = 1/8 x 177.828 - 1 = 21.2285.
    let mut flow = Flow::new("compound", 1000.0);
    samples(&mut flow, 100.0);
    assert_close(flow.cwnd(), 1021.2285, 1e-3, "dwnd");
    // diff = 1021.2 (1 - 100/102) = 20 < 30: more; at 110 ms 95 >= 30: dwnd 21 + 21 - 95 < 0.
    samples(&mut flow, 102.0);
    assert_close(flow.cwnd(), 1042.81, 0.01, "more");
    samples(&mut flow, 110.0);
    assert_close(flow.cwnd(), 1000.0, 1e-3, "dwnd 0");
    assert_close(flow.lose(), 500.0, 1e-3, "half in total");
    // Below 41 segments dwnd stays 0; an acknowledged window adds one segment.
    let mut flow = Flow::new("compound", 40.0);
    samples(&mut flow, 100.0);
    flow.ack(40.0, 100.0);
    assert_close(flow.cwnd(), 41.0, 1e-3, "Reno");
}

#[test]
fn compound_halves_both_windows_together() {
    let mut flow = Flow::new("compound", 1000.0);
    samples(&mut flow, 100.0);
    // win 1021.2285: 510.61 left, of which 500 is cwnd's half.
    assert_close(flow.lose(), 510.614, 1e-3, "half of win");
}

#[test]
fn ledbat_moves_by_how_far_the_queue_is_from_its_target() {
    // An acknowledged window adds (100 - q)/100 of a segment, with q the queueing delay in ms.
    for (queue_ms, step) in [(0.0, 1.0), (50.0, 0.5), (100.0, 0.0), (300.0, -2.0)] {
        let mut flow = Flow::new("ledbat", 100.0);
        // The base is 100 ms; then four samples fill the filter.
        flow.ack(0.0, 100.0);
        for _ in 0..4 {
            flow.ack(0.0, 100.0 + queue_ms);
        }
        let before = flow.cwnd();
        flow.ack(100.0, 100.0 + queue_ms);
        assert_close(flow.cwnd() - before, step, 1e-3, &format!("queue of {queue_ms} ms"));
    }
    assert_close(Flow::new("ledbat", 100.0).lose(), 50.0, 0.0, "half");
}

#[test]
fn ledbat_forgets_a_base_after_ten_minutes() {
    let mut flow = Flow::new("ledbat", 100.0);
    flow.ack(0.0, 100.0);
    // The path is longer now: 50 ms above the old base until that is ten minutes old.
    for minute in 1..=10u64 {
        flow.now = narrows_common::Time::ZERO + Duration::from_secs(60 * minute);
        for _ in 0..4 {
            flow.ack(0.0, 150.0);
        }
        let before = flow.cwnd();
        flow.ack(before, 150.0);
        let step = if minute < 10 { 0.5 } else { 1.0 };
        assert_close(flow.cwnd() - before, step, 1e-3, &format!("minute {minute}"));
    }
}

#[test]
fn ledbat_goes_by_one_way_where_timestamps_tell() {
    let mut flow = Flow::new("ledbat", 100.0);
    // A clock 12,345 ms ahead: only differences count. The round trip shows 300 ms of queue, all on
    // the return path.
    flow.one_way = Some(Duration::from_ms(12_345));
    flow.ack(0.0, 100.0);
    flow.one_way = Some(Duration::from_ms(12_395));
    for _ in 0..4 {
        flow.ack(0.0, 400.0);
    }
    let before = flow.cwnd();
    flow.ack(100.0, 400.0);
    assert_close(flow.cwnd() - before, 0.5, 1e-3, "50 ms of queue there");
}

#[test]
fn vegas_takes_its_base_from_segments_not_the_handshake() {
    // The connection's minimum round trip, the handshake's, is 10 ms below that of full segments.
    // With cwnd 1000 Vegas would see 100 segments in a queue and decrease.
    let mut flow = Flow::new("vegas", 1000.0);
    flow.min_rtt = Duration::from_ms(90);
    samples(&mut flow, 100.0);
    samples(&mut flow, 100.0);
    assert!(flow.cwnd() > 1000.0, "{}", flow.cwnd());
}

#[test]
fn dctcp_cuts_by_half_the_share_of_marks() {
    // g 1/16, alpha initially 1: after a window with a quarter of its bytes marked, alpha is 15/16
    // + 1/64 = 0.953125.
    let mut flow = Flow::new("dctcp", 100.0);
    for n in 0..4 {
        flow.echoes_mark = n == 0;
        flow.round += u64::from(n == 3);
        flow.ack(25.0, 100.0);
    }
    let before = flow.cwnd();
    let congestion = flow.congestion();
    flow.cc.on_ecn(&congestion);
    assert_close(flow.cwnd() / before, 1.0 - 0.953_125 / 2.0, 1e-4, "the cut");
    // 100 windows without a mark: alpha is 0.953 x (15/16)^100 = 0.0015.
    flow.echoes_mark = false;
    for _ in 0..100 {
        flow.round += 1;
        flow.ack(10.0, 100.0);
    }
    let before = flow.cwnd();
    let congestion = flow.congestion();
    flow.cc.on_ecn(&congestion);
    assert_close(flow.cwnd() / before, 1.0 - 0.001_499 / 2.0, 1e-5, "a light cut");
    assert_close(flow.lose() / flow.cwnd(), 1.0, 1e-9, "the window is what the loss left");
}
