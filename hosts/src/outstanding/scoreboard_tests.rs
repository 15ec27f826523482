//! Compares the scoreboard with RFC 6675 computed octet by octet.

use super::*;
use proptest::prelude::*;

const MSS: u32 = 100;

fn flying(una: u64, nxt: u64) -> Scoreboard {
    let mut board = Scoreboard::default();
    board.on_sent(nxt);
    board.on_cumulative_ack(una);
    board
}

#[test]
fn three_ranges_or_two_segments_and_a_byte_make_an_octet_lost() {
    // More than 2 * SMSS above: 201 bytes.
    let mut board = flying(1000, 3000);
    board.on_sacked(1100, 1300);
    board.update_lost_edge(3, MSS);
    assert!(!board.is_first_lost(), "exactly 2 SMSS is not more than 2 SMSS");
    board.on_sacked(1300, 1301);
    board.update_lost_edge(3, MSS);
    assert!(board.is_first_lost());
    assert_eq!(board.next_lost_hole(), Some((1000, 1100)));

    // Three ranges of one octet.
    let mut board = flying(1000, 3000);
    for start in [1100, 1200, 1300] {
        assert!(!board.is_first_lost());
        board.on_sacked(start, start + 1);
        board.update_lost_edge(3, MSS);
    }
    assert_eq!(board.next_lost_hole(), Some((1000, 1100)));
    // The octets between the ranges have fewer than three ranges above them.
    board.on_retransmitted(1100);
    assert_eq!(board.next_lost_hole(), None);
    assert_eq!(board.next_hole_below_sacked(), Some((1101, 1200)));
}

#[test]
fn a_timeout_loses_all_but_the_sacked_and_repairs_hole_by_hole() {
    let mut board = flying(1000, 1500);
    board.on_sacked(1100, 1200);
    board.mark_all_lost();
    assert_eq!(board.pipe_bytes(), 0);
    assert_eq!(board.next_lost_hole(), Some((1000, 1100)));
    board.on_retransmitted(1100);
    assert_eq!(board.pipe_bytes(), 100);
    assert_eq!(board.next_lost_hole(), Some((1200, 1500)));
    board.on_retransmitted(1300);
    assert_eq!(board.pipe_bytes(), 200);
    board.on_cumulative_ack(1300);
    assert_eq!((board.pipe_bytes(), board.next_lost_hole()), (0, Some((1300, 1500))));
}

#[test]
fn an_ack_that_stops_at_a_sacked_range_is_reneging() {
    let mut board = flying(1000, 1500);
    board.on_sacked(1100, 1200);
    assert!(!board.is_reneged());
    board.on_cumulative_ack(1100);
    assert!(board.is_reneged());
    board.forget_sacked();
    assert_eq!((board.sacked_bytes(), board.pipe_bytes()), (0, 400));
}

/// RFC 6675 section 4, octet by octet; lost octets stay lost (see the head comment).
#[derive(Default)]
struct Octets {
    una: u64,
    nxt: u64,
    sacked: Vec<bool>,
    lost: Vec<bool>,
    high_rxt: u64,
}

impl Octets {
    fn update_lost(&mut self) {
        let (mut ranges, mut bytes, mut above) = (0, 0, false);
        for s in (self.una..self.nxt).rev() {
            let s = s as usize;
            if self.sacked[s] {
                bytes += 1;
                ranges += u32::from(!above);
            } else if ranges >= 3 || bytes > 2 * u64::from(MSS) {
                self.lost[s] = true;
            }
            above = self.sacked[s];
        }
    }

    fn pipe(&self) -> u64 {
        (self.una..self.nxt)
            .filter(|&s| !self.sacked[s as usize])
            .map(|s| u64::from(!self.lost[s as usize]) + u64::from(s < self.high_rxt))
            .sum()
    }

    fn next_lost_hole(&self) -> Option<u64> {
        (self.una.max(self.high_rxt)..self.nxt)
            .find(|&s| !self.sacked[s as usize] && self.lost[s as usize])
    }
}

proptest! {
    #[test]
    fn agrees_with_the_rfc_octet_by_octet(steps in prop::collection::vec((0u8..4, 0u64..3000, 1u64..200), 1..80)) {
        let mut board = flying(0, 3000);
        let mut octets = Octets { nxt: 3000, sacked: vec![false; 3000], lost: vec![false; 3000], ..Octets::default() };
        for (step, at, len) in steps {
            match step {
                0 | 1 => {
                    let (start, end) = (at.max(octets.una), (at + len).min(octets.nxt));
                    board.on_sacked(start, end);
                    (start..end).for_each(|s| octets.sacked[s as usize] = true);
                    board.update_lost_edge(3, MSS);
                    octets.update_lost();
                }
                2 => {
                    let ack = (octets.una + len).min(octets.nxt);
                    board.on_cumulative_ack(ack);
                    octets.una = ack;
                    octets.high_rxt = octets.high_rxt.max(ack);
                }
                _ => {
                    if let Some((start, end)) = board.next_lost_hole() {
                        let end = end.min(start + len);
                        board.on_retransmitted(end);
                        octets.high_rxt = octets.high_rxt.max(end);
                    }
                }
            }
            prop_assert_eq!(board.pipe_bytes(), octets.pipe());
            prop_assert_eq!(board.next_lost_hole().map(|hole| hole.0), octets.next_lost_hole());
            prop_assert_eq!(board.sacked_bytes(), (octets.una..octets.nxt).filter(|&s| octets.sacked[s as usize]).count() as u64);
        }
    }
}
