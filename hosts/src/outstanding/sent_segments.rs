//! The outstanding segments: the last departure and the state of each, and its record for the
//! delivery rate.
//!
//! Sources: RFC 8985 section 5.2 (per-segment state), RFC 6298 section 3 (Karn). Kept only if a
//! profile times every segment, or a rule or variant requires it. The cost of an ACK is the
//! segments that it newly covers, plus a look-up.

use crate::api::Departure;
use crate::outstanding::ranges::RangeSet;
use narrows_common::Time;
use narrows_common::prefetch::prefetch;
use std::collections::VecDeque;

/// The state of an outstanding segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentState {
    /// It may be in the network.
    InFlight,
    /// It has arrived out of order.
    Sacked,
    /// It is considered lost, and has not been retransmitted since.
    Lost,
}

/// A segment, in one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct SentSegment {
    /// The position after its last byte.
    pub end: u64,
    /// The time of its last departure.
    pub at: Time,
    /// Its state.
    pub state: SegmentState,
    /// It was sent more than once (Karn).
    pub was_retransmitted: bool,
    /// The rate estimator's record of its last departure.
    pub departure: Departure,
}

/// The outstanding segments in order.
#[derive(Clone, Debug, Default)]
pub struct SentSegments {
    segments: VecDeque<SentSegment>,
    /// The position of the first segment.
    start: u64,
    in_flight_bytes: u64,
    newly_lost: VecDeque<Lost>,
}

/// A segment considered lost.
#[derive(Clone, Copy, Debug)]
pub struct Lost {
    /// Its bytes.
    pub bytes: u64,
    /// True if the segment before it is not lost with it.
    pub begins_range: bool,
    /// The record of its departure.
    pub departure: Departure,
}

/// The departures of the segments that an ACK newly covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Acked {
    /// The first one's departure.
    pub oldest_at: Option<Time>,
    /// The last one's departure.
    pub newest_at: Option<Time>,
    /// One of them was sent twice, so there is no sample (Karn).
    pub is_ambiguous: bool,
    /// The last of them was sent twice.
    pub newest_is_ambiguous: bool,
}

impl SentSegments {
    /// Asks for the memory of the first segments: an ACK of theirs arrives soon.
    pub fn prefetch(&self) {
        self.segments.iter().take(2).for_each(prefetch);
    }

    /// A segment that ends at `end` was sent for the first time.
    pub fn on_sent(&mut self, end: u64, at: Time, departure: Departure) {
        let start = self.segments.back().map_or(self.start, |last| last.end);
        self.in_flight_bytes += end.saturating_sub(start);
        let state = SegmentState::InFlight;
        self.segments.push_back(SentSegment {
            end,
            at,
            state,
            was_retransmitted: false,
            departure,
        });
    }

    /// `[start, end)` was retransmitted, as one segment or the front of one. With `is_lost` it
    /// counts as lost, although nothing reported a loss.
    pub fn on_retransmitted(
        &mut self,
        start: u64,
        end: u64,
        at: Time,
        departure: Departure,
        is_lost: bool,
    ) {
        let mut index = self.index_of(start);
        let mut from = self.start_of(index);
        while let Some(sent) = self.segments.get(index).copied().filter(|_| from < end) {
            if sent.end > end {
                // The rest of the segment keeps its own time and state.
                self.segments.insert(index, SentSegment { end, ..sent });
            }
            let begins_range = !self.is_lost_before(index);
            let sent = &mut self.segments[index];
            if sent.state != SegmentState::InFlight {
                self.in_flight_bytes += sent.end - from;
            } else if is_lost {
                let bytes = sent.end - from;
                self.newly_lost.push_back(Lost { bytes, begins_range, departure: sent.departure });
            }
            *sent = SentSegment {
                at,
                state: SegmentState::InFlight,
                was_retransmitted: true,
                departure,
                end: sent.end,
            };
            from = sent.end;
            index += 1;
        }
    }

    /// The departure of the segment that contains the byte before `end`; `None` if it was sent
    /// twice.
    pub fn sent_at(&self, end: u64) -> Option<Time> {
        self.get(end).filter(|sent| !sent.was_retransmitted).map(|sent| sent.at)
    }

