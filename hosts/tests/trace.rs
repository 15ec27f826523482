//! Traces: one connection, the peer scripted.

mod net;
mod script;

use narrows_hosts::config::FlowConfig;
use narrows_hosts::tcp::State;
use narrows_hosts::wire::options::Options;
use narrows_hosts::wire::segment::{Ecn, Flags};
use script::{FIN_ACK, Peer, SYN_ACK, Script, ack, data, peer, plain};

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
    // The 100 bytes lie unread: 1048476 >> 5 = 32764.
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
    // No window scale offered: none answered.
    script.recv(10, &["S. 0:0(0) ack 1 win 8000 <mss 1000>"]);
    script.send(20, ack(1, 1, 9000));
    assert_eq!(script.connection.state(), State::Established);
    script.write(800);
    // Our segments are 500 bytes, as the peer said; Nagle holds the small one back.
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
fn a_lost_syn_is_sent_again_after_one_and_three_seconds_and_the_window_begins_at_one() {
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
fn delayed_acks_every_second_segment_or_after_200_ms() {
    let config = FlowConfig { delayed_ack: Some(true), ..plain() };
    let mut script = Script::established(&config, 60_000);
    script.send(110, data(1, 1000, 1));
    script.recv(110, &[]);
    script.send(120, data(1001, 1000, 1));
    script.recv(120, &[". 1:1(0) ack 2001 win 6000"]);
    script.send(130, data(2001, 1000, 1));
    script.timer(330, &[". 1:1(0) ack 3001 win 5000"]);
    // Out of order: at once, and again when the gap is filled.
    script.send(400, data(4001, 1000, 1));
    script.recv(400, &[". 1:1(0) ack 3001 win 5000"]);
    script.send(410, data(3001, 1000, 1));
    script.recv(410, &[". 1:1(0) ack 5001 win 3000"]);
    // Our data take the ACK along.
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
    // A full segment never waits; what is left of it does.
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
    // The window opens; the octet was not taken and goes with the rest.
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
    // Nagle keeps the rest.
    script.recv(600, &[". 1002:2002(1000) ack 1 win 8000"]);
}

#[test]
fn a_reader_that_stops_closes_the_window_and_reading_opens_it() {
    let mut script = Script::established(&plain(), 60_000);
    for n in 0..8 {
        script.send(110 + n, data(1 + n as u32 * 1000, 1000, 1));
        script.drain(110 + n);
    }
    // A probe into the closed window: not taken.
    script.send(300, data(8001, 1, 1));
    script.recv(300, &[". 1:1(0) ack 8001 win 0"]);
    // 999 bytes are no window worth telling (RFC 9293 section 3.8.6.2.2); one more is.
    script.connection.read(999, None);
    script.recv(310, &[]);
    script.connection.read(1, None);
    script.recv(320, &[". 1:1(0) ack 8001 win 1000"]);
}

#[test]
fn fast_retransmit_on_the_third_duplicate_with_sack_blocks_on_the_other_side() {
    let config = FlowConfig { sack: Some(true), ..plain() };
    let mut script = Script::new(&config, true);
    script.drain(0);
    let options = Options { mss: Some(1000), sack_permitted: true, ..Options::default() };
    script.send(100, Peer { options, ..peer(SYN_ACK, 0, 0, 1, 60_000) });
    script.drain(100);
    // As a receiver: two holes, the latest block first.
    script.send(110, data(1001, 1000, 1));
    script.recv(110, &[". 1:1(0) ack 1 win 8000 <sack 1001:2001>"]);
    script.send(120, data(3001, 1000, 1));
    script.recv(120, &[". 1:1(0) ack 1 win 8000 <sack 3001:4001,sack 1001:2001>"]);
    script.send(130, data(1, 1000, 1));
    script.recv(130, &[". 1:1(0) ack 2001 win 6000 <sack 3001:4001>"]);
    script.send(140, data(2001, 1000, 1));
    script.recv(140, &[". 1:1(0) ack 4001 win 4000"]);
    // As a sender (NewReno): six segments, the first is lost.
    script.write(6000);
    assert_eq!(script.drain(200).len(), 6);
    for n in 0..2 {
        script.send(300 + n, ack(4001, 1, 60_000));
        script.recv(300 + n, &[]);
    }
    script.send(302, ack(4001, 1, 60_000));
    script.recv(302, &[". 1:1001(1000) ack 4001 win 4000"]);
    script.send(303, ack(4001, 1, 60_000));
    script.recv(303, &[]);
    script.send(400, ack(4001, 6001, 60_000));
    let record = script.connection.record(script.now);
    // FlightSize 6: half is 3.
    assert_eq!((record.cwnd_bytes, record.ssthresh_bytes, record.retransmits), (3000, 3000, 1));
}

#[test]
fn ecn_is_negotiated_echoed_until_cwr_and_cuts_once_a_window() {
    let config = FlowConfig { ecn: Some(true), ..plain() };
    let mut script = Script::new(&config, true);
    script.recv(0, &["SEW 0:0(0) win 8000 <mss 1000,wscale 0>"]);
    let syn_ack = Peer {
        options: Options { mss: Some(1000), ..Options::default() },
        ..peer(SYN_ACK.with(Flags::ECE), 0, 0, 1, 60_000)
    };
    script.send(100, syn_ack);
    script.drain(100);
    // The receiver's side.
    script.send(110, Peer { ecn: Ecn::Ce, ..data(1, 1000, 1) });
    script.recv(110, &["E. 1:1(0) ack 1001 win 7000"]);
    script.send(120, Peer { ecn: Ecn::Ect0, ..data(1001, 1000, 1) });
    script.recv(120, &["E. 1:1(0) ack 2001 win 6000"]);
    script.send(
        130,
        Peer { flags: Flags::ACK.with(Flags::CWR), ecn: Ecn::Ect0, ..data(2001, 1000, 1) },
    );
    script.recv(130, &[". 1:1(0) ack 3001 win 5000"]);
    // The sender's.
    script.write(20_000);
    let lines = script.drain(200);
    assert_eq!(lines.len(), 10);
    assert_eq!(lines[0], ". 1:1001(1000) ack 3001 win 5000 [Ect0]");
    script.send(300, peer(Flags::ACK.with(Flags::ECE), 3001, 0, 1001, 60_000));
    assert_eq!(script.connection.record(script.now).cwnd_bytes, 5000, "half of 10, no growth");
    // 9 are outstanding: nothing leaves until 5 are acknowledged. The first that does says CWR.
    let mut sent = Vec::new();
    for n in 2..=8 {
        let echo = peer(Flags::ACK.with(Flags::ECE), 3001, 0, 1 + n as u32 * 1000, 60_000);
        script.send(300 + n, echo);
        sent.extend(script.drain(300 + n));
    }
    assert_eq!(
        sent,
        [
            "W. 10001:11001(1000) ack 3001 win 5000 [Ect0]",
            ". 11001:12001(1000) ack 3001 win 5000 [Ect0]",
            ". 12001:13001(1000) ack 3001 win 5000 [Ect0]",
        ]
    );
    assert_eq!(script.connection.sender_counters().ecn_cuts, 1);
}

#[test]
fn old_timestamps_are_refused() {
    let config = FlowConfig { timestamps: Some(true), ..plain() };
    let mut script = Script::new(&config, true);
    script.drain(0);
    let stamp = |value| Options { mss: None, timestamps: Some((value, 0)), ..Options::default() };
    script.send(
        100,
        Peer {
            options: Options { mss: Some(1012), ..stamp(1000) },
            ..peer(SYN_ACK, 0, 0, 1, 60_000)
        },
    );
    script.drain(100);
    script.send(110, Peer { options: stamp(999), ..data(1, 100, 1) });
    script.recv(110, &[". 1:1(0) ack 1 win 8000 <TS 110 1000>"]);
    script.send(120, Peer { options: stamp(1001), ..data(1, 100, 1) });
    script.recv(120, &[". 1:1(0) ack 101 win 7900 <TS 120 1001>"]);
    // Across the wrap of the clock.
    script.send(130, Peer { options: stamp(1001 + (1 << 31) - 1), ..data(101, 100, 1) });
    script.recv(130, &[". 1:1(0) ack 201 win 7800 <TS 130 2147484648>"]);
}

#[test]
fn slow_start_ends_at_the_initial_ssthresh() {
    let config = FlowConfig { initial_window: Some(4), initial_ssthresh: Some(6), ..plain() };
    let mut script = Script::established(&config, 60_000);
    script.write(60_000);
    // 4 segments and an ACK each: 5, 6, then a sixth of a segment for each of two more.
    for acked in 1..=4 {
        let now = script.now.as_us() / 1000;
        script.drain(now);
        script.send(now + 10, ack(1, 1 + 1000 * acked, 60_000));
    }
    let cwnd_bytes = script.connection.record(script.now).cwnd_bytes;
    assert!((6_300..=6_340).contains(&cwnd_bytes), "{cwnd_bytes}");
}

#[test]
fn idleness_restarts_from_the_initial_window() {
    let config = FlowConfig { initial_window: Some(4), ..plain() };
    let mut script = Script::established(&config, 60_000);
    script.write(12_000);
    let mut acked = 1;
    while acked < 12_001 {
        let sent = script.drain(script.now.as_us() / 1000).len() as u32;
        for _ in 0..sent {
            acked += 1000;
            let now = script.now.as_us() / 1000;
            script.send(now + 10, ack(1, acked, 60_000));
        }
    }
    assert!(script.connection.record(script.now).cwnd_bytes >= 8000);
    script.write(20_000);
    assert_eq!(script.drain(5_000).len(), 4);
}

#[test]
fn data_on_the_syn_is_acknowledged_with_it_and_sent_again_if_it_is_not() {
    // RFC 1644's short transaction: a segment less a SYN's 12 bytes of options.
    let config = FlowConfig { data_on_syn: Some(true), ..plain() };
    let mut script = Script::new(&config, true);
    script.write(1500);
    script.recv(0, &["S 0:988(988) win 8000 <mss 1000,wscale 0>"]);
    let options = Options { mss: Some(1000), ..Options::default() };
    script.send(100, Peer { options, ..peer(SYN_ACK, 0, 0, 989, 5000) });
    assert_eq!(script.connection.acked_bytes(), 988);
    script.recv(100, &["P. 989:1501(512) ack 1 win 8000"]);
    // A peer that knows nothing of it acknowledges the SYN only.
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
    // The answer was lost: the same SYN again gives nothing twice.
    script.send(500, syn());
    script.recv(500, &["S. 0:0(0) ack 701 win 8000 <mss 1000>"]);
    assert_eq!(script.connection.readable_bytes(), 700);
    script.send(600, ack(701, 1, 9000));
    assert_eq!(script.connection.state(), State::Established);
    // Without the option it is not taken; the peer sends it again.
    let mut script = Script::new(&plain(), false);
    script.send(10, syn());
    script.recv(10, &["S. 0:0(0) ack 1 win 8000 <mss 1000>"]);
    assert_eq!(script.connection.readable_bytes(), 0);
}

#[test]
fn bic_and_cubic_of_2006_begin_with_a_threshold_of_100_segments() {
    // Three segments of 1,448 and a threshold of 100 of them; Reno has none.
    for (variant, own, ssthresh) in [
        ("bic", None, 100 * 1448),
        ("cubic", None, 100 * 1448),
        ("reno", None, u64::MAX),
        ("cubic", Some(50), 50 * 1448),
    ] {
        let mut config = net::flow(1, variant, "newreno", "linux-2.6.18", None);
        config.initial_ssthresh = own;
        let mut script = Script::new(&config, true);
        script.drain(0);
        let options = Options { mss: Some(1460), timestamps: Some((1, 0)), ..Options::default() };
        script.send(100, Peer { options, ..peer(SYN_ACK, 0, 0, 1, 60_000) });
        let record = script.connection.record(script.now);
        assert_eq!((record.cwnd_bytes, record.ssthresh_bytes), (3 * 1448, ssthresh), "{variant}");
    }
}
