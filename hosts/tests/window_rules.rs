//! Checks the window rules in a synchronous model of two flows (Jasem 2010): all flows grow by one
//! segment per round trip, and when their sum reaches W all see congestion.

use narrows_common::{Duration, Time};
use narrows_hosts::api::{Ack, Congestion, Parameters};
use narrows_hosts::cc::VARIANTS;
use narrows_hosts::cc::control::{CongestionControl, Setup};
use std::collections::BTreeMap;

/// Large segments make rounding to bytes insignificant.
const MSS: u32 = 10_000;

fn build(name: &str, parameters: &[(&str, f64)], cwnd: f64) -> Box<dyn CongestionControl> {
    let variant = VARIANTS.iter().find(|variant| variant.name == name).unwrap();
    let set: BTreeMap<String, f64> =
        parameters.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
    (variant.build)(&Setup {
        mss: MSS,
        initial_window_bytes: (cwnd * f64::from(MSS)) as u64,
        // In congestion avoidance from the start.
        initial_ssthresh_bytes: 0,
        times_every_segment: true,
        handshake_rtt: None,
        seed: 1,
        parameters: Parameters::resolve(variant.name, variant.parameters, &set).unwrap(),
    })
}

fn window(flow: &dyn CongestionControl) -> f64 {
    flow.cwnd_bytes() as f64 / f64::from(MSS)
}

/// Acknowledges a fraction of a window in one ACK, which grows it by that fraction of a segment.
fn grow(flow: &mut dyn CongestionControl, share: f64) {
    grow_at(flow, Time::ZERO, share);
}

fn grow_at(flow: &mut dyn CongestionControl, now: Time, share: f64) {
    let acked_bytes = (flow.cwnd_bytes() as f64 * share).round() as u64;
    flow.on_growth(&Ack {
        now,
        acked_bytes,
        credit_bytes: acked_bytes,
        mss: MSS,
        flight_bytes: flow.cwnd_bytes(),
        rtt: None,
        srtt: Duration::ZERO,
        min_rtt: Duration::MAX,
        delivered_bytes: 0,
        round: 0,
        echoes_mark: false,
        one_way: None,
    });
}

fn congest(flow: &mut dyn CongestionControl) {
    flow.on_congestion(&Congestion {
        now: Time::ZERO,
        window_bytes: flow.cwnd_bytes(),
        mss: MSS,
        whole_segments: false,
        is_repeated: false,
    });
}

/// Runs to the next event with real-valued time; returns k, the peaks and the windows after it.
fn cycle(flows: &mut [Box<dyn CongestionControl>; 2], w: f64) -> (f64, [f64; 2], [f64; 2]) {
    let windows =
        |flows: &[Box<dyn CongestionControl>; 2]| [window(&*flows[0]), window(&*flows[1])];
    let before = windows(flows);
    let steps = (w - before[0] - before[1]) / 2.0;
    // k round trips: first the whole ones, then the rest.
    let mut left = steps;
    while left > 1e-9 {
        let share = left.min(1.0);
        flows.iter_mut().for_each(|flow| grow(&mut **flow, share));
        left -= share;
    }
    let peaks = windows(flows);
    flows.iter_mut().for_each(|flow| congest(&mut **flow));
    (steps, peaks, windows(flows))
}

/// The windows after each event of two flows that start at 10 and 40 with W = 100, and k.
fn check_table(name: &str, rows: &[(f64, [f64; 2], [f64; 2])]) {
    let mut flows = [build(name, &[], 10.0), build(name, &[], 40.0)];
    for (event, (k, peaks, after)) in rows.iter().enumerate() {
        let got = cycle(&mut flows, 100.0);
        let close = |a: f64, b: f64| (a - b).abs() < 0.01;
        let is_close = close(got.0, *k)
            && (0..2).all(|n| close(got.1[n], peaks[n]) && close(got.2[n], after[n]));
        assert!(is_close, "{name}, event {}: {got:?}, expected {k} {peaks:?} {after:?}", event + 1);
    }
}

