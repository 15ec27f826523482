//! What a discipline did with packets besides storing and sending them, and why.

use crate::queued::Queued;
use schemars::JsonSchema;
use serde::Serialize;

/// A reason's name, and what it means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "QueueReason")]
pub struct Reason {
    /// The name in tables, summaries and gNMI paths.
    pub name: &'static str,
    /// What happened, in one sentence.
    pub meaning: &'static str,
}

/// Why a packet was dropped: an index into [`crate::DROP_REASONS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DropReason(u8);

impl DropReason {
    /// The queue was at its limit.
    pub const QUEUE_FULL: DropReason = DropReason(0);
    /// The owner of the traffic manager dropped the packet after its dequeue.
    pub const EGRESS_PROGRAM: DropReason = DropReason(1);

    /// The reason at an index.
    pub(crate) const fn at(index: usize) -> Self {
        assert!(index <= u8::MAX as usize, "more reasons than a byte numbers");
        DropReason(index as u8)
    }

    /// Its index in [`crate::DROP_REASONS`].
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The reasons that need no discipline; they come first in [`crate::DROP_REASONS`].
pub(crate) const COMMON_DROPS: [Reason; 2] = [
    Reason { name: "queue-full", meaning: "the queue was at its limit" },
    Reason { name: "egress-program", meaning: "the program's egress marked the packet to drop" },
];

/// A packet that a discipline dropped.
#[derive(Debug)]
pub(crate) struct Dropped<P> {
    pub packet: Queued<P>,
    pub reason: DropReason,
    /// It had been stored.
    pub was_stored: bool,
}

/// What a discipline did in one call besides storing and sending.
#[derive(Debug)]
pub struct Outcomes<P> {
    pub(crate) dropped: Vec<Dropped<P>>,
}

impl<P> Default for Outcomes<P> {
    fn default() -> Self {
        Outcomes { dropped: vec![] }
    }
}

impl<P> Outcomes<P> {
    /// Drops the packet that arrives.
    #[inline]
    pub fn refuse(&mut self, packet: Queued<P>, reason: DropReason) {
        self.dropped.push(Dropped { packet, reason, was_stored: false });
    }

    /// Drops a packet that was stored.
    pub fn discard(&mut self, packet: Queued<P>, reason: DropReason) {
        self.dropped.push(Dropped { packet, reason, was_stored: true });
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.dropped.is_empty()
    }
}
