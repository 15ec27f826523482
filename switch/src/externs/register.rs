//! Register arrays of any width.

use crate::op::Slot;
use crate::program::{Register, limbs, mask};

/// The cells of one register array, least significant limb first.
#[derive(Clone, Debug)]
pub(crate) struct Cells {
    limbs: usize,
    /// What the top limb keeps.
    mask: u64,
    cells: Vec<u64>,
}

impl Cells {
    pub(crate) fn new(register: &Register) -> Self {
        let count = limbs(register.width);
        Cells {
            limbs: count as usize,
            mask: mask(register.width - u32::from(count - 1) * 64),
            cells: vec![0; register.size as usize * count as usize],
        }
    }

    /// Reads into slots; nothing happens beyond the array, as in bmv2.
    #[inline]
    pub(crate) fn read(&self, slots: &mut [u64; 65_536], d: Slot, i: u64, keep: u64) {
        if self.limbs == 1 {
            if let Some(&cell) = self.cells.get(i as usize) {
                slots[d as usize] = cell & keep;
            }
        } else if let Some(cell) = self.cell(i) {
            slots[d as usize..d as usize + cell.len()].copy_from_slice(cell);
        }
    }

    /// Writes from slots; nothing happens beyond the array.
    #[inline]
    pub(crate) fn write(&mut self, slots: &[u64; 65_536], i: u64, a: Slot) {
        if self.limbs == 1 {
            if let Some(cell) = self.cells.get_mut(i as usize) {
                *cell = slots[a as usize] & self.mask;
            }
        } else {
            let from = &slots[a as usize..a as usize + self.limbs];
            self.set(i, from);
        }
    }

    /// How many cells there are.
    pub(crate) fn len(&self) -> u64 {
        (self.cells.len() / self.limbs) as u64
    }

    /// One cell's limbs.
    pub(crate) fn cell(&self, i: u64) -> Option<&[u64]> {
        let start = usize::try_from(i).ok()?.checked_mul(self.limbs)?;
        self.cells.get(start..start.checked_add(self.limbs)?)
    }

    /// Sets one cell; false beyond the array.
    pub(crate) fn set(&mut self, i: u64, value: &[u64]) -> bool {
        let Some(start) = usize::try_from(i).ok().and_then(|i| i.checked_mul(self.limbs)) else {
            return false;
        };
        let Some(cell) = self.cells.get_mut(start..start.saturating_add(self.limbs)) else {
            return false;
        };
        cell.copy_from_slice(value);
        cell[self.limbs - 1] &= self.mask;
        true
    }
}
