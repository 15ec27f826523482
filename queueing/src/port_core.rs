//! The interface of a decision core: a port's queue, limit, marks and exact serializer in one,
//! outside of this crate. The traffic manager keeps the packets; the core sees lengths and times.

use crate::disciplines::{Discipline, MARK_REASONS, ecn_threshold};
use crate::ledger::QueueEvent;
use crate::limit::QueueLimit;
use crate::outcomes::MarkReason;
use crate::queued::{Backlog, QueuedPacket};
use narrows_common::{Bytes, Duration, LengthBasis, Rate, Time};

/// The thresholds of packets, bytes and picoseconds above which a packet is marked; `None` is not
/// in force. They are steps (RFC 8257 section 3.1).
pub type Thresholds = [Option<u64>; 3];

/// The settings of a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoreSettings {
    /// The serializer's rate.
    pub rate: Rate,
    /// The queue's limit.
    pub limit: QueueLimit,
    /// The bytes of a frame that count.
    pub counts: LengthBasis,
    /// What marks ECN-capable packets.
    pub thresholds: Thresholds,
}

/// A packet that a core dequeued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoreDequeued {
    /// The packet's number at the core, from 0, in arrival order.
    pub number: u64,
    /// The time.
    pub at: Time,
    /// The core marked it.
    pub is_marked: bool,
}

/// What the core's owner did with a dequeued packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is sent.
    Sent,
    /// It was dropped.
    Dropped,
    /// It goes another way and takes no line time.
    Diverted,
}

/// A row of a core's ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoreRow {
    /// The packet's number at the core.
    pub number: u64,
    /// The time.
    pub at: Time,
    /// The event.
    pub event: QueueEvent,
    /// The packet's bytes that count.
    pub length: Bytes,
    /// The queue after the event.
    pub depth: Backlog,
    /// How long a dequeued packet waited.
    pub sojourn: Duration,
}

/// A port's decisions. Times never go back. Each dequeued packet is finished before the next call.
///
/// A call panics if the core breaks its own rules.
pub trait PortCore: std::fmt::Debug + Send {
    /// Settings take effect; no departure is due by `at`.
    ///
    /// # Errors
    /// The setting that the core cannot have, and what it can. Its settings stay as they were.
    fn set(&mut self, at: Time, settings: &CoreSettings) -> Result<(), String>;

    /// A packet arrives; true if the core queued it.
    fn offer(&mut self, at: Time, frame_bytes: u64, takes_marks: bool) -> bool;

    /// When the next packet leaves; `None` for an empty queue.
    fn due(&self) -> Option<Time>;

    /// The next packet, if it leaves by `at`.
    fn dequeue(&mut self, at: Time) -> Option<CoreDequeued>;

    /// Ends the dequeued packet. Returns start and end of its transmission, if it is sent.
    fn finish(&mut self, fate: Fate, frame_bytes: u64) -> (Time, Time);

    /// The next row of the ledger.
    fn poll_row(&mut self) -> Option<CoreRow>;
}

/// The reasons of [`Thresholds`], in their order.
pub fn threshold_reasons() -> [MarkReason; 3] {
    [0, 1, 2].map(|n| {
        let name = ecn_threshold::RECORD.marks[n].name;
        let index = MARK_REASONS.iter().position(|reason| reason.name == name);
        MarkReason::at(index.expect("every record is in the list"))
    })
}

/// The thresholds of a discipline that a core has.
///
/// # Errors
/// What the core has instead.
pub(crate) fn thresholds_of<P: QueuedPacket>(
    discipline: &Discipline<P>,
) -> Result<Thresholds, &'static str> {
    match discipline {
        Discipline::DropTail(_) => Ok([None; 3]),
        Discipline::EcnThreshold(queue) => queue.steps().ok_or(
            "ecn-threshold has a ramp or a max-p below 1: a core has steps (ramp 1, max-p 1) only",
        ),
        _ => Err("a core has the disciplines drop-tail and ecn-threshold only"),
    }
}
