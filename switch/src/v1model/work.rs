//! The pending work on a packet.

use super::item::Item;
use crate::ir::Slot;
use narrows_common::Time;

/// A packet on its way to a queue.
#[derive(Debug)]
pub(crate) struct Offer {
    pub port: usize,
    pub priority: u64,
    pub frame_bytes: u64,
    pub item: Item,
    /// The port is idle, and nothing else happens before the packet arrives there.
    pub is_idle: bool,
    /// A copy of the packet has gone to the same port.
    pub is_duplicate: bool,
}

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
    Offer(Offer),
    Reentry(Reentry),
}

/// A packet on its way to another pipeline's queue.
#[derive(Debug)]
pub struct Handover {
    /// The number of that pipeline.
    pub pipeline: u16,
    /// When to offer it to its queue.
    pub at: Time,
    pub(crate) offer: Offer,
}
