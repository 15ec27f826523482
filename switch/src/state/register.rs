//! Register arrays of any width.

use crate::ir::{Register, Slot, Slots, limbs, mask};

/// The cells of all register arrays, array by array; least significant limb first.
#[derive(Clone, Debug)]
pub(crate) struct Registers {
    cells: Vec<u64>,
    arrays: Vec<Array>,
    /// The controller's last writes; empty unless `keep_written` was called.
    written: Vec<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Array {
    first: usize,
    count: usize,
    limbs: usize,
    /// The mask of the top limb.
    mask: u64,
}

impl Array {
    /// The range of a cell's limbs.
    #[inline]
    fn cell(self, i: u64) -> Option<core::ops::Range<usize>> {
        let i = usize::try_from(i).ok().filter(|&i| i < self.count)?;
        let start = self.first + i * self.limbs;
        Some(start..start + self.limbs)
    }
}

/// The offset of each array's first cell.
pub(crate) fn offsets(registers: &[Register]) -> impl Iterator<Item = usize> {
    registers.iter().scan(0, |next, register| {
        let first = *next;
        *next += register.size as usize * limbs(register.width) as usize;
        Some(first)
    })
}

impl Registers {
    pub(crate) fn new(registers: &[Register]) -> Self {
        let array = |(register, first): (&Register, usize)| {
            let limbs = limbs(register.width);
            Array {
                first,
                count: register.size as usize,
                limbs: limbs as usize,
                mask: mask(register.width - u32::from(limbs - 1) * 64),
            }
        };
        let arrays: Vec<Array> = registers.iter().zip(offsets(registers)).map(array).collect();
        let size = arrays.iter().map(|array| array.count * array.limbs).sum();
        Registers { cells: vec![0; size], arrays, written: vec![] }
    }

    /// Keeps a copy of the controller's writes, so that the program's changes can be computed.
    pub(crate) fn keep_written(&mut self) {
        self.written = self.cells.clone();
    }

    /// A controller sets one cell; false past the end of the array.
    pub(crate) fn put(&mut self, register: usize, i: u64, value: &[u64]) -> bool {
        let is_there = self.set(register, i, value);
        if let Some(cell) = self.arrays[register].cell(i)
            && let Some(written) = self.written.get_mut(cell.clone())
        {
            written.copy_from_slice(&self.cells[cell]);
        }
        is_there
    }

    /// Adds the program's changes of this cell since the last write to the limbs of `sum`.
    pub(crate) fn add_changes(&self, register: usize, i: u64, sum: &mut [u64]) {
        let array = self.arrays[register];
        let Some(cell) = array.cell(i) else { return };
        let (mut carry, mut borrow) = (false, false);
        for (limb, at) in sum.iter_mut().zip(cell) {
            let (added, over) = limb.overflowing_add(self.cells[at]);
            let (added, again) = added.overflowing_add(carry.into());
            carry = over | again;
            let (less, under) = added.overflowing_sub(self.written[at]);
            let (less, below) = less.overflowing_sub(borrow.into());
            borrow = under | below;
            *limb = less;
        }
        sum[array.limbs - 1] &= array.mask;
    }

    /// Reads a cell into slots; past the end of the array it has no effect, as in bmv2.
    #[inline]
    pub(crate) fn read(&self, register: u16, slots: &mut Slots, d: Slot, i: u64, keep: u64) {
        let Some(cell) = self.arrays[register as usize].cell(i) else { return };
        match &self.cells[cell] {
            [cell] => slots[d as usize] = cell & keep,
            cell => slots[d as usize..d as usize + cell.len()].copy_from_slice(cell),
        }
    }

    /// Writes a cell from slots; past the end of the array it has no effect.
    #[inline]
    pub(crate) fn write(&mut self, register: u16, slots: &Slots, i: u64, a: Slot) {
        let limbs = self.arrays[register as usize].limbs;
        self.set(register as usize, i, &slots[a as usize..a as usize + limbs]);
    }

    /// How many cells an array has.
    pub(crate) fn len(&self, register: usize) -> u64 {
        self.arrays[register].count as u64
    }

    /// One cell's limbs.
    pub(crate) fn cell(&self, register: usize, i: u64) -> Option<&[u64]> {
        self.cells.get(self.arrays[register].cell(i)?)
    }

    /// Sets one cell; false past the end of the array.
    pub(crate) fn set(&mut self, register: usize, i: u64, value: &[u64]) -> bool {
        let array = self.arrays[register];
        let Some(cell) = array.cell(i) else { return false };
        let cell = &mut self.cells[cell];
        cell.copy_from_slice(value);
        cell[array.limbs - 1] &= array.mask;
        true
    }

    /// The address of all cells, for machine code.
    pub(crate) fn as_mut_ptr(&mut self) -> *mut u64 {
        self.cells.as_mut_ptr()
    }
}
