//! The pending work on a packet.

use super::item::Item;
use crate::ir::Slot;
use narrows_common::Time;

/// A resubmitted or recirculated packet that reenters the parser.
#[derive(Debug)]
pub(crate) struct Reentry {
    pub item: Item,
    /// The field values that it keeps.
    pub kept: Vec<(Slot, u64)>,
    pub instance: u64,
}

/// Pending work of one instant, in order.
#[derive(Debug)]
pub(crate) enum Work {
    /// A packet for the queue that its state names.
    Offer(Item),
    Reentry(Reentry),
}

/// A packet on its way to another pipeline's queue, which its state names.
#[derive(Debug)]
pub struct Handover {
    /// When to offer it to its queue.
    pub at: Time,
    /// The number of that pipeline.
    pub pipeline: u16,
    /// A number that the switch's owner may give it; 0 before.
    pub tag: u32,
    pub(crate) item: Item,
}
