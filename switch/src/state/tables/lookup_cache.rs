//! A cache of recent keys' entry numbers, for machine code (`jit/translate/tables.rs`).
//!
//! A key is compared with one cell. The top bits of a product of the key select that cell
//! (Fibonacci hashing, Knuth, TAOCP vol. 3, section 6.4; the second factor is xxHash's PRIME64_2).

use super::key::NARROW_WORDS;

/// Bits of a cell's number.
pub(crate) const BITS: u32 = 10;
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
    cells: Vec<Cell>,
    /// Whether any cell is in use.
    is_used: bool,
}

impl LookupCache {
    pub(super) fn new() -> Self {
        LookupCache { cells: vec![Cell::default(); 1 << BITS], is_used: false }
    }

    /// The address of the cells.
    pub(super) fn address(&self) -> usize {
        self.cells.as_ptr().expose_provenance()
    }

    pub(super) fn note(&mut self, key: [u64; NARROW_WORDS], entry: u32) {
        let products = key.iter().zip(FACTORS).map(|(word, factor)| word.wrapping_mul(factor));
        let hash = products.fold(0, u64::wrapping_add);
        self.cells[(hash >> (u64::BITS - BITS)) as usize] = Cell { key, entry: entry.into() };
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
