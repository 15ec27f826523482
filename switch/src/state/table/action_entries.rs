//! What a look-up gives: a row of words for each entry, and the first for a miss. A row is where
//! the action begins and what follows it, the direct counter if there is one, and the
//! parameters. Machine code reads rows by their address (`jit/tables.rs`).

use crate::ir::op::Pc;
use crate::state::counter::Count;

/// The row of a miss.
pub(crate) const MISS: u32 = 0;

/// Where in a row the action and what follows it are.
pub(crate) const TARGET: usize = 0;
/// Where the counter is: packets, and bytes behind them.
pub(crate) const COUNTER: usize = 1;

/// Where in a row the parameters begin.
pub(crate) fn parameters_at(counted: bool) -> usize {
    if counted { COUNTER + 2 } else { COUNTER }
}

/// How many words a row has whose actions have at most so many limbs of parameters.
pub(crate) fn stride(parameters: usize, counted: bool) -> usize {
    parameters_at(counted) + parameters
}

/// An action's code (0 for none) and the node after it, in one word.
pub(crate) fn packed((code, next): (Pc, Pc)) -> u64 {
    u64::from(code) << 32 | u64::from(next)
}

#[derive(Clone, Debug)]
pub(super) struct Rows {
    words: Vec<u64>,
    stride: usize,
    counted: bool,
}

impl Rows {
    /// One row, of zeros, for actions with at most so many limbs of parameters.
    pub(super) fn new(parameters: usize, counted: bool) -> Self {
        let stride = stride(parameters, counted);
        Rows { words: vec![0; stride], stride, counted }
    }

    /// How many there are, that of a miss included.
    pub(super) fn len(&self) -> usize {
        self.words.len() / self.stride
    }

    /// Adds a row of zeros.
    pub(super) fn push(&mut self) -> u32 {
        let row = self.len();
        self.words.resize(self.words.len() + self.stride, 0);
        row as u32
    }

    #[inline]
    fn row(&self, row: u32) -> &[u64] {
        &self.words[row as usize * self.stride..][..self.stride]
    }

    /// A row, and those behind it.
    #[inline]
    pub(super) fn from(&mut self, row: u32) -> &mut [u64] {
        &mut self.words[row as usize * self.stride..]
    }

    fn row_mut(&mut self, row: u32) -> &mut [u64] {
        let stride = self.stride;
        &mut self.from(row)[..stride]
    }

    /// The action's code and the node after it.
    #[inline]
    pub(super) fn target(&self, row: u32) -> (Pc, Pc) {
        let packed = self.row(row)[TARGET];
        ((packed >> 32) as Pc, packed as Pc)
    }

    /// The parameters, with zeros behind them where other actions have more.
    #[inline]
    pub(super) fn parameters(&self, row: u32) -> &[u64] {
        &self.row(row)[parameters_at(self.counted)..]
    }

    /// Sets the action; the counter stays.
    pub(super) fn set(&mut self, row: u32, target: (Pc, Pc), parameters: &[u64]) {
        let at = parameters_at(self.counted);
        let row = self.row_mut(row);
        row[TARGET] = packed(target);
        row[at..].fill(0);
        row[at..at + parameters.len()].copy_from_slice(parameters);
    }

    /// Counts a packet where there is a counter.
    #[inline]
    pub(super) fn add(&mut self, row: u32, bytes: u64) {
        if self.counted {
            let mut count = self.count(row);
            count.note(bytes);
            self.set_count(row, count);
        }
    }

    pub(super) fn count(&self, row: u32) -> Count {
        if !self.counted {
            return Count::default();
        }
        let row = self.row(row);
        Count { packets: row[COUNTER], bytes: row[COUNTER + 1] }
    }

    pub(super) fn set_count(&mut self, row: u32, count: Count) {
        if self.counted {
            let row = self.row_mut(row);
            (row[COUNTER], row[COUNTER + 1]) = (count.packets, count.bytes);
        }
    }
}
