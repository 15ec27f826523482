//! The receiving half of a connection: reassembly, the window, and the ACK policy.

use crate::compat::ns2::ack_control::AckControl;
use crate::report::{DELAY_PRECISION_BITS, ReceiverCounters};
use crate::tcp::receive_buffer::{Arrival, ReceiveBuffer};
use crate::tcp::seq;
use crate::wire::options::SackBlocks;
use crate::wire::segment::Payload;
use narrows_common::histogram::{Histogram, Summary};
use narrows_common::prefetch::prefetch;
use narrows_common::{Duration, Time};

/// The widest shift (RFC 7323 section 2.3).
const MAX_SHIFT: u8 = 14;

/// When an ACK is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckDue {
    /// No ACK is due.
    No,
    /// Once a second segment arrives or the delayed-ACK timer expires.
    Later,
    /// Immediately.
    Now,
}

/// The receiving half; its fields are ordered by how often they are used.
#[derive(Debug)]
#[repr(C)]
pub struct Receiver {
    pub(super) due: AckDue,
    /// The window shift while scaling applies.
    pub(super) shift: u8,
    /// Congestion marks are echoed until the sender sets CWR (RFC 3168 section 6.1.3).
    pub(super) echoes_ce: bool,
    /// The largest payload received: the size of a full segment.
    full_segment_bytes: u32,
    /// The peer's timestamp to echo.
    pub(super) ts_recent: Option<u32>,
    /// The right edge last offered.
    offered_edge: u64,
    /// The acknowledgment number last sent (RFC 7323's Last.ACK.sent).
    pub(super) last_ack_sent: u64,
    /// Bytes received since the last ACK.
    unacked_bytes: u64,
    /// The data that the latest segment duplicated, until an ACK reports it (RFC 2883).
    duplicate: Option<(u64, u64)>,
    /// The acknowledgment of the data before the marks changed, and whether that data was marked
    /// (RFC 8257 section 3.2).
    pub(super) early_ack: Option<(u64, bool)>,
    pub(super) last_delivered_at: Option<Time>,
    pub(super) counters: ReceiverCounters,
    /// Delays of stamped segments; `None` before the first.
    one_way_delay: Option<Box<Histogram>>,
    /// Reduces ACKs that the return path marks.
    pub(super) ack_control: Option<Box<AckControl>>,
    pub(super) buffer: ReceiveBuffer,
}

impl Receiver {
    /// The state before the handshake.
    pub fn new(window_bytes: u64, keeps_content: bool, ack_control: bool) -> Self {
        let shift =
            (0..MAX_SHIFT).find(|shift| window_bytes >> shift <= 0xffff).unwrap_or(MAX_SHIFT);
        // A window that the shift can represent, at least the one requested.
        let capacity_bytes = window_bytes.next_multiple_of(1 << shift);
        Receiver {
            buffer: ReceiveBuffer::new(capacity_bytes, keeps_content),
            counters: ReceiverCounters::default(),
            one_way_delay: None,
            due: AckDue::No,
            shift,
            offered_edge: 0,
            last_ack_sent: 0,
            ts_recent: None,
            unacked_bytes: 0,
            full_segment_bytes: 1,
            early_ack: None,
            echoes_ce: false,
            last_delivered_at: None,
            ack_control: ack_control.then(Box::default),
            duplicate: None,
        }
    }

    /// The peer's SYN was accepted: its first byte is position 1.
    pub fn start(&mut self) {
        self.buffer.start(1);
        self.offered_edge = self.buffer.right_edge();
    }

    /// The right edge promised to the peer.
    pub fn offered_edge(&self) -> u64 {
        self.offered_edge
    }

    /// The window field of a segment that acknowledges up to `ack`; `shift` is 0 in a SYN.
    pub fn window(&mut self, mss: u32, shift: u8, ack: u64) -> u16 {
        let edge = self.buffer.right_edge();
        if self.is_update_due(mss) {
            self.offered_edge = edge;
        }
        let window = self.offered_edge.saturating_sub(ack) >> shift;
        window.min(0xffff) as u16
    }