    /// The segment that contains the byte before `end`.
    pub fn get(&self, end: u64) -> Option<&SentSegment> {
        self.segments.get(self.index_of(end.saturating_sub(1)))
    }

    /// The start of the segment that contains the byte before `end`.
    pub fn start_before(&self, end: u64) -> u64 {
        self.start_of(self.index_of(end.saturating_sub(1)))
    }

    /// Bytes neither delivered nor considered lost.
    pub fn in_flight_bytes(&self) -> u64 {
        self.in_flight_bytes
    }

    /// The segments in order.
    pub fn iter(&self) -> impl Iterator<Item = &SentSegment> {
        self.segments.iter()
    }

    /// Everything below `ack` has arrived. Calls `newly` with the start and the state of each
    /// segment not SACKed before.
    pub fn on_cumulative_ack(
        &mut self,
        ack: u64,
        mut newly: impl FnMut(u64, &SentSegment),
    ) -> Acked {
        let mut acked = Acked::default();
        while let Some(sent) = self.segments.front() {
            if sent.state == SegmentState::InFlight {
                self.in_flight_bytes -= sent.end.min(ack).saturating_sub(self.start);
            }
            if sent.end > ack {
                break;
            }
            acked.oldest_at.get_or_insert(sent.at);
            acked.newest_at = Some(sent.at);
            acked.is_ambiguous |= sent.was_retransmitted;
            acked.newest_is_ambiguous = sent.was_retransmitted;
            if sent.state != SegmentState::Sacked {
                newly(self.start, sent);
            }
            self.start = sent.end;
            self.segments.pop_front();
        }
        // The next ACK looks at one segment more.
        if let Some(next) = self.segments.get(1) {
            prefetch(next);
        }
        self.start = self.start.max(ack);
        acked
    }

    /// The bytes `[from, to)` were newly SACKed; `sacked` includes them. Calls `newly` with the
    /// start and the state of each segment that is now complete.
    pub fn on_sacked(
        &mut self,
        from: u64,
        to: u64,
        sacked: &RangeSet,
        newly: &mut dyn FnMut(u64, &SentSegment),
    ) {
        let first = self.index_of(from);
        let mut start = self.start_of(first);
        for sent in self.segments.range_mut(first..) {
            if start >= to {
                break;
            }
            let is_whole = sacked.containing(start).is_some_and(|(_, end)| end >= sent.end);
            if is_whole && sent.state != SegmentState::Sacked {
                newly(start, sent);
                if sent.state == SegmentState::InFlight {
                    self.in_flight_bytes -= sent.end - start;
                }
                sent.state = SegmentState::Sacked;
            }
            start = sent.end;
        }
    }

    /// Marks the segment that contains the byte before `end` as lost, if it is in flight; returns
    /// its bytes.
    pub fn mark_lost(&mut self, end: u64) -> Option<u64> {
        let index = self.index_of(end.saturating_sub(1));
        let (start, begins_range) = (self.start_of(index), !self.is_lost_before(index));
        let sent =
            self.segments.get_mut(index).filter(|sent| sent.state == SegmentState::InFlight)?;
        let bytes = sent.end - start;
        sent.state = SegmentState::Lost;
        self.newly_lost.push_back(Lost { bytes, begins_range, departure: sent.departure });
        self.in_flight_bytes -= bytes;
        Some(bytes)
    }

    /// Changes the state of all segments in state `from` to `to`.
    pub fn turn(&mut self, from: SegmentState, to: SegmentState) {
        let (mut start, mut in_flight_bytes) = (self.start, 0);
        for sent in &mut self.segments {
            if sent.state == from {
                sent.state = to;
            }
            if sent.state == SegmentState::InFlight {
                in_flight_bytes += sent.end - start;
            }
            start = sent.end;
        }
        self.in_flight_bytes = in_flight_bytes;
    }

    /// The next segment detected as lost.
    pub fn poll_lost(&mut self) -> Option<Lost> {
        self.newly_lost.pop_front()
    }

    fn is_lost_before(&self, index: usize) -> bool {
        let before = index.checked_sub(1).and_then(|before| self.segments.get(before));
        before.is_some_and(|sent| sent.state == SegmentState::Lost)
    }

