//! BIC, H-TCP and Hybla.

use super::{Flow, assert_close};
use narrows_common::Duration;

/// A BIC flow after a loss at 1000 segments: Wmax 1000, cwnd 1000 x 819/1024 = 799.8.
fn bic() -> Flow {
    let mut flow = Flow::new("bic", 1000.0);
    assert_close(flow.lose(), 799.804, 1e-3, "819/1024");
    flow
}

#[test]
fn bic_searches_for_the_last_window() {
    let mut flow = bic();
    // dist = (1000 - 799.8) / 4 = 50, at most 16.
    assert_close(flow.round(100.0), 16.0, 0.3, "linear");
    // Within 64 of Wmax dist falls below 16; send one ACK worth a tenth of a round trip at a time.
    while flow.cwnd() < 960.0 {
        flow.round(100.0);
    }
    let cwnd = flow.cwnd();
    flow.ack(cwnd / 10.0, 100.0);
    assert_close(flow.cwnd() - cwnd, (1000.0 - cwnd) / 40.0, 1e-3, "a quarter of the distance");
    // dist <= 1, within 4 of Wmax: 4/20 a round trip.
    while flow.cwnd() < 996.0 {
        flow.round(100.0);
    }
    assert_close(flow.round(100.0), 0.2, 2e-3, "smooth");
    // Up to Wmax + 4 as well; then a third of the distance; from Wmax + 48 on 16.
    while flow.cwnd() < 1004.0 {
        flow.round(100.0);
    }
    let cwnd = flow.cwnd();
    flow.ack(cwnd / 10.0, 100.0);
    assert_close(flow.cwnd() - cwnd, (cwnd - 1000.0) / 30.0, 1e-3, "away from Wmax");
    while flow.cwnd() < 1048.0 {
        flow.round(100.0);
    }
    let cwnd = flow.cwnd();
    flow.ack(cwnd / 10.0, 100.0);
    assert_close(flow.cwnd() - cwnd, 1.6, 1e-3, "linear again");
}

#[test]
fn bic_converges_fast_and_is_reno_when_small() {
    // A loss at 799.8 below Wmax 1000: Wmax = 799.8 (1 + 0.7998) / 2 = 719.7, cwnd 639.7;
    // dist there is (719.7 - 639.7) / 4 = 20 > 16, and at 690 it is 7.4.
    let mut flow = bic();
    assert_close(flow.lose(), 639.687, 1e-2, "second cut");
    while flow.cwnd() < 690.0 {
        flow.ack(1.0, 100.0);
    }
    let cwnd = flow.cwnd();
    flow.ack(cwnd / 10.0, 100.0);
    assert_close(flow.cwnd() - cwnd, (719.745 - cwnd) / 40.0, 1e-2, "towards the lower Wmax");
    // At 14 segments Reno: + 1, and half.
    let mut flow = Flow::new("bic", 14.0);
    assert_close(flow.lose(), 7.0, 1e-3, "half at 14");
    flow.ack(7.0, 100.0);
    assert_close(flow.cwnd(), 8.0, 1e-3, "one a round trip");
    // Before a loss at least 5 %: of 1000, 50.
    let mut flow = Flow::new("bic", 1000.0);
    flow.ack(100.0, 100.0);
    assert_close(flow.cwnd(), 1005.0, 1e-3, "5 % a round trip");
}

/// Segments added by a round trip's ACKs, `ms` after the first.
fn htcp_step(flow: &mut Flow, ms: u64, rtt_ms: f64) -> f64 {
    flow.now += Duration::from_ms(ms);
    let cwnd = flow.cwnd();
    flow.ack(cwnd, rtt_ms);
    flow.cwnd() - cwnd
}

