//! Compares with ns-2's receivers and senders for asymmetric paths: which ACKs they send when the
//! return path marks ACKs.
//!
//! One run of ns 2.35, `ns2/oracle.tcl`: Agent/TCP/Newreno/Asym with packets of 1,012 bytes (ours
//! have an option of 12), Agent/TCPSink/Asym, window 30, 8 Mb/s, 50 ms, 4 s. Packets 60 to 160 on
//! the return path are marked (`mark_acks`).

use crate::net::{Net, Path, flow, secs};
use narrows_common::{Duration, Packet};
use narrows_hosts::wire::segment::{self, Ecn};
use std::cell::RefCell;
use std::rc::Rc;

/// The segments per ACK, as runs of (ACKs, segments), and the time at which the thousandth segment
/// was acknowledged, in seconds.
fn answered(marked: std::ops::Range<u64>) -> (Vec<(u32, u64)>, f64) {
    let mut net = Net::new(Path::clean(8_000_000, Duration::from_ms(50)), 1);
    let mut config = flow(1, "Newreno/Asym", "Newreno/Asym", "ns2", None);
    config.sink = Some("TCPSink/Asym".to_owned());
    config.window_bytes = Some(30_000);
    net.marker = Box::new(move |direction, number, _| direction == 1 && marked.contains(&number));
    let acks = Rc::new(RefCell::new(Vec::new()));
    let seen = Rc::clone(&acks);
    net.dropper = Box::new(move |direction, _, packet: &Packet| {
        let segment = segment::parse(packet).unwrap();
        if direction == 1 && !segment.flags.has(segment::Flags::SYN) {
            assert_ne!(segment.ecn, Ecn::NotEct, "its ACKs are capable");
            seen.borrow_mut().push(segment.ack);
        }
        false
    });
    net.open(&config);
    let thousand = |net: &mut Net| net.hosts[0].flow_report(1).unwrap().acked_bytes < 1_000_000;
    net.run_while(secs(4.0), thousand);
    let at_s = net.now.as_secs_f64();
    let acks = acks.borrow();
    let mut runs: Vec<(u32, u64)> = Vec::new();
    for pair in acks.windows(2) {
        let segments = u64::from(pair[1].wrapping_sub(pair[0])) / 1000;
        match runs.last_mut() {
            Some((acks, of)) if *of == segments => *acks += 1,
            _ => runs.push((1, segments)),
        }
    }
    (runs, at_s)
}

#[test]
fn marked_acks_become_as_rare_as_ns2s() {
    let (runs, at_s) = answered(60..161);
    let theirs = [(15, 2), (7, 4), (60, 5), (7, 4), (10, 3), (15, 2)];
    assert_eq!(runs[1..7], theirs, "{runs:?}");
    assert!(runs[0].1 == 1 && runs[7].1 == 1 && runs.len() == 8, "{runs:?}");
    assert!((at_s - 3.90255).abs() < 0.0001, "{at_s} s");
}

#[test]
fn without_marks_every_segment_is_answered() {
    let (runs, _) = answered(0..0);
    assert!(matches!(runs[..], [(900.., 1)]), "{runs:?}");
}
