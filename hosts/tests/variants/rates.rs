//! AppTCP, Circuit TCP and TCP-Jersey.

use super::{Flow, assert_close};
use narrows_common::Duration;

#[test]
fn app_tcp_begins_from_the_required_rate() {
    // rate x RTT / (8 x 1460): 600 Mb/s and 300 ms: 180e6 / 11680 = 15410.96.
    for (rate_mbps, rtt_ms, base) in [
        (600.0, 300.0, 15_411.0),
        (256.0, 300.0, 6575.0),
        (100.0, 300.0, 2568.0),
        (850.0, 139.0, 10_116.0),
        (900.0, 20.0, 1541.0),
    ] {
        let mut flow = Flow::with("app-tcp", &[("rate_mbps", rate_mbps)], 3.0, 1460);
        flow.ack(1.0, rtt_ms);
        assert_close(flow.cwnd(), 4.0, 0.0, "slow start");
        // A loss sets cwnd_base.
        assert_close(flow.lose(), base, 0.0, &format!("{rate_mbps} Mb/s, {rtt_ms} ms"));
    }
}

#[test]
fn app_tcp_closes_the_loop() {
    // 116.8 Mb/s, 100 ms, 1460 bytes: cwnd_base = 11.68e6 / 11680 = 1000.
    let mut flow = Flow::with("app-tcp", &[("rate_mbps", 116.8)], 3.0, 1460);
    flow.ack(1.0, 100.0);
    flow.lose();
    // 110 ms make the output 1000/1100 of the rate: one more segment per ten acknowledged, not per
    // nine.
    flow.ack(9.0, 110.0);
    assert_close(flow.cwnd(), 1000.0, 0.0, "9 acknowledged");
    flow.ack(1.0, 110.0);
    assert_close(flow.cwnd(), 1001.0, 0.0, "10 acknowledged");
    // 1001 segments per 100 ms exceed the rate: one less.
    flow.ack(10.0, 100.0);
    assert_close(flow.cwnd(), 1000.0, 0.0, "too fast");
    // Exactly the rate: no change.
    flow.ack(100.0, 100.0);
    assert_close(flow.cwnd(), 1000.0, 0.0, "equal");
    // A path that cannot carry it: at most twice cwnd_base.
    for _ in 0..100 {
        flow.ack(1000.0, 300.0);
    }
    assert_close(flow.cwnd(), 2000.0, 0.0, "limit");
    flow.time_out();
    assert_close(flow.cwnd(), 1.0, 0.0, "time-out");
    flow.ack(1.0, 100.0);
    assert_close(flow.cwnd(), 2.0, 0.0, "slow start again");
}

#[test]
fn circuit_keeps_its_window_through_everything() {
    // 100 Mb/s x 100 ms = 1,250,000 bytes = 125 segments of 10,000.
    let mut flow = Flow::with("circuit", &[("rate_mbps", 100.0)], 10.0, 10_000);
    flow.ack(1.0, 100.0);
    assert_close(flow.cwnd(), 125.0, 1e-3, "rate x RTT");
    flow.ack(10.0, 300.0);
    assert_close(flow.lose(), 125.0, 1e-3, "loss");
    flow.time_out();
    assert_close(flow.cwnd(), 125.0, 1e-3, "time-out");
    let flow = Flow::with("circuit", &[("window", 77.0)], 10.0, 10_000);
    assert_close(flow.cwnd(), 77.0, 0.0, "as told");
}

/// 1000 segments/s with an ACK every 10 ms, RTT 100 ms: R converges to 1000/s, ownd to 100.
fn jersey() -> Flow {
    let mut flow = Flow::new("jersey", 150.0);
    for _ in 0..400 {
        flow.now += Duration::from_ms(10);
        flow.ack(10.0, 100.0);
    }
    flow
}

#[test]
fn jersey_cuts_to_the_rate_where_it_was_warned() {
    let mut flow = jersey();
    let before = flow.cwnd();
    assert_close(flow.lose(), before, 0.0, "a loss without a warning");
    let congestion = flow.congestion();
    flow.cc.on_ecn(&congestion);
    assert_close(flow.cwnd(), 100.0, 0.1, "a mark");
    // Within a round trip of the mark a loss counts as congestion too; the path now carries 50.
    for _ in 0..400 {
        flow.now += Duration::from_ms(10);
        flow.ack(5.0, 100.0);
    }
    assert_close(flow.lose(), 50.0, 0.1, "a loss with a warning");
    let before = flow.cwnd();
    flow.round += 2;
    flow.ack(0.0, 100.0);
    assert_close(flow.lose(), before, 0.0, "two rounds later");
    assert_close(flow.time_out(), 50.0, 0.1, "a time-out's threshold");
}

#[test]
fn jersey_estimates_with_a_memory_of_a_round_trip() {
    // R_0 = 0; 10 segments after 100 ms: (0.1 x 0 + 10) / (0.1 + 0.1) = 50/s; again: (5 + 10) /
    // 0.2 = 75/s. ownd = 0.1 x 75 = 7.5 segments.
    let mut flow = Flow::new("jersey", 100.0);
    flow.ack(0.0, 100.0);
    for _ in 0..2 {
        flow.now += Duration::from_ms(100);
        flow.ack(10.0, 100.0);
    }
    assert_close(flow.time_out(), 7.5, 1e-3, "ownd");
}
