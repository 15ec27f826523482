//! A table: its entries, and the operations of packets and controllers on it.

use super::action_entries::{ActionEntries, MISS};
use super::entry_index::EntryIndex;
use super::idle::Idle;
use super::key::NARROW_WORDS;
use super::lookup_cache::LookupCache;
use super::matcher::Matcher;
use crate::ir::{FieldMatch, KeyLoad, Pc, Program, Slot, Slots, Table as Declared, normalise};
use crate::state::counter::Count;

/// An entry as the control plane gave it.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub matches: Vec<FieldMatch>,
    pub priority: i32,
    pub action: u16,
    /// The parameters' limbs, padded with zeros to the most that an action has.
    pub data: Vec<u64>,
}

/// Why an entry can't be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    Exists,
    Full,
}

/// Addresses of a table's parts, for machine code. `cells` are the array's entry numbers, the
/// trie's cells or the look-up cache's; `any` is the entry of the trie's prefix of length 0;
/// `shift` is that of the look-up cache.
#[derive(Debug, Default)]
pub(crate) struct Addresses {
    pub cells: usize,
    pub action_entries: usize,
    pub any: usize,
    pub shift: usize,
}

/// A table's entries and the data structure that finds them. It is not `Clone`, because a copy
/// would have other addresses.
#[derive(Debug)]
pub(crate) struct Table {
    pub addresses: Addresses,
    loads: Vec<KeyLoad>,
    /// Buffer for a key of more than two words.
    key: Box<[u64]>,
    matcher: Matcher,
    /// For matchers without machine code.
    lookup_cache: Option<LookupCache>,
    action_entries: ActionEntries,
    pub(super) entry_index: EntryIndex,
    /// By entry number, if entries may have time-outs.
    pub(super) idle: Vec<Idle>,
    /// The default action, if there is one.
    default: Option<u16>,
    /// False until the first entry, and the first default action that is not the program's.
    in_use: bool,
    nothing: Pc,
    free: Vec<u32>,
    max_size: usize,
    sequence: u64,
}

impl Table {
    pub(crate) fn new(program: &Program, declared: &Declared) -> Self {
        let words = declared.words as usize;
        let matcher = Matcher::new(declared);
        let is_known = matches!(matcher, Matcher::Keyless | Matcher::Array(_) | Matcher::Trie(_));
        let mut table = Table {
            addresses: Addresses::default(),
            loads: declared.loads.clone(),
            key: vec![0; words].into(),
            matcher,
            lookup_cache: (!is_known && words <= NARROW_WORDS).then(LookupCache::new),
            action_entries: ActionEntries::new(declared.stride as usize, declared.counted),
            entry_index: EntryIndex::new(&declared.key),
            idle: vec![],
            default: None,
            in_use: false,
            nothing: declared.after_nothing(),
            free: vec![],
            max_size: usize::try_from(declared.max_size).unwrap_or(usize::MAX),
            sequence: 0,
        };
        table.set_default(program, declared, declared.default.as_ref());
        for entry in declared.entries.iter().flatten() {
            let entry = Entry {
                matches: entry.matches.clone(),
                priority: entry.priority,
                action: entry.action,
                data: entry.data.clone(),
            };
            // Of two equal entries the first one stays, as with equal priorities.
            let _ = table.insert(program, declared, entry);
        }
        table.matches_changed();
        table
    }

    /// Updates the addresses and empties the look-up cache: an added entry or cell may move the
    /// others, and keys may match other entries.
    fn matches_changed(&mut self) {
        if let Some(mut lookup_cache) = self.lookup_cache.take() {
            lookup_cache.grow(self.len());
            lookup_cache.forget(self.find([0; NARROW_WORDS]));
            self.addresses.shift = lookup_cache.shift() as usize;
            self.lookup_cache = Some(lookup_cache);
        }
        (self.addresses.cells, self.addresses.any) = match &self.matcher {
            Matcher::Array(array) => (array.as_ptr().expose_provenance(), 0),
            Matcher::Trie(trie) => {
                let (cells, any) = trie.parts();
                (cells, any as usize)
            }
            _ => (self.lookup_cache.as_ref().map_or(0, LookupCache::address), 0),
        };
        self.addresses.action_entries =
            self.action_entries.from(MISS).as_mut_ptr().expose_provenance();
    }

    /// Looks up the key in `slots`, counts the packet, and stores the parameters at `parameters`.
    /// Returns the entry number, the action's code and the node after it.
    #[inline]
    pub(crate) fn apply(
        &mut self,
        slots: &mut Slots,
        parameters: Slot,
        bytes: u64,
    ) -> (u32, Pc, Pc) {
        let number = if self.key.len() <= NARROW_WORDS {
            let mut key = [0; NARROW_WORDS];
            self.gather(slots, &mut key);
            self.find(key)
        } else {
            self.find_wide(slots)
        };
        self.action_entries.add(number, bytes);
        let found = self.action_entries.parameters(number);
        slots[parameters as usize..][..found.len()].copy_from_slice(found);
        let (code, next) = self.action_entries.target(number);
        (number, code, next)
    }

