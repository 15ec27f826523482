//! The sender's state of the data in flight: acknowledged, SACKed, lost, retransmitted.
//!
//! RFC 6675's predicates over the octets between HighACK and HighData. Running totals replace its
//! loops, so the work per ACK does not grow with the window:
//! - `IsLost` is monotone: below a lost octet everything not SACKed is lost. So one position, the
//!   *lost edge*, represents it. The edge only rises. If three small ranges merge to less than
//!   DupThresh, RFC 6675 would withdraw the loss; this scoreboard does not.
//! - `pipe` is the data above the lost edge that is not SACKed, plus the data below HighRxt that is
//!   not SACKed. Both need the SACKed bytes below a position that only rises, kept up to date.

use crate::outstanding::ranges::RangeSet;
use crate::outstanding::sent_segments::{SentSegment, SentSegments};

/// The octets in flight, by stream position.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct Scoreboard {
    /// The first unacknowledged position (SND.UNA; RFC 6675's HighACK + 1).
    una: u64,
    /// The first unsent position (SND.NXT; HighData + 1).
    nxt: u64,
    lost_edge: u64,
    sacked_below_lost_edge: u64,
    /// HighRxt + 1.
    retransmitted_to: u64,
    sacked_below_retransmitted: u64,
    sacked: RangeSet,
    /// The segments, if the sender keeps them.
    pub sent: SentSegments,
    /// The ranges that the latest SACK block newly reported.
    newly_sacked: Vec<(u64, u64)>,
}

impl Scoreboard {
    /// Asks for the memory of the segments that an ACK touches: one arrives soon.
    pub fn prefetch(&self) {
        self.sacked.prefetch();
        self.sent.prefetch();
    }

    /// The first unacknowledged position.
    pub fn una(&self) -> u64 {
        self.una
    }

    /// The first unsent position.
    pub fn nxt(&self) -> u64 {
        self.nxt
    }

    /// Bytes sent but not cumulatively acknowledged (RFC 5681's FlightSize).
    pub fn flight_bytes(&self) -> u64 {
        self.nxt - self.una
    }

    /// Bytes SACKed but not cumulatively acknowledged.
    pub fn sacked_bytes(&self) -> u64 {
        self.sacked.total_bytes()
    }

    /// The end of the highest data known to have arrived (FACK's snd.fack).
    pub fn fack(&self) -> u64 {
        self.sacked.last().map_or(self.una, |(_, end)| end.max(self.una))
    }

    /// Every octet below this that is not SACKed is considered lost.
    pub fn lost_edge(&self) -> u64 {
        self.lost_edge
    }

    /// Bytes believed to be in the network (RFC 6675 section 4, SetPipe).
    pub fn pipe_bytes(&self) -> u64 {
        let sacked_above = self.sacked.total_bytes() - self.sacked_below_lost_edge;
        let not_lost = (self.nxt - self.lost_edge) - sacked_above;
        let retransmitted = (self.retransmitted_to - self.una) - self.sacked_below_retransmitted;
        not_lost + retransmitted
    }

    /// New data up to `end` was sent.
    pub fn on_sent(&mut self, end: u64) {
        self.nxt = self.nxt.max(end);
    }

    /// Everything below `ack` has arrived; returns how many of these bytes had been SACKed.
    pub fn on_cumulative_ack(&mut self, ack: u64) -> u64 {
        debug_assert!(self.una <= ack && ack <= self.nxt);
        self.una = ack;
        let removed = if self.sacked.is_empty() { 0 } else { self.sacked.remove_below(ack) };
        if self.lost_edge < ack {
            self.lost_edge = ack;
            self.sacked_below_lost_edge = 0;
        } else {
            self.sacked_below_lost_edge -= removed;
        }
        if self.retransmitted_to < ack {
            self.retransmitted_to = ack;
            self.sacked_below_retransmitted = 0;
        } else {
            self.sacked_below_retransmitted -= removed;
        }
        removed
    }

    /// A SACK block arrived; returns the bytes that it newly reports.
    pub fn on_sacked(&mut self, start: u64, end: u64) -> u64 {
        self.on_sacked_with(start, end, &mut |_, _| ())
    }

    /// Like `on_sacked`; calls `newly` for each segment that has arrived completely.
    pub fn on_sacked_with(
        &mut self,
        start: u64,
        end: u64,
        newly_arrived: &mut dyn FnMut(u64, &SentSegment),
    ) -> u64 {
        let (start, end) = (start.max(self.una), end.min(self.nxt));
        // A block is usually reported several times.
        if self.sacked.containing(start).is_some_and(|(_, known_end)| end <= known_end) {
            return 0;
        }
        let (mut newly, mut below_lost, mut below_retransmitted) = (0, 0, 0);
        let (lost_edge, retransmitted_to) = (self.lost_edge, self.retransmitted_to);
        self.newly_sacked.clear();
        self.sacked.insert(start, end, |from, to| {
            newly += to - from;
            self.newly_sacked.push((from, to));
            below_lost += to.min(lost_edge).saturating_sub(from);
            below_retransmitted += to.min(retransmitted_to).saturating_sub(from);
        });
        self.sacked_below_lost_edge += below_lost;
        self.sacked_below_retransmitted += below_retransmitted;
        for &(from, to) in &self.newly_sacked {
            self.sent.on_sacked(from, to, &self.sacked, newly_arrived);
        }
        newly
    }