    /// The index of the segment that contains the byte at `position`. Most segments have the same
    /// length, so their mean gives the index, or one too many.
    fn index_of(&self, position: u64) -> usize {
        let bytes = self.segments.back().map_or(0, |last| last.end - self.start);
        let before = position.saturating_sub(self.start) * self.segments.len() as u64;
        let guess = before.checked_div(bytes).unwrap_or(0) as usize;
        let holds = |&index: &usize| {
            self.start_of(index) <= position
                && self.segments.get(index).is_some_and(|sent| position < sent.end)
        };
        [guess.saturating_sub(1), guess]
            .into_iter()
            .find(holds)
            .unwrap_or_else(|| self.segments.partition_point(|sent| sent.end <= position))
    }

    fn start_of(&self, index: usize) -> u64 {
        let before = index.checked_sub(1).and_then(|before| self.segments.get(before));
        before.map_or(self.start, |sent| sent.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn log() -> SentSegments {
        let mut log = SentSegments::default();
        log.on_cumulative_ack(0, |_, _| ());
        for n in 1..=4 {
            log.on_sent(n * 10, Time::from_ps(n), Departure::default());
        }
        log
    }

    #[test]
    fn a_segment_is_a_line_of_memory() {
        assert_eq!(size_of::<SentSegment>(), 64);
    }

    #[test]
    fn an_ack_over_a_retransmission_is_ambiguous() {
        let (mut log, at) = (log(), Time::from_ps);
        log.on_retransmitted(20, 30, at(9), Departure::default(), false);
        assert_eq!((log.sent_at(30), log.sent_at(35), log.sent_at(41)), (None, Some(at(4)), None));
        let acked = log.on_cumulative_ack(25, |_, _| ());
        assert_eq!(
            (acked.oldest_at, acked.newest_at, acked.is_ambiguous),
            (Some(at(1)), Some(at(2)), false)
        );
        assert!(log.on_cumulative_ack(30, |_, _| ()).is_ambiguous);
        assert_eq!(log.on_cumulative_ack(39, |_, _| ()), Acked::default());
        assert_eq!(log.on_cumulative_ack(40, |_, _| ()).oldest_at, Some(at(4)));
    }

    #[test]
    fn part_of_a_segment_sent_again_becomes_a_segment() {
        let mut log = log();
        assert_eq!(log.mark_lost(20), Some(10));
        log.on_retransmitted(10, 14, Time::from_ps(9), Departure::default(), false);
        let rows: Vec<_> = log.iter().map(|s| (s.end, s.state, s.was_retransmitted)).collect();
        assert_eq!(
            rows[1..3],
            [(14, SegmentState::InFlight, true), (20, SegmentState::Lost, false)]
        );
        assert_eq!((log.in_flight_bytes(), log.start_before(20)), (34, 14));
    }

    proptest! {
        /// The bytes in flight equal a walk over all segments, and each segment is delivered at
        /// most once.
        #[test]
        fn bytes_in_flight_are_the_sum(ops in prop::collection::vec((0u8..5, 0u64..40, 1u64..20), 1..80)) {
            let (mut log, mut sacked, mut nxt, mut una) = (SentSegments::default(), RangeSet::default(), 0, 0);
            let mut delivered = std::collections::BTreeSet::new();
            for (kind, offset, len) in ops {
                let (from, to) = ((una + offset).min(nxt), (una + offset + len).min(nxt));
                let mut newly = Vec::new();
                match kind {
                    0 | 1 => { nxt += len; log.on_sent(nxt, Time::ZERO, Departure::default()); }
                    2 if from < to => {
                        let mut ranges = Vec::new();
                        sacked.insert(from, to, |from, to| ranges.push((from, to)));
                        for (from, to) in ranges { log.on_sacked(from, to, &sacked, &mut |_, s| newly.push(s.end)); }
                    }
                    3 => { log.mark_lost(to); }
                    4 => { una = to; sacked.remove_below(una); log.on_cumulative_ack(una, |_, s| newly.push(s.end)); }
                    _ => {}
                }
                for end in newly { prop_assert!(delivered.insert(end), "{end} delivered twice"); }
                let (mut start, mut sum) = (una, 0);
                for sent in log.iter() {
                    if sent.state == SegmentState::InFlight { sum += sent.end - start; }
                    start = sent.end;
                }
                prop_assert_eq!(log.in_flight_bytes(), sum);
            }
        }
    }
}
