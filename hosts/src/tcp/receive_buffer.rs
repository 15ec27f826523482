//! Reassembly: the data received, in order and out of order, and the window to offer.

use crate::outstanding::ranges::RangeSet;
use crate::tcp::seq;
use crate::wire::options::SackBlocks;
use crate::wire::segment::Payload;
use core::ops::Range;
use narrows_traffic::ShortBytes;
use std::collections::VecDeque;

/// The receiving half of a stream.
#[derive(Debug)]
#[repr(C)]
pub struct ReceiveBuffer {
    /// The first byte not received in order.
    nxt: u64,
    /// The first position the application has not read.
    read_to: u64,
    capacity_bytes: u64,
    /// The FIN after the last byte was accepted.
    has_fin: bool,
    out_of_order: RangeSet,
    /// The bytes other than omitted zeros, sorted by position; `None` if nobody reads them. Where
    /// two overlap, the one with the higher position arrived first and counts.
    content: Option<VecDeque<Piece>>,
    /// Positions within the most recently extended ranges, the latest first (RFC 2018 section 4).
    recent: [u64; 4],
}

/// Bytes, and the position of the first.
type Piece = (u64, ShortBytes);

/// The effect of a segment on the stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrival {
    /// Bytes that became readable.
    pub in_order_bytes: u64,
    /// The segment left, created or filled a gap, or was a duplicate, so it must be acknowledged
    /// immediately.
    pub is_irregular: bool,
    /// The first range of it that had been received before.
    pub duplicate: Option<(u64, u64)>,
}

impl ReceiveBuffer {
    /// An empty buffer of `capacity_bytes`. Without `keeps_content` it stores lengths only.
    pub fn new(capacity_bytes: u64, keeps_content: bool) -> Self {
        ReceiveBuffer {
            nxt: 0,
            has_fin: false,
            read_to: 0,
            capacity_bytes,
            out_of_order: RangeSet::default(),
            recent: [0; 4],
            content: keeps_content.then(VecDeque::new),
        }
    }

    /// Asks for the memory of the data that is out of order.
    pub fn prefetch(&self) {
        self.out_of_order.prefetch();
    }

    /// The stream begins at `position`.
    pub fn start(&mut self, position: u64) {
        (self.nxt, self.read_to) = (position, position);
    }

    /// The first position not received in order (RCV.NXT).
    pub fn nxt(&self) -> u64 {
        self.nxt + u64::from(self.has_fin)
    }

    /// The size in bytes.
    pub fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    /// Bytes received in order but not read.
    pub fn unread_bytes(&self) -> u64 {
        self.nxt - self.read_to
    }

    /// The first position outside the buffer.
    pub fn right_edge(&self) -> u64 {
        self.read_to + self.capacity_bytes
    }

    /// True while data is missing below the highest position received.
    pub fn has_gap(&self) -> bool {
        !self.out_of_order.is_empty()
    }

    /// Stores the part of a payload at `start` that is new and inside the buffer.
    #[inline(always)]
    pub fn insert(&mut self, start: u64, payload: &Payload<'_>) -> Arrival {
        let end = start + u64::from(payload.len());
        let is_next = start == self.nxt && start < end && end <= self.right_edge();
        if is_next && !self.has_gap() && self.content.is_none() {
            self.nxt = end;
            return Arrival { in_order_bytes: end - start, ..Arrival::default() };
        }
        self.insert_any(start, payload)
    }

    /// Like `insert`, for any payload. `insert` handles the common case, with the same effect.
    #[inline(never)]
    fn insert_any(&mut self, start: u64, payload: &Payload<'_>) -> Arrival {
        let end = (start + u64::from(payload.len())).min(self.right_edge());
        let from = start.max(self.nxt);
        let duplicate = self.held_range(start, start + u64::from(payload.len()));
        if from >= end {
            return Arrival { in_order_bytes: 0, is_irregular: true, duplicate };
        }
        if from > self.nxt {
            let content = &mut self.content;
            let store = |from, end| store(content, start, payload, from..end);
            self.out_of_order.insert(from, end, store);
            self.remember(from);
            return Arrival { in_order_bytes: 0, is_irregular: true, duplicate };
        }
        store(&mut self.content, start, payload, from..end);
        let before = self.nxt;
        self.nxt = end;
        let had_gap = self.has_gap();
        if had_gap {
            self.out_of_order.remove_below(end);
            if let Some((_, joined)) = self.out_of_order.first().filter(|range| range.0 <= end) {
                self.nxt = joined;
                self.out_of_order.remove_below(joined);
            }
        }
        Arrival { in_order_bytes: self.nxt - before, is_irregular: had_gap, duplicate }
    }