// The tables: event, k; peaks; windows after. Peaks are the same for all three rules; their
// difference halves: 30, 15, 7.5 ... Tolerance 0.01 of a segment for rounding to bytes.

#[test]
fn aimd_for_w_100() {
    check_table(
        "reno",
        &[
            (25.0, [35.0, 65.0], [17.5, 32.5]),
            (25.0, [42.5, 57.5], [21.25, 28.75]),
            (25.0, [46.25, 53.75], [23.125, 26.875]),
            (25.0, [48.125, 51.875], [24.0625, 25.9375]),
        ],
    );
}

#[test]
fn new_aimd_for_w_100() {
    check_table(
        "new-aimd",
        &[
            (25.0, [35.0, 65.0], [30.0, 45.0]),
            (12.5, [42.5, 57.5], [40.0, 47.5]),
            (6.25, [46.25, 53.75], [45.0, 48.75]),
            (3.125, [48.125, 51.875], [47.5, 49.375]),
            (1.5625, [49.0625, 50.9375], [48.75, 49.6875]),
            (0.78125, [49.53125, 50.46875], [49.375, 49.84375]),
        ],
    );
}

#[test]
fn aimd_fc_for_w_100() {
    check_table(
        "aimd-fc",
        &[
            (25.0, [35.0, 65.0], [30.0, 45.0]),
            (12.5, [42.5, 57.5], [27.5, 35.0]),
            (18.75, [46.25, 53.75], [32.5, 36.25]),
            (15.625, [48.125, 51.875], [31.875, 33.75]),
            (17.1875, [49.0625, 50.9375], [33.125, 34.0625]),
            (16.40625, [49.53125, 50.46875], [32.96875, 33.4375]),
        ],
    );
}

#[test]
fn aimd_fc_plus_settles_at_nine_tenths() {
    // Equal flows of share 50: w* = 50 = x + k, w' = k + 3/4 x = x gives x = 50 / 1.25 = 40,
    // k = 10; the mean load is (40 + 50) / 2 of 50, 0.9.
    let mut flows = [build("aimd-fc-plus", &[], 10.0), build("aimd-fc-plus", &[], 40.0)];
    for _ in 0..30 {
        cycle(&mut flows, 100.0);
    }
    let (k, _, after) = cycle(&mut flows, 100.0);
    assert!(
        (k - 10.0).abs() < 0.01 && after.iter().all(|w| (w - 40.0).abs() < 0.01),
        "{k} {after:?}"
    );
    // The first events, with k of 25 and 12.5, are AIMD-FC's.
    let mut flows = [build("aimd-fc-plus", &[], 10.0), build("aimd-fc-plus", &[], 40.0)];
    cycle(&mut flows, 100.0);
    assert!((cycle(&mut flows, 100.0).2[0] - 27.5).abs() < 0.01);
}

#[test]
fn the_guard_keeps_new_aimd_from_never_backing_off() {
    let run = |rebase| {
        let mut flows = [
            build("new-aimd", &[("rebase", rebase)], 10.0),
            build("new-aimd", &[("rebase", rebase)], 40.0),
        ];
        (0..12).map(|_| cycle(&mut flows, 100.0).0).collect::<Vec<_>>()
    };
    // Without it k halves forever: 25 / 2^11 of a round trip between events.
    assert!(*run(0.0).last().unwrap() < 0.02);
    // With it a cut is never below 1/8 of the window: 100 / 8 / 2 = 6.25 per flow.
    assert!(run(1.0).iter().all(|k| *k >= 6.2), "{:?}", run(1.0));
}

/// CUBIC's window if one ACK of a whole window comes `t_secs` into the epoch and the round trip is
/// 0: W_cubic(t) itself.
fn cubic_at(flow: &mut dyn CongestionControl, t_secs: u64) -> f64 {
    grow_at(flow, Time::ZERO + Duration::from_secs(t_secs), 1.0);
    window(flow)
}

