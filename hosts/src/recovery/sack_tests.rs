//! RFC 6675, computed by hand in segments of 1,000 bytes.

use super::*;

const MSS: u64 = 1000;

fn rule(sent: u64) -> (Sack, Scoreboard) {
    let setup =
        Setup { mss: 1000, dupack_threshold: 3, limited_transmit: true, ns2_newreno: false };
    let mut board = Scoreboard::default();
    board.on_sent(1);
    board.on_cumulative_ack(1);
    board.on_sent(at(sent));
    (Sack::new(&setup), board)
}

fn at(segment: u64) -> u64 {
    1 + segment * MSS
}

/// The first segment to be retransmitted.
fn again(send: NextSegment) -> Option<u64> {
    match send {
        NextSegment::Retransmit { start, .. } => Some((start - 1) / MSS),
        NextSegment::New { .. } => None,
    }
}

fn sack(rule: &mut Sack, board: &mut Scoreboard, from: u64, to: u64) -> Outcome {
    let newly = board.on_sacked(at(from), at(to));
    rule.on_duplicate_ack(board, newly)
}

fn resend(rule: &mut Sack, board: &mut Scoreboard, segment: u64) {
    rule.on_retransmitted(board, at(segment), at(segment + 1));
}

#[test]
fn four_losses_in_ten_are_repaired_in_one_recovery() {
    let (mut rule, mut board) = rule(10);
    // Lost: 0, 2, 4, 6. SACKs arrive for 1, 3, 5.
    assert_eq!(sack(&mut rule, &mut board, 1, 2), Outcome::NOTHING);
    assert_eq!(rule.poll_send(&board, 10 * MSS, true), NextSegment::New { room_bytes: MSS });
    assert_eq!(sack(&mut rule, &mut board, 3, 4), Outcome::NOTHING);
    assert!(sack(&mut rule, &mut board, 5, 6).is_loss_found);
    // Three ranges above segment 0: lost. Segments 2 and 4 have two and one range above.
    assert_eq!(again(rule.poll_send(&board, 5 * MSS, true)), Some(0));
    resend(&mut rule, &mut board, 0);
    // pipe: 2, 4, 6..9 not lost, 0 retransmitted: 7 of cwnd 5.
    assert_eq!(board.pipe_bytes(), 7 * MSS);
    assert_eq!(rule.poll_send(&board, 5 * MSS, true), NextSegment::New { room_bytes: 0 });
    // 7, 8 and 9 arrive: 7 makes segment 2 lost (3, 5, 7), and more than 2 SMSS above 4, 6.
    sack(&mut rule, &mut board, 7, 8);
    assert_eq!(board.pipe_bytes(), 5 * MSS, "4, 6, 8, 9 and 0's retransmission");
    sack(&mut rule, &mut board, 7, 9);
    assert_eq!(board.pipe_bytes(), 3 * MSS, "6, 9 and 0's retransmission");
    assert_eq!(again(rule.poll_send(&board, 5 * MSS, true)), Some(2));
    resend(&mut rule, &mut board, 2);
    assert_eq!(again(rule.poll_send(&board, 5 * MSS, true)), Some(4));
    resend(&mut rule, &mut board, 4);
    assert_eq!(board.pipe_bytes(), 5 * MSS);
    sack(&mut rule, &mut board, 7, 10);
    assert_eq!(board.pipe_bytes(), 3 * MSS, "three retransmissions; 6 is lost now");
    assert_eq!(again(rule.poll_send(&board, 5 * MSS, true)), Some(6));
    resend(&mut rule, &mut board, 6);
    assert_eq!(rule.poll_send(&board, 5 * MSS, true), NextSegment::New { room_bytes: MSS });
    // The retransmission of 0 arrives: everything below 2.
    board.on_cumulative_ack(at(2));
    let outcome = rule.on_ack(&mut board, 2 * MSS);
    assert!(!outcome.may_grow && outcome.restarts_timer && !outcome.is_repaired);
    board.on_cumulative_ack(at(10));
    assert!(rule.on_ack(&mut board, 8 * MSS).is_repaired);
    assert_eq!(rule.poll_send(&board, 5 * MSS, true), NextSegment::New { room_bytes: 5 * MSS });
}

#[test]
fn without_new_data_holes_not_lost_and_then_one_rescue() {
    let (mut rule, mut board) = rule(7);
    // Lost: 0, 2 and the last, 6. SACKed: 1, 3, 4, 5 (one block more than DupThresh needs).
    sack(&mut rule, &mut board, 1, 2);
    sack(&mut rule, &mut board, 3, 4);
    assert!(sack(&mut rule, &mut board, 3, 5).is_loss_found);
    resend(&mut rule, &mut board, 0);
    // Segment 2 has 2 SMSS above it, not more: rule 3, because there is no new data.
    assert_eq!(again(rule.poll_send(&board, 9 * MSS, false)), Some(2));
    assert_eq!(again(rule.poll_send(&board, 9 * MSS, true)), None);
    resend(&mut rule, &mut board, 2);
    sack(&mut rule, &mut board, 3, 6);
    assert_eq!(again(rule.poll_send(&board, 9 * MSS, false)), Some(6), "the rescue");
    resend(&mut rule, &mut board, 6);
    assert_eq!(again(rule.poll_send(&board, 9 * MSS, false)), None, "only one");
    // The rescue does not count as HighRxt: the pipe is 0 and 2 again, and 6.
    assert_eq!(board.pipe_bytes(), 3 * MSS);
}

#[test]
fn duplicates_without_news_count_for_nothing() {
    let (mut rule, mut board) = rule(10);
    sack(&mut rule, &mut board, 5, 6);
    for _ in 0..10 {
        assert_eq!(sack(&mut rule, &mut board, 5, 6), Outcome::NOTHING);
    }
}

#[test]
fn one_ack_that_sacks_more_than_two_segments_is_enough() {
    let (mut rule, mut board) = rule(10);
    assert!(sack(&mut rule, &mut board, 1, 4).is_loss_found);
}

#[test]
fn after_a_timeout_the_sacked_are_not_sent_again() {
    let (mut rule, mut board) = rule(6);
    sack(&mut rule, &mut board, 1, 3);
    rule.on_timeout(&mut board, Time::ZERO);
    let mut order = Vec::new();
    while let Some(segment) = again(rule.poll_send(&board, 9 * MSS, true)) {
        order.push(segment);
        resend(&mut rule, &mut board, segment);
    }
    assert_eq!(order, [0, 3, 4, 5]);
    // New duplicates start no recovery before all of that is acknowledged.
    sack(&mut rule, &mut board, 4, 6);
    assert_eq!(rule.stage(), Stage::Loss);
    board.on_cumulative_ack(at(6));
    rule.on_ack(&mut board, 6 * MSS);
    assert_eq!(rule.stage(), Stage::Open);
}

#[test]
fn a_peer_that_sacks_the_left_edge_itself_gets_it_again() {
    let (mut rule, mut board) = rule(10);
    sack(&mut rule, &mut board, 0, 5);
    assert!(sack(&mut rule, &mut board, 6, 9).is_loss_found);
    let first = NextSegment::Retransmit { start: at(0), end: at(5) };
    assert_eq!(rule.poll_send(&board, 5 * MSS, true), first);
    resend(&mut rule, &mut board, 0);
    assert_eq!(again(rule.poll_send(&board, 5 * MSS, true)), Some(5));
}