    /// The entry number of a key, which the look-up cache keeps for machine code.
    pub(crate) fn find_and_cache(&mut self, key: [u64; NARROW_WORDS]) -> u32 {
        let number = self.find(key);
        if let Some(lookup_cache) = &mut self.lookup_cache {
            lookup_cache.note(key, number);
        }
        number
    }

    #[inline]
    fn gather(&self, slots: &Slots, key: &mut [u64]) {
        for load in &self.loads {
            key[load.word as usize] |= (slots[load.slot as usize] & load.mask) << load.shift;
        }
    }

    #[inline]
    fn find(&self, key: [u64; NARROW_WORDS]) -> u32 {
        self.matcher.find(key, self.key.len())
    }

    fn find_wide(&mut self, slots: &Slots) -> u32 {
        let mut key = core::mem::take(&mut self.key);
        key.fill(0);
        self.gather(slots, &mut key);
        let found = self.matcher.find_wide(&key);
        self.key = key;
        found
    }

    pub(crate) fn set_default(
        &mut self,
        program: &Program,
        declared: &Declared,
        default: Option<&(u16, Vec<u64>)>,
    ) {
        self.default = default.map(|(action, _)| *action);
        self.in_use |= self.default != declared.default.as_ref().map(|(action, _)| *action);
        match default {
            None => self.action_entries.set(MISS, (0, self.nothing), &[]),
            Some((action, data)) => {
                let code = program.actions[*action as usize].code;
                self.action_entries.set(MISS, (code, declared.after(*action, false)), data);
            }
        }
    }

    /// The default action and its parameters.
    pub(crate) fn default_action(&self) -> Option<(u16, &[u64])> {
        Some((self.default?, self.action_entries.parameters(MISS)))
    }

    /// True once it has had an entry, or a default action that is not the program's.
    pub(crate) fn is_in_use(&self) -> bool {
        self.in_use
    }

    /// The number of entries.
    pub(crate) fn len(&self) -> usize {
        self.entry_index.len()
    }

    pub(crate) fn position(&self, matches: &[FieldMatch], priority: i32) -> Option<u32> {
        self.entry_index.find(matches, priority)
    }

    /// Stores an entry with normalised matches.
    pub(crate) fn insert(
        &mut self,
        program: &Program,
        declared: &Declared,
        mut entry: Entry,
    ) -> Result<u32, Refusal> {
        for (part, field) in entry.matches.iter_mut().zip(&declared.key) {
            normalise(part, field.width);
        }
        if self.position(&entry.matches, entry.priority).is_some() {
            return Err(Refusal::Exists);
        }
        if self.entry_index.len() >= self.max_size.max(1) {
            return Err(Refusal::Full);
        }
        let number = self.free.pop().unwrap_or_else(|| self.action_entries.push());
        self.action_entries.set_count(number, Count::default());
        if declared.idle {
            self.idle.resize(self.action_entries.len(), Idle::default());
            self.idle[number as usize] = Idle::default();
        }
        self.sequence += 1;
        let (matches, sequence) = (&entry.matches, self.sequence);
        self.matcher.insert(declared, matches, entry.priority, sequence, number);
        self.entry_index.insert(number, &entry.matches, entry.priority, entry.action);
        self.modify(program, declared, number, entry.action, &entry.data);
        self.matches_changed();
        self.in_use = true;
        Ok(number)
    }

    /// Replaces the action of an entry.
    pub(crate) fn modify(
        &mut self,
        program: &Program,
        declared: &Declared,
        i: u32,
        action: u16,
        data: &[u64],
    ) {
        let code = program.actions[action as usize].code;
        self.action_entries.set(i, (code, declared.after(action, true)), data);
        self.entry_index.set_action(i, action);
    }

    pub(crate) fn remove(&mut self, declared: &Declared, i: u32) {
        let Some(entry) = self.entry(i) else { return };
        self.entry_index.remove(i);
        self.free.push(i);
        let index = &self.entry_index;
        self.matcher.remove(declared, &entry.matches, entry.priority, i, index);
        self.matches_changed();
    }

    /// The entries from a number on, in number order.
    pub(crate) fn entries_from(&self, first: u32) -> impl Iterator<Item = (u32, Entry)> {
        (first..self.action_entries.len() as u32).filter_map(|i| Some((i, self.entry(i)?)))
    }

    /// The entry of a number.
    pub(crate) fn entry(&self, i: u32) -> Option<Entry> {
        if !self.entry_index.is_taken(i) {
            return None;
        }
        let (matches, priority, action) = self.entry_index.entry(i);
        Some(Entry { matches, priority, action, data: self.action_entries.parameters(i).to_vec() })
    }

    pub(crate) fn count(&self, i: u32) -> Count {
        self.action_entries.count(i)
    }

    /// Packets that matched no entry.
    pub(crate) fn missed(&self) -> Count {
        self.action_entries.count(MISS)
    }

    pub(crate) fn set_missed(&mut self, count: Count) {
        self.action_entries.set_count(MISS, count);
    }

    pub(crate) fn set_count(&mut self, i: u32, count: Count) {
        self.action_entries.set_count(i, count);
    }
}
