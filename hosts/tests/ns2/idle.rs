//! Compares rate-based pacing after an idle time with ns-2.35, packet by packet.
//!
//! One run each of ns 2.35: 60 packets at 0 s and 40 more at 5 s, window 30, 8 Mb/s, 50 ms.
//! Script: ns2/oracle.tcl, `writes "0 60 5 40" follow t_seqno_`.

use crate::net::{Net, Path, flow, secs};
use narrows_common::{Duration, Packet};
use narrows_hosts::wire::segment;
use narrows_traffic::AppConfig;
use narrows_traffic::workloads::trace;
use std::cell::RefCell;
use std::rc::Rc;

/// With this seed our clock's ticks begin where ns-2's did: Reno's smoothed round trip is 81/8 of
/// them.
const SEED: u64 = 2;

/// Departures of the second write's data, in seconds. `first` is the number of packets of the first
/// write.
fn departures_s(variant: &str, recovery: &str, first: u32, seed: u64) -> Vec<f64> {
    let mut net = Net::new(Path::clean(8_000_000, Duration::from_ms(50)), seed);
    let mut config = flow(1, variant, recovery, "ns2", None);
    config.window_bytes = Some(30_000);
    let writes = vec![(Duration::ZERO, first * 1000), (Duration::from_secs(5), 40_000)];
    config.app = AppConfig::from(trace::Config { writes });
    let left = Rc::new(RefCell::new(0));
    let seen = Rc::clone(&left);
    net.dropper = Box::new(move |direction, _, packet: &Packet| {
        let has_data = segment::parse(packet).is_ok_and(|segment| !segment.payload.is_empty());
        *seen.borrow_mut() += u32::from(direction == 0 && has_data);
        false
    });
    net.open(&config);
    let mut departures = Vec::new();
    net.run_while(secs(9.0), |net| {
        for _ in 0..left.replace(0) {
            departures.push(net.now.as_secs_f64());
        }
        true
    });
    departures.retain(|&at| at >= 5.0);
    departures
}

/// ns-2's values: the first departure, the last, and the gap between paced packets; then two per
/// ACK.
fn check(
    variant: &str,
    recovery: &str,
    first: u32,
    paced: usize,
    last_paced_s: f64,
    acks_s: [f64; 3],
) {
    let ours = departures_s(variant, recovery, first, SEED);
    let near = |ours: f64, theirs: f64| (ours - theirs).abs() < 0.0002;
    assert_eq!(ours.len(), 40, "{variant}");
    let gap_s = (last_paced_s - 5.0) / (paced - 1) as f64;
    for (index, &at) in ours[..paced].iter().enumerate() {
        assert!(near(at, 5.0 + index as f64 * gap_s), "{variant}: packet {index} at {at} s");
    }
    for (index, at_s) in acks_s.into_iter().enumerate() {
        let pair = &ours[paced + 2 * index..][..2];
        assert!(near(pair[0], at_s) && near(pair[1], at_s), "{variant}: {pair:?}, ns-2 {at_s} s");
    }
}

#[test]
fn vegas_rbp_is_ns2s_after_an_idle_time() {
    // Its SYN is the first of its 60 packets. Window 13, a gap of 8.415 ms, 13 packets paced.
    check("vegas-rbp", "vegas", 59, 13, 5.10098, [5.10108, 5.10950, 5.11791]);
}

#[test]
fn reno_rbp_is_ns2s_after_an_idle_time() {
    // Window 23, a gap of 4.402 ms.
    check("reno-rbp", "reno", 60, 23, 5.09685, [5.10108, 5.10548, 5.10988]);
}
