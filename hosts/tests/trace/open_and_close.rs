//! Opening, closing and resetting.

use crate::script::{FIN_ACK, Peer, SYN_ACK, Script, ack, data, peer, plain};
use narrows_hosts::api::State;
use narrows_hosts::config::FlowConfig;
use narrows_hosts::wire::options::Options;
use narrows_hosts::wire::segment::Flags;

#[test]
fn handshake_with_every_option_and_teardown_by_us() {
    let config = FlowConfig {
        window_bytes: Some(1 << 20),
        sack: Some(true),
        timestamps: Some(true),
        ..plain()
    };
    let mut script = Script::new(&config, true);
    script.recv(5, &["S 0:0(0) win 65535 <mss 1012,wscale 5,sackOK,TS 5 0>"]);
    let options = Options {
        mss: Some(1012),
        window_scale: Some(7),
        sack_permitted: true,
        timestamps: Some((77, 5)),
        ..Options::default()
    };
    script.send(105, Peer { options, ..peer(SYN_ACK, 0, 0, 1, 60_000) });
    // 2^20 >> 5 = 32768.
    script.recv(105, &[". 1:1(0) ack 1 win 32768 <TS 105 77>"]);
    assert_eq!(script.connection.state(), State::Established);
    script.write(1500);
    script.connection.close();
    script.recv(
        106,
        &[
            ". 1:1001(1000) ack 1 win 32768 <TS 106 77>",
            "FP. 1001:1501(500) ack 1 win 32768 <TS 106 77>",
        ],
    );
    let stamp = |value| Options { timestamps: Some((value, 106)), ..Options::default() };
    script.send(206, Peer { options: stamp(178), ..ack(1, 1502, 60_000) });
    assert_eq!(script.connection.state(), State::FinWait2);
    script.recv(206, &[]);
    // The peer may still send: half-closed.
    script.send(300, Peer { options: stamp(272), ..data(1, 100, 1502) });
    assert_eq!(script.drain(300).len(), 1);
    script.send(400, Peer { options: stamp(372), ..peer(FIN_ACK, 101, 0, 1502, 60_000) });
    // The 100 bytes are unread: 1048476 >> 5 = 32764.
    script.recv(400, &[". 1502:1502(0) ack 102 win 32764 <TS 400 372>"]);
    assert_eq!(script.connection.state(), State::TimeWait);
    // Its FIN again: the ACK was lost.
    script.send(600, Peer { options: stamp(572), ..peer(FIN_ACK, 101, 0, 1502, 60_000) });
    assert_eq!(script.drain(600).len(), 1);
    script.timer(60_400, &[]);
    assert_eq!(script.connection.state(), State::Closed);
}

#[test]
fn passive_open_and_teardown_by_the_peer() {
    let mut script = Script::new(&plain(), false);
    script.send(
        10,
        Peer {
            options: Options { mss: Some(500), ..Options::default() },
            ..peer(Flags::SYN, 0, 0, 0, 9000)
        },
    );
    // No window scale offered, so none is answered.
    script.recv(10, &["S. 0:0(0) ack 1 win 8000 <mss 1000>"]);
    script.send(20, ack(1, 1, 9000));
    assert_eq!(script.connection.state(), State::Established);
    script.write(800);
    // Our segments are 500 bytes, as the peer requested; Nagle's rule holds the small one.
    script.recv(20, &[". 1:501(500) ack 1 win 8000"]);
    script.send(30, ack(1, 501, 9000));
    script.recv(30, &["P. 501:801(300) ack 1 win 8000"]);
    script.send(40, peer(FIN_ACK, 1, 0, 801, 9000));
    script.recv(40, &[". 801:801(0) ack 2 win 7999"]);
    assert_eq!(script.connection.state(), State::CloseWait);
    script.connection.close();
    script.recv(50, &["F. 801:801(0) ack 2 win 7999"]);
    assert_eq!(script.connection.state(), State::LastAck);
    script.send(60, ack(2, 802, 9000));
    assert_eq!(script.connection.state(), State::Closed);
}

#[test]
fn simultaneous_open_and_close() {
    let mut script = Script::new(&plain(), true);
    script.recv(0, &["S 0:0(0) win 8000 <mss 1000,wscale 0>"]);
    script.send(
        50,
        Peer {
            options: Options { mss: Some(1000), window_scale: Some(0), ..Options::default() },
            ..peer(Flags::SYN, 0, 0, 0, 8000)
        },
    );
    script.recv(50, &["S. 0:0(0) ack 1 win 8000 <mss 1000,wscale 0>"]);
    script.send(100, ack(1, 1, 8000));
    assert_eq!(script.connection.state(), State::Established);
    script.connection.close();
    script.recv(200, &["F. 1:1(0) ack 1 win 8000"]);
    script.send(210, peer(FIN_ACK, 1, 0, 1, 8000));
    script.recv(210, &[". 2:2(0) ack 2 win 7999"]);
    assert_eq!(script.connection.state(), State::Closing);
    script.send(260, ack(2, 2, 8000));
    assert_eq!(script.connection.state(), State::TimeWait);
}