    /// The first range of `[start, end)` that was received before.
    fn held_range(&self, start: u64, end: u64) -> Option<(u64, u64)> {
        let (from, to) = if start < self.nxt {
            (start, self.nxt)
        } else if !self.has_gap() {
            return None;
        } else {
            let held = self.out_of_order.containing(start);
            held.or_else(|| self.out_of_order.next_above(start))?
        };
        let range = (from.max(start), to.min(end));
        (range.0 < range.1).then_some(range)
    }

    /// The FIN occupies the position after the last byte. Data beyond the FIN is not part of the
    /// stream.
    pub fn take_fin(&mut self) {
        self.out_of_order.clear();
        if let Some(content) = &mut self.content {
            content.truncate(content.partition_point(|&(start, _)| start < self.nxt));
        }
        self.has_fin = true;
    }

    /// Reads everything readable, and appends it to `out` if content is kept; returns the number of
    /// bytes.
    #[inline]
    pub fn read(&mut self, limit_bytes: u64, out: Option<&mut Vec<u8>>) -> u64 {
        let len = self.unread_bytes().min(limit_bytes);
        let from = self.read_to;
        self.read_to += len;
        if self.content.is_some() {
            self.read_content(from, self.read_to, out);
        }
        len
    }

    #[inline(never)]
    fn read_content(&mut self, from: u64, to: u64, out: Option<&mut Vec<u8>>) {
        let Some(content) = &mut self.content else { return };
        if let Some(out) = out {
            let base = out.len();
            out.resize(base + (to - from) as usize, 0);
            for &(start, ref bytes) in content.iter().take_while(|&&(start, _)| start < to) {
                let (first, last) = (start.max(from), to.min(start + bytes.len() as u64));
                if first < last {
                    let into = base + (first - from) as usize..base + (last - from) as usize;
                    out[into]
                        .copy_from_slice(&bytes[(first - start) as usize..(last - start) as usize]);
                }
            }
        }
        while content.front().is_some_and(|(start, bytes)| start + bytes.len() as u64 <= to) {
            content.pop_front();
        }
    }

    fn remember(&mut self, position: u64) {
        let range = self.out_of_order.containing(position);
        let same = |old: u64| range.is_some_and(|(start, end)| (start..end).contains(&old));
        let slot = self.recent.iter().position(|&old| same(old)).unwrap_or(self.recent.len() - 1);
        self.recent.copy_within(..slot, 1);
        self.recent[0] = position;
    }

    /// The SACK blocks to report, at most `limit`: first the range of the latest arrival, then the
    /// most recently reported ones (RFC 2018 section 4).
    pub fn sack_blocks(&self, isn: u32, limit: usize) -> SackBlocks {
        let mut blocks = SackBlocks::default();
        let mut reported = [(0, 0); 4];
        let mut count = 0;
        for range in self.recent.iter().filter_map(|&p| self.out_of_order.containing(p)) {
            if count < limit && !reported[..count].contains(&range) {
                reported[count] = range;
                count += 1;
                blocks.push(seq::to_wire(isn, range.0), seq::to_wire(isn, range.1));
            }
        }
        blocks
    }
}

/// Stores the part inside `range` of a payload that begins at `start`, if content is kept.
#[inline]
fn store(
    content: &mut Option<VecDeque<Piece>>,
    start: u64,
    payload: &Payload<'_>,
    range: Range<u64>,
) {
    let Some(content) = content else { return };
    let bytes = payload.bytes.get((range.start - start) as usize..).unwrap_or_default();
    let bytes = &bytes[..bytes.len().min((range.end - range.start) as usize)];
    if !bytes.is_empty() {
        keep(content, (range.start, ShortBytes::from_slice(bytes)));
    }
}

