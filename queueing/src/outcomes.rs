//! The packets that a discipline dropped, and why.

use crate::queued::{Label, Queued};
use schemars::JsonSchema;
use serde::Serialize;

/// A reason's name and meaning.
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

/// Why a packet was marked: an index into [`crate::MARK_REASONS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MarkReason(u8);

impl MarkReason {
    /// The owner of the traffic manager marked the packet after its dequeue.
    pub const EGRESS_PROGRAM: MarkReason = MarkReason(0);

    /// The reason at an index.
    pub(crate) const fn at(index: usize) -> Self {
        assert!(index <= u8::MAX as usize, "more reasons than a byte numbers");
        MarkReason(index as u8)
    }

    /// Its index in [`crate::MARK_REASONS`].
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

/// The reason that needs no discipline; it comes first in [`crate::MARK_REASONS`].
pub(crate) const COMMON_MARKS: [Reason; 1] =
    [Reason { name: "egress-program", meaning: "the program's egress marked the packet" }];

/// A packet that a discipline dropped.
#[derive(Debug)]
pub(crate) struct Dropped<P> {
    pub packet: Queued<P>,
    pub reason: DropReason,
    /// True if it had been stored.
    pub was_stored: bool,
}

/// What a discipline did with a packet besides storing and sending.
#[derive(Debug)]
pub(crate) enum Outcome<P> {
    Dropped(Dropped<P>),
    Marked(Label, MarkReason),
}

/// What a discipline did in one call besides storing and sending, in the order in which it did.
#[derive(Debug)]
pub struct Outcomes<P> {
    pub(crate) all: Vec<Outcome<P>>,
}

impl<P> Default for Outcomes<P> {
    fn default() -> Self {
        Outcomes { all: vec![] }
    }
}

impl<P> Outcomes<P> {
    /// Drops the arriving packet.
    #[inline]
    pub fn refuse(&mut self, packet: Queued<P>, reason: DropReason) {
        self.all.push(Outcome::Dropped(Dropped { packet, reason, was_stored: false }));
    }

    /// Drops a packet that was stored.
    pub fn discard(&mut self, packet: Queued<P>, reason: DropReason) {
        self.all.push(Outcome::Dropped(Dropped { packet, reason, was_stored: true }));
    }

    /// Marks a packet that is stored or about to be sent: it leaves with the codepoint for
    /// congestion experienced. A packet that has been marked here already stays as it is.
    pub fn mark(&mut self, packet: &mut Queued<P>, reason: MarkReason) {
        if !packet.is_marked {
            packet.is_marked = true;
            self.all.push(Outcome::Marked(packet.label, reason));
        }
    }

    /// True when the packet of this number was dropped without having been stored.
    #[inline]
    pub(crate) fn has_refused(&self, number: u64) -> bool {
        self.all.iter().any(|outcome| match outcome {
            Outcome::Dropped(one) => !one.was_stored && one.packet.label.number == number,
            Outcome::Marked(..) => false,
        })
    }

    /// Packets that a discipline refused had been stored in the queue before its own.
    pub(crate) fn were_stored(&mut self) {
        for outcome in &mut self.all {
            if let Outcome::Dropped(one) = outcome {
                one.was_stored = true;
            }
        }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}
