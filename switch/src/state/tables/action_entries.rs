//! The result of a look-up: a few words for each entry, the first entry for a miss. They hold the
//! action's code and the node after it, the direct counter if there is one, and the parameters.
//! Machine code reads them by address (`jit/translate/tables.rs`).

use crate::ir::Pc;
use crate::state::counter::Count;

/// The entry of a miss.
pub(crate) const MISS: u32 = 0;

/// Offset in an entry of the action's code and the node after it.
pub(crate) const TARGET: usize = 0;
/// Offset of the counter: packets, then bytes.
pub(crate) const COUNTER: usize = 1;

/// Offset of the parameters in an entry.
pub(crate) fn parameters_at(counted: bool) -> usize {
    if counted { COUNTER + 2 } else { COUNTER }
}

/// Words per entry, for actions with up to `parameters` limbs.
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
    /// A zeroed entry for a miss, for actions with at most this many limbs of parameters.
    pub(super) fn new(parameters: usize, counted: bool) -> Self {
        let stride = stride(parameters, counted);
        ActionEntries { words: vec![0; stride], stride, counted }
    }

    /// The number of entries, including the miss.
    pub(super) fn len(&self) -> usize {
        self.words.len() / self.stride
    }

    /// Appends a zeroed entry.
    pub(super) fn push(&mut self) -> u32 {
        let number = self.len();
        self.words.resize(self.words.len() + self.stride, 0);
        number as u32
    }

    #[inline]
    fn entry(&self, number: u32) -> &[u64] {
        &self.words[number as usize * self.stride..][..self.stride]
    }

    /// The words of an entry and of all later ones.
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

    /// The parameters, padded with zeros to the most that an action has.
    #[inline]
    pub(super) fn parameters(&self, number: u32) -> &[u64] {
        &self.entry(number)[parameters_at(self.counted)..]
    }

    /// Sets the action; the counter keeps its value.
    pub(super) fn set(&mut self, number: u32, target: (Pc, Pc), parameters: &[u64]) {
        let at = parameters_at(self.counted);
        let entry = self.entry_mut(number);
        entry[TARGET] = packed(target);
        entry[at..].fill(0);
        entry[at..at + parameters.len()].copy_from_slice(parameters);
    }

    /// Counts a packet if there is a counter.
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