    /// The window has opened enough for an update (RFC 9293 section 3.8.6.2.2).
    pub fn is_update_due(&self, mss: u32) -> bool {
        let opened = self.buffer.right_edge() - self.offered_edge;
        opened >= (self.buffer.capacity_bytes() / 2).min(mss.into()).max(1)
    }

    /// A segment arrived, marked or not, on a connection that echoes marks exactly (RFC 8257
    /// section 3.2). If the marks change, pending data is acknowledged first, with its own mark,
    /// then this segment.
    pub fn on_exact_mark(&mut self, is_marked: bool) {
        if is_marked != self.echoes_ce {
            if self.unacked_bytes > 0 {
                self.early_ack = Some((self.buffer.nxt(), self.echoes_ce));
            }
            self.echoes_ce = is_marked;
            self.due = AckDue::Now;
        }
    }

    /// A payload `[start, end)` without new data arrived.
    pub fn on_old_payload(&mut self, start: u64, end: u64) {
        self.duplicate = (start < end && end <= self.buffer.nxt()).then_some((start, end));
    }

    /// A stamped segment arrived with this one-way delay.
    #[inline(always)]
    pub fn on_stamp(&mut self, delay: Duration) {
        let new = || Box::new(Histogram::new(DELAY_PRECISION_BITS));
        self.one_way_delay.get_or_insert_with(new).add(delay);
    }

    /// Asks for the memory of what a segment touches: one arrives soon.
    pub fn prefetch(&self) {
        self.one_way_delay.as_deref().into_iter().for_each(prefetch);
        self.buffer.prefetch();
    }

    /// The same of what that points to.
    pub fn prefetch_parts(&self) {
        self.one_way_delay.as_deref().into_iter().for_each(Histogram::prefetch_bucket);
    }

    /// One-way delays of the stamped segments that arrived.
    pub fn one_way_delay(&self) -> Summary {
        self.one_way_delay.as_ref().map_or(Summary::default(), |histogram| histogram.summary())
    }

    /// A payload arrived at `start`. Returns whether it was in order with no gap after it.
    #[inline]
    pub fn on_payload(
        &mut self,
        now: Time,
        start: u64,
        payload: &Payload<'_>,
        delays_acks: bool,
    ) -> bool {
        let Arrival { in_order_bytes, is_irregular, duplicate } =
            self.buffer.insert(start, payload);
        self.duplicate = duplicate;
        self.full_segment_bytes = self.full_segment_bytes.max(payload.len());
        if in_order_bytes > 0 {
            self.counters.delivered_bytes += in_order_bytes;
            self.last_delivered_at = Some(now);
            self.unacked_bytes += in_order_bytes;
        }
        // RFC 5681 section 4.2: every second full segment; immediately if it is out of order or
        // fills a gap.
        let is_second = self.unacked_bytes >= 2 * u64::from(self.full_segment_bytes);
        if is_irregular || is_second || !delays_acks {
            self.due = AckDue::Now;
        } else if self.due == AckDue::No {
            self.due = AckDue::Later;
        }
        !is_irregular
    }

    /// True if there are blocks to report.
    pub fn has_sack_blocks(&self) -> bool {
        self.duplicate.is_some() || self.buffer.has_gap()
    }

    /// The SACK blocks to report, at most `limit`. With `tells_duplicates` the first one may be a
    /// duplicate (RFC 2883 section 4).
    pub fn sack_blocks(&self, peer_isn: u32, limit: usize, tells_duplicates: bool) -> SackBlocks {
        let duplicate = self.duplicate.filter(|_| tells_duplicates);
        let Some((left, right)) = duplicate else {
            return self.buffer.sack_blocks(peer_isn, limit);
        };
        let mut blocks = SackBlocks::default();
        blocks.push(seq::to_wire(peer_isn, left), seq::to_wire(peer_isn, right));
        for &(left, right) in self.buffer.sack_blocks(peer_isn, limit - 1).as_slice() {
            blocks.push(left, right);
        }
        blocks
    }

    /// A segment with an acknowledgment was sent.
    pub fn on_ack_sent(&mut self) {
        self.due = AckDue::No;
        if let Some(control) = &mut self.ack_control {
            control.on_ack_sent();
        }
        self.unacked_bytes = 0;
        self.duplicate = None;
        self.last_ack_sent = self.buffer.nxt();
    }
}