    /// True if the byte at `position` is SACKed.
    pub fn is_sacked(&self, position: u64) -> bool {
        self.sacked.containing(position).is_some()
    }

    /// Raises the lost edge by RFC 6675's IsLost: `threshold` SACKed ranges above an octet, or more
    /// than `threshold - 1` segments of SACKed bytes. Examines `threshold` ranges.
    pub fn update_lost_edge(&mut self, threshold: u32, mss: u32) {
        let (mut ranges, mut bytes) = (0, 0);
        let limit_bytes = u64::from(threshold - 1) * u64::from(mss);
        let is_enough = |&(start, end): &(u64, u64)| {
            ranges += 1;
            bytes += end - start;
            ranges >= threshold || bytes > limit_bytes
        };
        let edge = self.sacked.descending().find(is_enough);
        if let Some((start, _)) = edge {
            self.raise_lost_edge(start);
        }
    }

    /// True if the first unacknowledged octet is considered lost.
    pub fn is_first_lost(&self) -> bool {
        self.lost_edge > self.una
    }

    /// A retransmission time-out: everything in flight is lost, including retransmissions, except
    /// SACKed data.
    pub fn mark_all_lost(&mut self) {
        self.raise_lost_edge(self.nxt);
        self.restart_retransmission();
    }

    /// Restarts retransmission at the first hole.
    pub fn restart_retransmission(&mut self) {
        self.retransmitted_to = self.una;
        self.sacked_below_retransmitted = 0;
    }

    /// The octets up to `end` were retransmitted or need no retransmission (HighRxt := end - 1).
    pub fn on_retransmitted(&mut self, end: u64) {
        if end > self.retransmitted_to {
            let passed = self.sacked.bytes_between(self.retransmitted_to, end);
            self.sacked_below_retransmitted += passed;
            self.retransmitted_to = end;
        }
    }

    /// The lowest lost hole not yet retransmitted (NextSeg rule 1).
    pub fn next_lost_hole(&self) -> Option<(u64, u64)> {
        self.next_hole().and_then(|(start, end)| {
            let end = end.min(self.lost_edge);
            (start < end).then_some((start, end))
        })
    }

    /// The lowest hole below the highest SACKed octet, not yet retransmitted (NextSeg rule 3).
    pub fn next_hole_below_sacked(&self) -> Option<(u64, u64)> {
        let highest = self.sacked.last()?.0;
        self.next_hole().filter(|&(start, _)| start < highest)
    }

    /// The highest hole: the last octets that are not SACKed.
    pub fn highest_hole(&self) -> Option<(u64, u64)> {
        let mut end = self.nxt;
        for (start, top) in self.sacked.descending() {
            if top < end {
                return Some((top, end));
            }
            end = start;
        }
        (self.una < end).then_some((self.una, end))
    }

    /// The end of the hole at the left edge. A SACKed range there contradicts the cumulative ACK,
    /// which takes precedence: the hole is that range (RFC 2018 section 8).
    pub fn first_hole_end(&self) -> u64 {
        match self.sacked.first() {
            Some((start, end)) if start <= self.una => end,
            Some((start, _)) => start,
            None => self.nxt,
        }
    }

    fn next_hole(&self) -> Option<(u64, u64)> {
        let from = self.retransmitted_to.max(self.una);
        let start = self.sacked.containing(from).map_or(from, |(_, end)| end);
        let end = self.sacked.next_above(start).map_or(self.nxt, |(start, _)| start);
        (start < end).then_some((start, end))
    }

    /// True if the peer has dropped data that it had SACKed: the cumulative ACK stops at the start
    /// of a SACKed range (RFC 2018 section 8).
    pub fn is_reneged(&self) -> bool {
        self.sacked.first().is_some_and(|(start, _)| start <= self.una)
    }

    /// Discards all SACKs.
    pub fn forget_sacked(&mut self) {
        self.sacked.clear();
        self.sacked_below_lost_edge = 0;
        self.sacked_below_retransmitted = 0;
    }

    fn raise_lost_edge(&mut self, to: u64) {
        if to > self.lost_edge {
            self.sacked_below_lost_edge += self.sacked.bytes_between(self.lost_edge, to);
            self.lost_edge = to;
        }
    }
}

#[cfg(test)]
#[path = "scoreboard_tests.rs"]
mod tests;