/// Adds a piece, nearly always at the end.
fn keep(content: &mut VecDeque<Piece>, piece: Piece) {
    if content.back().is_none_or(|&(start, _)| start < piece.0) {
        content.push_back(piece);
    } else {
        content.insert(content.partition_point(|&(start, _)| start < piece.0), piece);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn zeros(len: u32) -> Payload<'static> {
        Payload { bytes: &[], zeros: len }
    }

    #[test]
    fn the_table_of_rfc_2018_section_4_case_2() {
        // Segments of 500 bytes from 5000 on; the first is lost, the others arrive.
        let mut buffer = ReceiveBuffer::new(10_000, false);
        buffer.start(5000);
        for (segment, right) in [
            (5500, 6000),
            (6000, 6500),
            (6500, 7000),
            (7000, 7500),
            (7500, 8000),
            (8000, 8500),
            (8500, 9000),
        ] {
            assert!(buffer.insert(segment, &zeros(500)).is_irregular);
            assert_eq!(buffer.sack_blocks(0, 3).as_slice(), [(5500, right)]);
        }
    }

    #[test]
    fn the_table_of_rfc_2018_section_4_case_3() {
        // The 2nd, 4th, 6th and 8th of eight segments are dropped; then the 4th arrives, then the
        // 2nd.
        let mut buffer = ReceiveBuffer::new(10_000, false);
        buffer.start(5000);
        let mut arrive = |segment| {
            buffer.insert(segment, &zeros(500));
            (buffer.nxt(), buffer.sack_blocks(0, 3).as_slice().to_vec())
        };
        assert_eq!(arrive(5000), (5500, vec![]));
        assert_eq!(arrive(6000), (5500, vec![(6000, 6500)]));
        assert_eq!(arrive(7000), (5500, vec![(7000, 7500), (6000, 6500)]));
        assert_eq!(arrive(8000), (5500, vec![(8000, 8500), (7000, 7500), (6000, 6500)]));
        assert_eq!(arrive(6500), (5500, vec![(6000, 7500), (8000, 8500)]));
        assert_eq!(arrive(5500), (7500, vec![(8000, 8500)]));
    }

    proptest! {
        /// `insert` and its plain twin, with segments around the next one, read now and then.
        #[test]
        fn the_next_segment_is_stored_like_any(segments in prop::collection::vec((0u64..6, 0u64..6, 0u32..4, any::<bool>()), 1..60)) {
            let mut buffer = ReceiveBuffer::new(12, false);
            buffer.start(1);
            let mut plain = ReceiveBuffer::new(12, false);
            plain.start(1);
            for (ahead, behind, len, reads) in segments {
                let start = (buffer.nxt() + ahead).saturating_sub(behind);
                prop_assert_eq!(buffer.insert(start, &zeros(len)), plain.insert_any(start, &zeros(len)));
                if reads {
                    prop_assert_eq!(buffer.read(9, None), plain.read(9, None));
                }
                prop_assert_eq!(buffer.nxt(), plain.nxt());
                prop_assert_eq!(buffer.has_gap(), plain.has_gap());
                prop_assert_eq!(buffer.right_edge(), plain.right_edge());
            }
        }
    }

    #[test]
    fn content_is_read_once_in_order_and_cut_at_the_buffer() {
        let mut buffer = ReceiveBuffer::new(8, true);
        buffer.start(1);
        let payload = |bytes| Payload { bytes, zeros: 0 };
        buffer.insert(4, &payload(b"defghijk"));
        assert_eq!(buffer.right_edge(), 9);
        assert_eq!(buffer.insert(1, &payload(b"abc")).in_order_bytes, 8);
        let mut out = Vec::new();
        assert_eq!(buffer.read(3, Some(&mut out)), 3);
        assert_eq!(buffer.right_edge(), 12);
        assert_eq!(buffer.read(99, Some(&mut out)), 5);
        assert_eq!(out, b"abcdefgh");
        assert!(buffer.insert(2, &payload(b"bcd")).is_irregular);
    }
}
