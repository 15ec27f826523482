//! What a look-up gives: some words for each entry, the first for a miss. They are where the
//! action begins and what follows it, the direct counter if there is one, and the parameters.
//! Machine code reads them by their address (`jit/translate/tables.rs`).

use crate::ir::Pc;
use crate::state::counter::Count;

/// The entry of a miss.
pub(crate) const MISS: u32 = 0;

/// Where in an entry the action and what follows it are.
pub(crate) const TARGET: usize = 0;
/// Where the counter is: packets, and bytes behind them.
pub(crate) const COUNTER: usize = 1;

/// Where in an entry the parameters begin.
pub(crate) fn parameters_at(counted: bool) -> usize {
    if counted { COUNTER + 2 } else { COUNTER }
}

/// How many words an entry has, for actions with up to `parameters` limbs.
pub(crate) fn stride(parameters: usize, counted: bool) -> usize {
    parameters_at(counted) + parameters
}

/// An action's code (0 for none) and the node after it, in one word.
pub(crate) fn packed((code, next): (Pc, Pc)) -> u64 {
    u64::from(code) << 32 | u64::from(next)
}

#[derive(Clone, Debug)]
pub(super) struct ActionEntries {
    words: Vec<u64>,
    stride: usize,
    counted: bool,
}

impl ActionEntries {
    /// The entry of a miss, of zeros, for actions with at most so many limbs of parameters.
    pub(super) fn new(parameters: usize, counted: bool) -> Self {
        let stride = stride(parameters, counted);
        ActionEntries { words: vec![0; stride], stride, counted }
    }

    /// How many there are, that of a miss included.
    pub(super) fn len(&self) -> usize {
        self.words.len() / self.stride
    }

    /// Adds an entry of zeros.
    pub(super) fn push(&mut self) -> u32 {
        let number = self.len();
        self.words.resize(self.words.len() + self.stride, 0);
        number as u32
    }

    #[inline]
    fn entry(&self, number: u32) -> &[u64] {
        &self.words[number as usize * self.stride..][..self.stride]
    }

    /// An entry, and those behind it.
    #[inline]
    pub(super) fn from(&mut self, number: u32) -> &mut [u64] {
        &mut self.words[number as usize * self.stride..]
    }

    fn entry_mut(&mut self, number: u32) -> &mut [u64] {
        let stride = self.stride;
        &mut self.from(number)[..stride]
    }

    /// The action's code and the node after it.
    #[inline]
    pub(super) fn target(&self, number: u32) -> (Pc, Pc) {
        let packed = self.entry(number)[TARGET];
        ((packed >> 32) as Pc, packed as Pc)
    }

    /// The parameters, with zeros behind them where other actions have more.
    #[inline]
    pub(super) fn parameters(&self, number: u32) -> &[u64] {
        &self.entry(number)[parameters_at(self.counted)..]
    }

    /// Sets the action; the counter stays.
    pub(super) fn set(&mut self, number: u32, target: (Pc, Pc), parameters: &[u64]) {
        let at = parameters_at(self.counted);
        let entry = self.entry_mut(number);
        entry[TARGET] = packed(target);
        entry[at..].fill(0);
        entry[at..at + parameters.len()].copy_from_slice(parameters);
    }

    /// Counts a packet where there is a counter.
    #[inline]
    pub(super) fn add(&mut self, number: u32, bytes: u64) {
        if self.counted {
            let mut count = self.count(number);
            count.note(bytes);
            self.set_count(number, count);
        }
    }

    pub(super) fn count(&self, number: u32) -> Count {
        if !self.counted {
            return Count::default();
        }
        let entry = self.entry(number);
        Count { packets: entry[COUNTER], bytes: entry[COUNTER + 1] }
    }

    pub(super) fn set_count(&mut self, number: u32, count: Count) {
        if self.counted {
            let entry = self.entry_mut(number);
            (entry[COUNTER], entry[COUNTER + 1]) = (count.packets, count.bytes);
        }
    }
}