#[test]
fn cubic_follows_the_curve_of_rfc_9438() {
    // W_max 100, cwnd_epoch 70: K = cbrt(30 / 0.4) = 4.217163 s; W(t) = 100 + 0.4 (t - K)^3,
    // computed with a calculator.
    let mut flow = build("cubic", &[], 100.0);
    congest(&mut *flow);
    assert!((window(&*flow) - 70.0).abs() < 0.001);
    for (t_secs, expected) in
        [(0, 70.0), (1, 86.681), (2, 95.640), (3, 99.279), (4, 99.996), (6, 102.267), (8, 121.653)]
    {
        let got = cubic_at(&mut *flow, t_secs);
        // At t = 0 the Reno-friendly estimate, 70 + 0.53, is above the curve.
        let expected = if t_secs == 0 { 70.0 + 3.0 * 0.3 / 1.7 } else { expected };
        assert!((got - expected).abs() < 0.002, "t = {t_secs}: {got}, expected {expected}");
    }
}

#[test]
fn cubic_converges_fast_when_the_plateau_falls() {
    // Loss at 100, then at 80 before the plateau: W_max = 80 (1 + 0.7) / 2 = 68, cwnd 56,
    // K = cbrt(12 / 0.4) = 3.107233 s.
    let mut flow = build("cubic", &[], 100.0);
    congest(&mut *flow);
    while window(&*flow) < 80.0 {
        grow(&mut *flow, 1.0);
    }
    let cwnd = window(&*flow);
    assert!(cwnd < 80.6);
    congest(&mut *flow);
    let (w_max, epoch) = (cwnd * 0.85, cwnd * 0.7);
    let k = ((w_max - epoch) / 0.4_f64).powf(1.0 / 3.0);
    cubic_at(&mut *flow, 0);
    for t_secs in [2u64, 3, 5] {
        let expected = w_max + 0.4 * (t_secs as f64 - k).powi(3);
        let got = cubic_at(&mut *flow, t_secs);
        assert!((got - expected).abs() < 0.01, "t = {t_secs}: {got}, expected {expected}");
    }
}

#[test]
fn cubic_in_the_reno_region_grows_by_alpha_and_then_by_one() {
    // Loss at 10: cwnd 7. With all ACKs at t = 0 the curve stays at 7; W_est gains 9/17 of a
    // segment per window until it is at 10, then a whole one.
    let mut flow = build("cubic", &[], 10.0);
    congest(&mut *flow);
    let mut last = 7.0;
    for _ in 0..10 {
        grow(&mut *flow, 1.0);
        let step = window(&*flow) - last;
        let expected = if last < 10.0 { 9.0 / 17.0 } else { 1.0 };
        assert!((step - expected).abs() < 0.001, "{last}: {step}, expected {expected}");
        last = window(&*flow);
    }
    assert!(last > 12.0);
}

#[test]
fn parameters_are_checked_by_name_and_range() {
    let cubic = VARIANTS.iter().find(|variant| variant.name == "cubic").unwrap();
    let resolve = |name: &str, value| {
        Parameters::resolve(
            cubic.name,
            cubic.parameters,
            &BTreeMap::from([(name.to_owned(), value)]),
        )
        .unwrap_err()
        .to_string()
    };
    assert_eq!(
        resolve("gamma", 1.0),
        "variant cubic: no parameter \"gamma\"; expected one of c, beta, fast_convergence, hystart"
    );
    assert_eq!(
        resolve("beta", 2.0),
        "variant cubic: beta = 2 is out of range; expected 0.1 to 0.99"
    );
    assert!(resolve("beta", f64::NAN).contains("NaN"));
    for variant in VARIANTS {
        for parameter in variant.parameters {
            let what = format!("{} {}", variant.name, parameter.name);
            assert!((parameter.min..=parameter.max).contains(&parameter.default), "{what}");
            assert!(![parameter.unit, parameter.meaning, parameter.origin].contains(&""), "{what}");
            let is_flag = (parameter.min, parameter.max) == (0.0, 1.0)
                && parameter.meaning.starts_with("1: ");
            assert_eq!(parameter.unit == "flag", is_flag, "{what}");
        }
    }
}
