//! A cache of recent keys' entry numbers, for machine code (`jit/translate/tables.rs`).
//!
//! A key is compared with one cell. The top bits of a product of the key select that cell
//! (Fibonacci hashing, Knuth, TAOCP vol. 3, section 6.4; the second factor is xxHash's PRIME64_2).

use super::key::NARROW_WORDS;
use std::ops::RangeInclusive;

/// Cells for each entry of the table: keys of other packets may have the same cell.
const CELLS_PER_ENTRY: usize = 4;
/// The fewest and the most cells. The most are 768 KiB, a part of a second-level cache.
const CELLS: RangeInclusive<usize> = 1 << 10..=1 << 15;
/// The factors of a key's words.
pub(crate) const FACTORS: [u64; NARROW_WORDS] = [0x9e37_79b9_7f4a_7c15, 0xc2b2_ae3d_27d4_eb4f];

/// A key and its entry.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub(crate) struct Cell {
    pub key: [u64; NARROW_WORDS],
    pub entry: u64,
}

/// The cells; an unused one has the key 0.
#[derive(Debug)]
pub(super) struct LookupCache {
    /// A power of two of them.
    cells: Vec<Cell>,
    /// Whether any cell is in use.
    is_used: bool,
}

impl LookupCache {
    pub(super) fn new() -> Self {
        LookupCache { cells: vec![Cell::default(); *CELLS.start()], is_used: false }
    }

    /// Grows for a table with so many entries; then it is empty.
    pub(super) fn grow(&mut self, entries: usize) {
        let wanted = (CELLS_PER_ENTRY * entries).next_power_of_two().min(*CELLS.end());
        if wanted > self.cells.len() {
            *self = LookupCache { cells: vec![Cell::default(); wanted], is_used: false };
        }
    }

    /// How far a key's hash is shifted right for the number of its cell.
    pub(super) fn shift(&self) -> u32 {
        u64::BITS - self.cells.len().ilog2()
    }

    /// The address of the cells.
    pub(super) fn address(&self) -> usize {
        self.cells.as_ptr().expose_provenance()
    }

    pub(super) fn note(&mut self, key: [u64; NARROW_WORDS], entry: u32) {
        let products = key.iter().zip(FACTORS).map(|(word, factor)| word.wrapping_mul(factor));
        let hash = products.fold(0, u64::wrapping_add);
        let shift = self.shift();
        self.cells[(hash >> shift) as usize] = Cell { key, entry: entry.into() };
        self.is_used = true;
    }

    /// Clears the cache after a change of the table; the key 0 now finds `entry`.
    pub(super) fn forget(&mut self, entry: u32) {
        let zero = Cell { entry: entry.into(), ..Cell::default() };
        if self.is_used || self.cells[0] != zero {
            self.cells.fill(zero);
            self.is_used = false;
        }
    }
}
