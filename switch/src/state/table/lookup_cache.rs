//! The rows of keys that were looked for of late, for machine code (`jit/tables.rs`), which compares
//! a key with that of one cell: the cell's number is the top of a product of the key (Fibonacci hashing,
//! Knuth, TAOCP vol. 3, section 6.4; the second factor is xxHash's PRIME64_2).

use super::NARROW_WORDS;

/// Bits of a cell's number.
pub(crate) const BITS: u32 = 10;
/// What a key's words are multiplied by.
pub(crate) const FACTORS: [u64; NARROW_WORDS] = [0x9e37_79b9_7f4a_7c15, 0xc2b2_ae3d_27d4_eb4f];

/// A key and its row.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub(crate) struct Cell {
    pub key: [u64; NARROW_WORDS],
    pub row: u64,
}

/// Cells, of which those without a key of late have the key 0.
#[derive(Debug)]
pub(super) struct Recent {
    cells: Vec<Cell>,
    /// Whether there are others among them.
    is_used: bool,
}

impl Recent {
    pub(super) fn new() -> Self {
        Recent { cells: vec![Cell::default(); 1 << BITS], is_used: false }
    }

    /// Where the cells are.
    pub(super) fn address(&self) -> usize {
        self.cells.as_ptr().expose_provenance()
    }

    pub(super) fn note(&mut self, key: [u64; NARROW_WORDS], row: u32) {
        let products = key.iter().zip(FACTORS).map(|(word, factor)| word.wrapping_mul(factor));
        let hash = products.fold(0, u64::wrapping_add);
        self.cells[(hash >> (u64::BITS - BITS)) as usize] = Cell { key, row: row.into() };
        self.is_used = true;
    }

    /// Keys find other rows now, that of 0 this one.
    pub(super) fn forget(&mut self, row: u32) {
        let zero = Cell { row: row.into(), ..Cell::default() };
        if self.is_used || self.cells[0] != zero {
            self.cells.fill(zero);
            self.is_used = false;
        }
    }
}
