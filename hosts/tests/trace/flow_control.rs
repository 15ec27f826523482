//! Delayed ACKs, Nagle's rule, windows and probes.

use crate::script::{Script, ack, data, plain};
use narrows_hosts::config::FlowConfig;

#[test]
fn delayed_acks_every_second_segment_or_after_200_ms() {
    let config = FlowConfig { delayed_ack: Some(true), ..plain() };
    let mut script = Script::established(&config, 60_000);
    script.send(110, data(1, 1000, 1));
    script.recv(110, &[]);
    script.send(120, data(1001, 1000, 1));
    script.recv(120, &[". 1:1(0) ack 2001 win 6000"]);
    script.send(130, data(2001, 1000, 1));
    script.timer(330, &[". 1:1(0) ack 3001 win 5000"]);
    // Out of order: an immediate ACK, and another when the gap is filled.
    script.send(400, data(4001, 1000, 1));
    script.recv(400, &[". 1:1(0) ack 3001 win 5000"]);
    script.send(410, data(3001, 1000, 1));
    script.recv(410, &[". 1:1(0) ack 5001 win 3000"]);
    // Our data carry the ACK.
    script.send(500, data(5001, 1000, 1));
    script.write(10);
    script.recv(500, &["P. 1:11(10) ack 6001 win 2000"]);
    assert_eq!(
        script.connection.poll_timeout().unwrap().as_us(),
        800_000,
        "only the RTO is left: 100 + 4 * 50 ms"
    );
}

#[test]
fn nagle_waits_for_the_ack_and_not_at_all_when_off() {
    let mut script = Script::established(&plain(), 60_000);
    script.write(10);
    script.recv(110, &["P. 1:11(10) ack 1 win 8000"]);
    script.write(20);
    script.write(30);
    script.recv(120, &[]);
    script.send(210, ack(1, 11, 60_000));
    script.recv(210, &["P. 11:61(50) ack 1 win 8000"]);
    // A full segment never waits; the rest of the data does.
    script.write(1010);
    script.recv(220, &[". 61:1061(1000) ack 1 win 8000"]);

    let mut script = Script::established(&FlowConfig { nagle: Some(false), ..plain() }, 60_000);
    for n in 0..3 {
        script.write(10);
        assert_eq!(script.drain(110 + n).len(), 1);
    }
}

#[test]
fn a_closed_window_is_probed_with_one_octet_and_doubling_waits() {
    let mut script = Script::established(&plain(), 1000);
    script.write(3000);
    script.recv(100, &[". 1:1001(1000) ack 1 win 8000"]);
    script.send(200, ack(1, 1001, 0));
    script.recv(200, &[]);
    // SRTT 100 ms, RTTVAR 37.5 ms: 250 ms.
    script.timer(450, &[". 1001:1002(1) ack 1 win 8000"]);
    script.send(500, ack(1, 1001, 0));
    script.recv(500, &[]);
    script.timer(950, &[". 1001:1002(1) ack 1 win 8000"]);
    script.send(1000, ack(1, 1001, 0));
    script.timer(1950, &[". 1001:1002(1) ack 1 win 8000"]);
    // The window opens; the octet was not accepted and is sent with the rest.
    script.send(2000, ack(1, 1001, 2000));
    script.recv(2000, &[". 1001:2001(1000) ack 1 win 8000", "P. 2001:3001(1000) ack 1 win 8000"]);
    assert_eq!(script.connection.sender_counters().timeouts, 0);
    assert_eq!(script.connection.record(script.now).cwnd_bytes, 10_000, "probes cost no window");
}

#[test]
fn a_probe_that_is_taken_moves_on() {
    let mut script = Script::established(&plain(), 1000);
    script.write(2500);
    script.drain(100);
    script.send(200, ack(1, 1001, 0));
    script.drain(200);
    script.timer(450, &[". 1001:1002(1) ack 1 win 8000"]);
    script.send(500, ack(1, 1002, 0));
    script.recv(500, &[]);
    script.send(600, ack(1, 1002, 5000));
    // Nagle's rule keeps the rest.
    script.recv(600, &[". 1002:2002(1000) ack 1 win 8000"]);
}

#[test]
fn a_reader_that_stops_closes_the_window_and_reading_opens_it() {
    let mut script = Script::established(&plain(), 60_000);
    for n in 0..8 {
        script.send(110 + n, data(1 + n as u32 * 1000, 1000, 1));
        script.drain(110 + n);
    }
    // A probe into the closed window is not accepted.
    script.send(300, data(8001, 1, 1));
    script.recv(300, &[". 1:1(0) ack 8001 win 0"]);
    // 999 bytes are too small a window to report (RFC 9293 section 3.8.6.2.2); one more suffices.
    script.connection.read(999, None);
    script.recv(310, &[]);
    script.connection.read(1, None);
    script.recv(320, &[". 1:1(0) ack 8001 win 1000"]);
}
