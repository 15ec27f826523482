//! DCTCP's receiver echoes each mark exactly (RFC 8257 section 3.2), and its sender reacts to them.

use crate::script::{Peer, SYN_ACK, Script, data, peer, plain};
use narrows_hosts::config::FlowConfig;
use narrows_hosts::wire::options::Options;
use narrows_hosts::wire::segment::{Ecn, Flags};

fn established() -> Script {
    let config = FlowConfig {
        variant: "dctcp".to_owned(),
        delayed_ack: Some(true),
        window_bytes: Some(60_000),
        ..plain()
    };
    let mut script = Script::new(&config, true);
    // Congestion marks are on by default.
    assert_eq!(script.drain(0), ["SEW 0:0(0) win 60000 <mss 1000,wscale 0>"]);
    let options = Options { mss: Some(1460), ..Options::default() };
    script.send(100, Peer { options, ..peer(SYN_ACK.with(Flags::ECE), 0, 0, 1, 60_000) });
    script.drain(100);
    script
}

/// The answers to a segment `n` of 1,000 bytes that arrives marked or unmarked.
fn answers(script: &mut Script, n: u32, ecn: Ecn) -> Vec<(String, bool)> {
    script.send(200, Peer { ecn, ..data(1 + 1000 * n, 1000, 1) });
    let lines = script.drain(200);
    lines
        .iter()
        .map(|line| {
            let acked = line.split(" ack ").nth(1).unwrap().split(' ').next().unwrap().to_owned();
            (acked, line.starts_with("E"))
        })
        .collect()
}

#[test]
fn dctcp_answers_a_change_of_marks_twice_and_at_once() {
    let mut script = established();
    let ack = |to: u32, marked| (to.to_string(), marked);
    // Unmarked: every second segment.
    assert_eq!(answers(&mut script, 0, Ecn::Ect0), []);
    assert_eq!(answers(&mut script, 1, Ecn::Ect0), [ack(2001, false)]);
    // One unmarked segment waits, the next is marked: each ACK reports its own mark.
    assert_eq!(answers(&mut script, 2, Ecn::Ect0), []);
    assert_eq!(answers(&mut script, 3, Ecn::Ce), [ack(3001, false), ack(4001, true)]);
    // Marked from now on: every second segment again, with all ACKs marked.
    assert_eq!(answers(&mut script, 4, Ecn::Ce), []);
    assert_eq!(answers(&mut script, 5, Ecn::Ce), [ack(6001, true)]);
    // Unmarked again, with nothing waiting.
    assert_eq!(answers(&mut script, 6, Ecn::Ect0), [ack(7001, false)]);
    // The sender's CWR does not end the echo; unmarked segments do.
    assert_eq!(answers(&mut script, 7, Ecn::Ce), [ack(8001, true)]);
    let cwr = Flags::ACK.with(Flags::CWR);
    script.send(200, Peer { ecn: Ecn::Ce, ..peer(cwr, 8001, 1000, 1, 60_000) });
    assert_eq!(answers(&mut script, 9, Ecn::Ce), [ack(10_001, true)]);
}
