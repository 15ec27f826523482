//! What is to be done with a packet next.

use super::item::Item;
use crate::ir::Slot;
use narrows_common::Time;

/// A packet on its way to a queue.
#[derive(Debug)]
pub(crate) struct Offer {
    pub port: usize,
    pub priority: u64,
    pub frame_bytes: u64,
    pub item: Box<Item>,
}

/// A packet that comes to the parser once more: resubmitted or recirculated.
#[derive(Debug)]
pub(crate) struct Reentry {
    pub item: Box<Item>,
    /// Values that it keeps.
    pub kept: Vec<(Slot, u64)>,
    pub instance: u64,
}

/// What is to be done at one instant, in order.
#[derive(Debug)]
pub(crate) enum Work {
    Offer(Offer),
    Reentry(Reentry),
}

/// A packet on its way to another pipeline's queue.
#[derive(Debug)]
pub struct Handover {
    /// To which pipeline.
    pub pipeline: u16,
    /// When it is offered to its queue.
    pub at: Time,
    pub(crate) offer: Offer,
}
