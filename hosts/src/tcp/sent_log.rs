//! When each outstanding segment left, for round-trip samples (RFC 6298 section 3, Karn).

use narrows_common::Time;
use std::collections::VecDeque;

#[derive(Clone, Copy, Debug)]
struct Sent {
    end: u64,
    at: Time,
    is_ambiguous: bool,
}

/// The outstanding segments in order; amortised O(1) an ACK.
#[derive(Debug, Default)]
pub struct SentLog {
    segments: VecDeque<Sent>,
}

/// When the segments left that an ACK newly covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Acked {
    /// The first of them.
    pub oldest_at: Option<Time>,
    /// The last of them.
    pub newest_at: Option<Time>,
    /// One of them was sent twice: no sample (Karn).
    pub is_ambiguous: bool,
}

impl SentLog {
    /// A segment that ends at `end` left for the first time.
    pub fn on_sent(&mut self, end: u64, at: Time) {
        self.segments.push_back(Sent { end, at, is_ambiguous: false });
    }

    /// What lies in `[start, end)` left again.
    pub fn on_sent_again(&mut self, start: u64, end: u64) {
        let first = self.segments.partition_point(|sent| sent.end <= start);
        let mut from = start;
        for sent in self.segments.range_mut(first..) {
            if from >= end {
                break;
            }
            sent.is_ambiguous = true;
            from = sent.end;
        }
    }

    /// When the segment that holds the byte before `end` left; `None` when it was sent twice.
    pub fn sent_at(&self, end: u64) -> Option<Time> {
        let index = self.segments.partition_point(|sent| sent.end < end);
        self.segments.get(index).filter(|sent| !sent.is_ambiguous).map(|sent| sent.at)
    }

    /// Everything below `ack` has arrived.
    pub fn on_acked(&mut self, ack: u64) -> Acked {
        let mut acked = Acked::default();
        while let Some(sent) = self.segments.front().filter(|sent| sent.end <= ack) {
            acked.oldest_at.get_or_insert(sent.at);
            acked.newest_at = Some(sent.at);
            acked.is_ambiguous |= sent.is_ambiguous;
            self.segments.pop_front();
        }
        acked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ack_over_a_retransmission_is_ambiguous() {
        let (mut log, at) = (SentLog::default(), Time::from_ps);
        for n in 1..=4 {
            log.on_sent(n * 10, at(n));
        }
        log.on_sent_again(20, 30);
        assert_eq!((log.sent_at(30), log.sent_at(35), log.sent_at(41)), (None, Some(at(4)), None));
        let acked = log.on_acked(25);
        assert_eq!(
            (acked.oldest_at, acked.newest_at, acked.is_ambiguous),
            (Some(at(1)), Some(at(2)), false)
        );
        assert!(log.on_acked(30).is_ambiguous);
        assert_eq!(log.on_acked(39), Acked::default());
        assert_eq!(log.on_acked(40).oldest_at, Some(at(4)));
    }
}