#[test]
fn a_syn_lost_twice_leaves_an_initial_window_of_one() {
    let mut script = Script::new(&plain(), true);
    script.drain(0);
    script.timer(1_000, &["S 0:0(0) win 8000 <mss 1000,wscale 0>"]);
    script.timer(3_000, &["S 0:0(0) win 8000 <mss 1000,wscale 0>"]);
    script.write(5000);
    script.send(
        3_100,
        Peer {
            options: Options { mss: Some(1000), ..Options::default() },
            ..peer(SYN_ACK, 0, 0, 1, 8000)
        },
    );
    // RFC 5681 section 3.1: one segment; RFC 6298 rule 5.7: a time-out of 3 s.
    script.recv(3_100, &[". 1:1001(1000) ack 1 win 8000"]);
    script.timer(6_100, &[". 1:1001(1000) ack 1 win 8000"]);
}

#[test]
fn the_sequence_numbers_wrap_within_the_stream() {
    let mut script = Script::established(&plain(), 60_000);
    script.write(4000);
    // OUR_ISN + 1501 is 0 on the wire: the second segment spans the wrap.
    script.recv(
        100,
        &[
            ". 1:1001(1000) ack 1 win 8000",
            ". 1001:2001(1000) ack 1 win 8000",
            ". 2001:3001(1000) ack 1 win 8000",
            "P. 3001:4001(1000) ack 1 win 8000",
        ],
    );
    script.send(200, ack(1, 2001, 60_000));
    assert_eq!(script.connection.acked_bytes(), 2000);
    script.send(201, ack(1, 1001, 60_000));
    assert_eq!(script.connection.acked_bytes(), 2000, "an old ACK moves nothing back");
    script.send(202, ack(1, 4001, 60_000));
    assert_eq!(script.connection.acked_bytes(), 4000);
    assert_eq!(script.connection.poll_timeout(), None);
}

#[test]
fn a_reset_counts_only_at_the_expected_number() {
    let mut script = Script::established(&plain(), 60_000);
    script.send(110, peer(Flags::RST, 500, 0, 0, 0));
    script.recv(110, &[". 1:1(0) ack 1 win 8000"]);
    assert_eq!(script.connection.state(), State::Established, "RFC 5961: challenged");
    script.send(120, peer(Flags::RST, 50_000, 0, 0, 0));
    script.recv(120, &[]);
    script.send(130, peer(Flags::SYN, 1, 0, 0, 0));
    script.recv(130, &[". 1:1(0) ack 1 win 8000"]);
    script.send(140, peer(Flags::RST, 1, 0, 0, 0));
    assert!(script.connection.was_reset());
    assert_eq!(script.connection.state(), State::Closed);
    script.recv(140, &[]);
}

#[test]
fn a_refused_connection_and_an_aborted_one() {
    let mut script = Script::new(&plain(), true);
    script.drain(0);
    script.send(10, peer(Flags::RST.with(Flags::ACK), 0, 0, 5, 0));
    assert_eq!(script.connection.state(), State::SynSent, "the reset is for another SYN");
    script.send(20, peer(Flags::RST.with(Flags::ACK), 0, 0, 1, 0));
    assert!(script.connection.was_reset());

    let mut script = Script::established(&plain(), 60_000);
    script.connection.abort();
    script.recv(110, &["R. 1:1(0) ack 1 win 8000"]);
    assert_eq!(script.connection.poll_timeout(), None);
}

#[test]
fn data_on_the_syn_is_acknowledged_or_sent_again() {
    // RFC 1644's short transaction: a segment minus the 12 bytes of a SYN's options.
    let config = FlowConfig { data_on_syn: Some(true), ..plain() };
    let mut script = Script::new(&config, true);
    script.write(1500);
    script.recv(0, &["S 0:988(988) win 8000 <mss 1000,wscale 0>"]);
    let options = Options { mss: Some(1000), ..Options::default() };
    script.send(100, Peer { options, ..peer(SYN_ACK, 0, 0, 989, 5000) });
    assert_eq!(script.connection.acked_bytes(), 988);
    script.recv(100, &["P. 989:1501(512) ack 1 win 8000"]);
    // A peer without the option acknowledges the SYN only.
    let mut script = Script::new(&config, true);
    script.write(1500);
    script.drain(0);
    script.send(100, Peer { options, ..peer(SYN_ACK, 0, 0, 1, 5000) });
    script.recv(100, &[". 1:1001(1000) ack 1 win 8000"]);
}

#[test]
fn data_on_a_syn_can_be_read_before_the_handshake_is_done() {
    let config = FlowConfig { data_on_syn: Some(true), ..plain() };
    let mut script = Script::new(&config, false);
    let options = Options { mss: Some(1000), ..Options::default() };
    let syn = || Peer { options, ..peer(Flags::SYN, 0, 700, 0, 9000) };
    script.send(10, syn());
    script.recv(10, &["S. 0:0(0) ack 701 win 8000 <mss 1000>"]);
    assert_eq!(script.connection.readable_bytes(), 700);
    // The answer was lost: the repeated SYN delivers nothing twice.
    script.send(500, syn());
    script.recv(500, &["S. 0:0(0) ack 701 win 8000 <mss 1000>"]);
    assert_eq!(script.connection.readable_bytes(), 700);
    script.send(600, ack(701, 1, 9000));
    assert_eq!(script.connection.state(), State::Established);
    // Without the option the data is not accepted; the peer sends it again.
    let mut script = Script::new(&plain(), false);
    script.send(10, syn());
    script.recv(10, &["S. 0:0(0) ack 1 win 8000 <mss 1000>"]);
    assert_eq!(script.connection.readable_bytes(), 0);
}
