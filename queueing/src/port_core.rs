//! The interface of a decision core: a port's queue, limit, marks and exact serializer in one,
//! outside of this crate. The traffic manager keeps the packets; the core sees lengths and times.

use crate::disciplines::codel::{self, CoreCoDel};
use crate::disciplines::{DROP_REASONS, Discipline, MARK_REASONS, ecn_threshold};
use crate::ledger::QueueEvent;
use crate::limit::QueueLimit;
use crate::outcomes::{DropReason, MarkReason, Reason};
use crate::queued::{Backlog, QueuedPacket};
use crate::record::Record;
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
    /// What the queue does besides.
    pub discipline: CoreDiscipline,
}

/// The discipline of a core.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CoreDiscipline {
    /// What marks ECN-capable packets. With CoDel the last one is its mark-above.
    pub thresholds: Thresholds,
    /// CoDel at the head of the queue.
    pub codel: Option<CoreCoDel>,
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

    /// The next packet, if it leaves by `at`. The discipline may have dropped others before it;
    /// their rows come first.
    fn dequeue(&mut self, at: Time) -> Option<CoreDequeued>;

    /// Ends the dequeued packet. Returns start and end of its transmission, if it is sent.
    fn finish(&mut self, fate: Fate, frame_bytes: u64) -> (Time, Time);

    /// The next row of the ledger.
    fn poll_row(&mut self) -> Option<CoreRow>;
}

/// Why a core marks and drops packets, in the ledger's words.
#[derive(Clone, Copy, Debug)]
pub struct CoreReasons {
    /// Those of [`Thresholds`], in their order.
    pub thresholds: [MarkReason; 3],
    /// CoDel's drop.
    pub codel_drop: DropReason,
    /// CoDel's mark in place of a drop.
    pub codel_mark: MarkReason,
    /// CoDel's mark above `mark-above`.
    pub codel_above: MarkReason,
}

/// The reasons of every core.
pub fn core_reasons() -> CoreReasons {
    let place = |all: &[Reason], own: &Reason| {
        let index = all.iter().position(|reason| reason.name == own.name);
        index.expect("every record is in the list")
    };
    let mark = |record: &Record, n: usize| MarkReason::at(place(&MARK_REASONS, &record.marks[n]));
    CoreReasons {
        thresholds: [0, 1, 2].map(|n| mark(&ecn_threshold::RECORD, n)),
        codel_drop: DropReason::at(place(&DROP_REASONS, &codel::RECORD.drops[0])),
        codel_mark: mark(&codel::RECORD, 0),
        codel_above: mark(&codel::RECORD, 1),
    }
}

/// A discipline as a core has it.
///
/// # Errors
/// What the core has instead.
pub(crate) fn discipline_of<P: QueuedPacket>(
    discipline: &Discipline<P>,
) -> Result<CoreDiscipline, &'static str> {
    match discipline {
        Discipline::DropTail(_) => Ok(CoreDiscipline::default()),
        Discipline::EcnThreshold(queue) => {
            let thresholds = queue.steps().ok_or(
                "ecn-threshold has a ramp or a max-p below 1: a core has steps (ramp 1, max-p 1) \
                 only",
            )?;
            Ok(CoreDiscipline { thresholds, codel: None })
        }
        Discipline::CoDel(queue) => {
            let (codel, above) = queue.for_core();
            let thresholds = [None, None, above.map(Duration::as_ps)];
            Ok(CoreDiscipline { thresholds, codel: Some(codel) })
        }
        _ => Err("a core has the disciplines drop-tail, ecn-threshold and codel only"),
    }
}