#[test]
fn htcp_grows_with_the_time_since_the_loss() {
    // RTT 100 ms scales by 1, beta 0.5: alpha = f. D = 0.5 s: 1. D = 2 s: 1 + 10 + 1/4.
    // D = 3 s: 1 + 20 + 1. D = 11 s: 1 + 100 + 25.
    let mut flow = Flow::new("htcp", 1000.0);
    assert_close(htcp_step(&mut flow, 0, 100.0), 1.0, 1e-3, "D = 0");
    assert_close(htcp_step(&mut flow, 500, 100.0), 1.0, 1e-3, "D = 0.5 s");
    assert_close(htcp_step(&mut flow, 1500, 100.0), 11.25, 1e-3, "D = 2 s");
    assert_close(htcp_step(&mut flow, 1000, 100.0), 22.0, 1e-3, "D = 3 s");
    assert_close(htcp_step(&mut flow, 8000, 100.0), 126.0, 1e-3, "D = 11 s");
    // At 20 ms f is a fifth: 11.25 / 5 = 2.25 at D = 2 s, and not below 1 at D = 0.
    let mut flow = Flow::new("htcp", 1000.0);
    assert_close(htcp_step(&mut flow, 0, 20.0), 1.0, 1e-3, "20 ms, D = 0");
    assert_close(htcp_step(&mut flow, 2000, 20.0), 2.25, 1e-3, "20 ms, D = 2 s");
    // At 300 ms the factor is at most 2.
    let mut flow = Flow::new("htcp", 1000.0);
    assert_close(htcp_step(&mut flow, 0, 300.0), 2.0, 1e-3, "300 ms, D = 0");
}

#[test]
fn htcp_gives_up_what_the_queue_held() {
    // 1000 segments per 100 ms, RTT between 100 and 150 ms. The first two losses halve the window:
    // neither has an earlier loss with an epoch of the same throughput. RTTmax is 100 + 50 x 0.95^2
    // = 145.1 ms by the third, which leaves 100/145.1, then 100 + 50 x 0.95^3.
    let mut flow = Flow::new("htcp", 3000.0);
    flow.ack(0.0, 150.0);
    for kept in [0.5, 0.5, 0.689_061, 0.699_964] {
        for _ in 0..10 {
            flow.now += Duration::from_ms(100);
            flow.ack(1000.0, 100.0);
        }
        let cwnd = flow.cwnd();
        assert_close(flow.lose() / cwnd, kept, 1e-3, "RTTmin/RTTmax");
    }
    // Half again, because the throughput fell by half.
    for _ in 0..10 {
        flow.now += Duration::from_ms(100);
        flow.ack(100.0, 100.0);
    }
    let cwnd = flow.cwnd();
    assert_close(flow.lose() / cwnd, 0.5, 1e-3, "throughput changed");
}

#[test]
fn hybla_grows_as_if_the_round_trip_were_25_ms() {
    // RTT 100 ms: rho 4, rho^2 = 16 a round trip. 25 ms and below: Reno.
    let mut flow = Flow::new("hybla", 1000.0);
    flow.ack(1000.0, 100.0);
    assert_close(flow.cwnd(), 1016.0, 1e-3, "rho 4");
    // A rise to 200 ms is ignored, a fall to 50 ms (rho 2) is not.
    flow.ack(1016.0, 200.0);
    assert_close(flow.cwnd(), 1032.0, 1e-3, "rho still 4");
    flow.ack(1032.0, 50.0);
    assert_close(flow.cwnd(), 1036.0, 1e-3, "rho 2");
    let mut flow = Flow::new("hybla", 1000.0);
    flow.ack(1000.0, 10.0);
    assert_close(flow.cwnd(), 1001.0, 1e-3, "rho at least 1");
    // Slow start: 2^4 - 1 = 15 an ACK, up to the threshold.
    let mut flow = Flow::new("hybla", 1000.0);
    assert_close(flow.time_out(), 500.0, 0.0, "threshold");
    flow.ack(1.0, 100.0);
    assert_close(flow.cwnd(), 16.0, 1e-3, "15 an ACK");
    flow.ack(100.0, 100.0);
    assert_close(flow.cwnd(), 500.0, 0.0, "capped");
    assert_close(flow.lose(), 250.0, 0.0, "half");
}
