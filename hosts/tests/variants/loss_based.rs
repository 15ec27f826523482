//! Scalable, HSTCP, Westwood+ and Veno.

use super::{Flow, assert_close};

#[test]
fn scalable_adds_a_fiftieth_and_gives_up_an_eighth() {
    let mut flow = Flow::new("scalable", 1000.0);
    // One ACK of 50 segments adds one.
    flow.ack(50.0, 100.0);
    assert_close(flow.cwnd(), 1001.0, 1e-3, "after 50 ACKs");
    flow.ack(49.0, 100.0);
    assert_close(flow.cwnd(), 1001.98, 1e-3, "after 49 more");
    // Below 50 segments Linux's rule is Reno's increase: one per window.
    let mut flow = Flow::new("scalable", 20.0);
    flow.ack(20.0, 100.0);
    assert_close(flow.cwnd(), 21.0, 1e-3, "Reno below 50");
    // 800 - 100; small windows too: 8 - 1.
    assert_close(Flow::new("scalable", 800.0).lose(), 700.0, 1e-3, "cut");
    assert_close(Flow::new("scalable", 8.0).lose(), 7.0, 1e-3, "cut of 8");
    assert_close(Flow::new("scalable", 800.0).time_out(), 700.0, 1e-3, "threshold");
}

#[test]
fn scalable_as_the_paper_has_it() {
    let paper = [("ai_cnt", 100.0), ("legacy_window", 16.0)];
    let mut flow = Flow::with("scalable", &paper, 200.0, 10_000);
    flow.ack(100.0, 100.0);
    assert_close(flow.cwnd(), 201.0, 1e-3, "0.01 an ACK");
    let mut flow = Flow::with("scalable", &paper, 16.0, 10_000);
    flow.ack(8.0, 100.0);
    assert_close(flow.cwnd(), 16.5, 1e-3, "Reno at 16");
    let mut flow = Flow::with("scalable", &paper, 16.0, 10_000);
    assert_close(flow.lose(), 8.0, 1e-3, "half at 16");
}

#[test]
fn hstcp_follows_the_table_of_rfc_3649() {
    // Appendix B: w, a(w), b(w). A row is the window where a(w) reaches that integer, so a there is
    // at most the step to the next window above it; b is printed with two digits.
    for (w, a, b) in [
        (38.0, 1.0, 0.50),
        (118.0, 2.0, 0.44),
        (221.0, 3.0, 0.41),
        (347.0, 4.0, 0.38),
        (495.0, 5.0, 0.37),
        (1058.0, 8.0, 0.33),
        (10_661.0, 30.0, 0.21),
        (84_035.0, 71.0, 0.10),
    ] {
        let mut flow = Flow::new("hstcp", w);
        flow.ack(w, 100.0);
        assert_close(flow.cwnd() - w, a, 0.012 * a, &format!("a({w})"));
        let left = Flow::new("hstcp", w).lose();
        assert_close(1.0 - left / w, b, 0.0051, &format!("b({w})"));
    }
    // At and below 38 segments it is Reno.
    let mut flow = Flow::new("hstcp", 20.0);
    flow.ack(20.0, 100.0);
    assert_close(flow.cwnd(), 21.0, 1e-3, "Reno");
    assert_close(flow.time_out(), 10.5, 1e-3, "half");
}

#[test]
fn westwood_sets_the_window_to_what_the_path_carried() {
    // 1000 segments/s and RTTmin 100 ms: 100 segments. 80 round trips later the window is 180 and
    // the round trip 180 ms, which is still 1000/s.
    let mut flow = Flow::new("westwood", 100.0);
    flow.ack(1.0, 100.0);
    for _ in 0..80 {
        let before = flow.cwnd();
        flow.round(before);
    }
    assert_close(flow.cwnd(), 180.0, 1.0, "Reno's growth, one a round trip");
    // The rate is 1000/s at each sample, so the filters stay there. During the repair Reno's half
    // applies, then the estimate.
    assert_close(flow.lose(), 90.0, 1.0, "at a loss");
    flow.cc.on_recovery_exit(flow.now);
    assert_close(flow.cwnd(), 100.0, 1.0, "after it");
    assert_close(flow.time_out(), 100.0, 1.0, "threshold after a time-out");
    assert_close(flow.cwnd(), 1.0, 0.0, "window after a time-out");
}

#[test]
fn westwood_filters_twice() {
    // Rounds of 100 ms: 1000 segments/s, then one at 2000: e1 = (7 1000 + 2000) / 8 = 1125,
    // e = (7 1000 + 1125) / 8 = 1015.625; times 0.1 s.
    let mut flow = Flow::new("westwood", 400.0);
    flow.ack(0.0, 100.0);
    let mut deliver = |segments| {
        flow.now += narrows_common::Duration::from_ms(100);
        flow.ack(segments, 100.0);
    };
    deliver(100.0);
    deliver(100.0);
    deliver(200.0);
    assert_close(flow.lose_and_repair(), 101.5625, 1e-3, "e x RTTmin");
}

#[test]
fn westwood_without_an_estimate_halves() {
    assert_close(Flow::new("westwood", 40.0).lose_and_repair(), 20.0, 1e-3, "half");
}

#[test]
fn westwood_knows_a_twentieth_of_a_rate_that_doubles() {
    // After many doublings e1 = b (1/8) / (1 - 7/16) = 2/9 b, and e = 2/9 of that: 4/81 b.
    let mut flow = Flow::new("westwood", 400.0);
    flow.ack(0.0, 100.0);
    let mut delivered = 1.0;
    for _ in 0..30 {
        delivered *= 2.0;
        flow.now += narrows_common::Duration::from_ms(100);
        flow.ack(delivered, 100.0);
    }
    assert_close(flow.lose_and_repair() / delivered, 4.0 / 81.0, 1e-4, "the share known");
}

#[test]
fn veno_tells_losses_by_the_backlog() {
    let veno = |cwnd, rtt_ms| {
        let mut flow = Flow::new("veno", cwnd);
        for _ in 0..3 {
            flow.ack(0.0, 100.0);
        }
        flow.ack(0.0, rtt_ms);
        flow
    };
    // 30 (1 - 100/110) = 2.73 < 3: random, 4/5. 30 (1 - 100/112) = 3.21: half.
    assert_close(veno(30.0, 110.0).lose(), 24.0, 1e-3, "random");
    assert_close(veno(30.0, 112.0).lose(), 15.0, 1e-3, "congestive");
    let mut flow = veno(30.0, 110.0);
    flow.ack(30.0, 110.0);
    assert_close(flow.cwnd(), 31.0, 1e-3, "one a round trip");
    let mut flow = veno(30.0, 112.0);
    flow.ack(30.0, 112.0);
    assert_close(flow.cwnd(), 30.5, 1e-3, "one in two");
    // Two samples are not enough: Reno.
    let mut flow = Flow::new("veno", 30.0);
    flow.ack(0.0, 100.0);
    flow.ack(0.0, 100.0);
    assert_close(flow.lose(), 15.0, 1e-3, "Reno");
}
