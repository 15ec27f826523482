//! ACK congestion control: a receiver reduces its ACKs if the return path marks them.
//!
//! Source: ns-2.35 Agent/TCPSink/Asym, after Balakrishnan, Padmanabhan and Katz, The effects of
//! asymmetry on TCP performance, MobiCom 1997 (surveyed in RFC 3449 section 5.2.1). ACKs are sent
//! as ECN-capable. A sender that receives a marked ACK echoes the mark in its next segment. The
//! echo doubles the number of segments per ACK, up to five; each round trip without an echo reduces
//! it by one. No ACK waits for more than half of what the sender may send without one. After a
//! segment out of order no ACK waits.
//!
//! With each segment the sender reports its highest ACK and its window, in an experimental option
//! (`wire/options.rs`); ns-2 uses header fields without length. ns-2 separates round trips by its
//! packets' timestamps, this implementation by the reported ACKs. Without the option each segment
//! is acknowledged immediately.

/// `maxdelack_`.
const MOST_SEGMENTS: u64 = 5;

/// A sender's report in a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// The highest acknowledgment that it has received, as a position.
    pub acked: u64,
    /// The bytes after it that it may send before the next acknowledgment.
    pub window_bytes: u64,
}

/// The number of segments per ACK.
#[derive(Clone, Copy, Debug)]
pub struct AckControl {
    /// The most segments per ACK that the return path asks for.
    factor: u64,
    /// Segments not acknowledged yet.
    pending: u64,
    /// The highest acknowledgment that the sender is known to have received.
    seen: u64,
    /// The bytes received when the factor was last raised, and last lowered.
    raised_at: u64,
    lowered_at: u64,
}

impl Default for AckControl {
    /// Acknowledges every segment.
    fn default() -> Self {
        AckControl { factor: 1, pending: 0, seen: 0, raised_at: 0, lowered_at: 0 }
    }
}

impl AckControl {
    /// A segment arrived; `received` is the end of in-order data with it. `echoes_mark` means that
    /// the return path marked an ACK. Returns whether an ACK is due now.
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

    /// An ACK was sent.
    pub fn on_ack_sent(&mut self) {
        self.pending = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    /// Segments in a window of 20, each with or without an echoed mark; returns the segments per
    /// ACK.
    fn answered(marks: &[bool]) -> Vec<u64> {
        let mut control = AckControl::default();
        let (mut acks, mut waiting) = (Vec::new(), 0);
        for (n, &mark) in marks.iter().enumerate() {
            let n = n as u64;
            // The ACK of the segment twenty before it allowed it to leave.
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
        // Marked in the first round trip (2 from the first echo on), in the second (4) and the
        // third (5, not 8). A segment belongs to the next round once the sender has seen the ACK of
        // the echo's segment.
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
