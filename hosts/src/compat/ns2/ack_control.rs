//! ACK congestion control: a receiver that thins out its ACKs when the path back marks them.
//!
//! Source: ns-2.35 Agent/TCPSink/Asym, after Balakrishnan, Padmanabhan and Katz, The effects of
//! asymmetry on TCP performance, MobiCom 1997 (surveyed in RFC 3449 section 5.2.1). ACKs are sent
//! as ECN-capable. A sender that gets a marked one echoes that in its next segment, which doubles
//! the number of segments an ACK answers, up to five; each round trip without an echo lowers it by
//! one. No ACK waits for more than half of what the sender may send without one, and none when a
//! segment came out of order.
//!
//! The sender says with each segment how far it has seen ACKs and how wide its window is, in an
//! experimental option (`wire/options.rs`); ns-2 has header fields of no length for it, and tells round
//! trips by its packets' timestamps where this does by the ACKs seen. Without the option each
//! segment is answered at once.

/// `maxdelack_`.
const MOST_SEGMENTS: u64 = 5;

/// What a sender says with a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// The highest acknowledgment that it has seen, as a position.
    pub acked: u64,
    /// The bytes behind it that it may send before another comes.
    pub window_bytes: u64,
}

/// How many segments an ACK answers.
#[derive(Clone, Copy, Debug)]
pub struct AckControl {
    /// Segments that an ACK answers at most, as far as the path back is concerned.
    factor: u64,
    /// Segments not answered yet.
    pending: u64,
    /// The highest acknowledgment that the sender is known to have.
    seen: u64,
    /// What had been received when the factor was raised and lowered last.
    raised_at: u64,
    lowered_at: u64,
}

impl Default for AckControl {
    /// Every segment is answered.
    fn default() -> Self {
        AckControl { factor: 1, pending: 0, seen: 0, raised_at: 0, lowered_at: 0 }
    }
}

impl AckControl {
    /// A segment arrived, `received` being what is there in order with it. `echoes_mark`: an ACK was
    /// marked on its way. Returns whether the ACK is due now.
    pub fn on_segment(
        &mut self,
        received: u64,
        segment_bytes: u32,
        echoes_mark: bool,
        report: Option<Report>,
        is_in_order: bool,
    ) -> bool {
        self.seen = report.map_or(self.seen, |report| self.seen.max(report.acked));
        if self.seen >= self.raised_at {
            if echoes_mark {
                self.factor = (2 * self.factor).min(MOST_SEGMENTS);
                self.raised_at = received;
            } else if self.seen >= self.lowered_at {
                self.factor = (self.factor - 1).max(1);
                self.lowered_at = received;
            }
        }
        let window_bytes = report.map_or(0, |report| report.window_bytes);
        let half = window_bytes / u64::from(segment_bytes.max(1)) / 2;
        let limit = if is_in_order { self.factor.min(half) } else { 0 };
        self.pending += 1;
        self.pending >= limit
    }

    /// An ACK left.
    pub fn on_ack_sent(&mut self) {
        self.pending = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    /// Segments of a window of 20, each echoing a mark or not; how many each ACK answers.
    fn answered(marks: &[bool]) -> Vec<u64> {
        let mut control = AckControl::default();
        let (mut acks, mut waiting) = (Vec::new(), 0);
        for (n, &mark) in marks.iter().enumerate() {
            let n = n as u64;
            // The ACK of the segment twenty before it let it go.
            let acked = 1 + n.saturating_sub(20) * MSS;
            let report = Report { acked, window_bytes: 20 * MSS };
            waiting += 1;
            if control.on_segment(1 + (n + 1) * MSS, 1000, mark, Some(report), true) {
                control.on_ack_sent();
                acks.push(waiting);
                waiting = 0;
            }
        }
        acks
    }

    #[test]
    fn marks_double_what_an_ack_answers_once_a_round_trip() {
        assert_eq!(answered(&[false; 10]), [1; 10]);
        // Marked in the first round trip (from the first echo on 2), in the second (4), the third
        // (5, not 8). A segment is of the next round when the ACK of the echo's has been seen.
        let acks = answered(&[true; 70]);
        assert_eq!(acks[..10], [2; 10], "{acks:?}");
        assert_eq!(acks[11..15], [4; 4], "{acks:?}");
        assert!(acks[17..].iter().all(|&segments| segments == 5), "{acks:?}");
    }

    #[test]
    fn a_round_trip_without_a_mark_lowers_it_by_one() {
        let marks: Vec<bool> = (0..160).map(|n| n < 45).collect();
        let acks = answered(&marks);
        let falls: Vec<u64> = acks[acks.iter().position(|&n| n == 5).unwrap()..].to_vec();
        let mut steps = falls.clone();
        steps.dedup();
        assert_eq!(steps, [5, 4, 3, 2, 1], "{acks:?}");
    }

    #[test]
    fn nothing_waits_for_more_than_half_the_window_or_out_of_order() {
        let mut control = AckControl { factor: 5, ..AckControl::default() };
        let report = |window| Some(Report { acked: 0, window_bytes: window * MSS });
        control.raised_at = u64::MAX;
        assert!(!control.on_segment(1, 1000, false, report(7), true));
        assert!(!control.on_segment(1, 1000, false, report(7), true));
        assert!(control.on_segment(1, 1000, false, report(7), true), "half of 7 are 3");
        control.on_ack_sent();
        assert!(control.on_segment(1, 1000, false, report(20), false));
        assert!(control.on_segment(1, 1000, false, None, true), "nothing is known of the window");
    }
}
