//! Where a packet's look-ups ended in memory. A later packet of the same flow ends there too, so
//! the memory can be asked for ahead. With many flows it has left the nearest caches.

use crate::ir::internal::{LOOK_UPS, LOOK_UPS_KEPT};
use crate::switch::Switch;
use narrows_common::prefetch::Address;

/// Bytes of a cell or an entry that are read.
const BYTES: usize = 32;

/// Where the look-ups of a packet at ingress ended: the last few. None for the interpreter's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LookUps([u64; LOOK_UPS_KEPT]);

impl LookUps {
    /// Asks for the memory. It changes nothing, even if the memory has been freed.
    #[inline]
    pub fn prefetch(&self) {
        for address in self.0.iter().filter(|&&address| address != 0) {
            Address::new(*address as usize).prefetch(BYTES);
        }
    }
}

impl Switch {
    /// Where the look-ups of the last packet ended.
    #[inline]
    pub fn look_ups(&self) -> LookUps {
        LookUps(std::array::from_fn(|i| self.model.machine.slots[usize::from(LOOK_UPS) + i]))
    }
}
