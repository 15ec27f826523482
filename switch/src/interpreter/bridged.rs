//! The slots that travel with a packet from ingress to egress.

use crate::ir::Slot;
use crate::ir::architecture::BRIDGED_START;

/// The slots that a packet carries, from [`BRIDGED_START`] on.
#[derive(Debug, Default)]
pub(crate) struct Bridged {
    pub extent: Extent,
    pub slots: Vec<u64>,
}

/// How many slots travel with a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Extent {
    /// None: egress runs immediately, so the machine still has them.
    #[default]
    InMachine,
    /// All slots of ingress that egress reads.
    Ingress,
    /// Those, all metadata of egress, and the headers that only egress makes valid.
    WithEgressHeaders,
}

impl Bridged {
    /// A slot that travels with the packet.
    pub(crate) fn get_mut(&mut self, slot: Slot) -> Option<&mut u64> {
        self.slots.get_mut(usize::from(slot.checked_sub(BRIDGED_START)?))
    }
}
