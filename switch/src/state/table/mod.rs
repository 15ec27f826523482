//! Match-action tables while a switch runs. A matcher finds the number of a key's entry;
//! `action_entries` says what the entry does, `entry_index` what it matches.

pub(crate) mod action_entries;
mod entry_index;
mod idle;
pub(crate) mod lookup_cache;
mod lpm;
mod range;
mod ternary;

pub(crate) use idle::Idle;

use crate::ir::field_match::{FieldMatch, normalise, prefix_mask};
use crate::ir::op::{Pc, Slot};
use crate::ir::program::{KeyField, KeyLoad, MatchKind, Program, Table as Declared};
use crate::state::counter::Count;
use action_entries::{ActionEntries, MISS};
use entry_index::EntryIndex;
use lookup_cache::LookupCache;
use lpm::Trie;
pub(crate) use lpm::steps;
use range::Ranges;
use rustc_hash::FxHashMap;
use ternary::TupleSpace;

/// An entry as the control plane gave it.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub matches: Vec<FieldMatch>,
    pub priority: i32,
    pub action: u16,
    /// The parameters' limbs; zeros behind them where other actions have more.
    pub data: Vec<u64>,
}

/// Keys of up to this many words are looked up in place.
pub(crate) const NARROW_WORDS: usize = 2;
/// Keys of one field of up to this many bits are looked up in an array.
const ARRAY_BITS: u32 = 12;

/// With a tag of its own: one in a niche takes several steps to read.
#[derive(Clone, Debug)]
#[repr(u8)]
enum Matcher {
    /// No key: never hits.
    Keyless,
    Array(Vec<u32>),
    Exact1(FxHashMap<u64, u32>),
    Exact2(FxHashMap<[u64; 2], u32>),
    Exact(FxHashMap<Box<[u64]>, u32>),
    Trie(Trie),
    /// Keys of up to two words.
    Tuples(TupleSpace<[u64; 2]>),
    WideTuples(TupleSpace<Box<[u64]>>),
    Ranges(Ranges),
}

/// Why an entry can't be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    Exists,
    Full,
}

/// Whether a table's keys are looked up in an array.
pub(crate) fn is_array(declared: &Declared) -> bool {
    let is_short = |key: &[KeyField]| matches!(key, [field] if field.width <= ARRAY_BITS);
    declared.kind == MatchKind::Exact && is_short(&declared.key)
}

/// Whether a table's keys are looked up in a trie.
pub(crate) fn is_trie(declared: &Declared) -> bool {
    declared.kind == MatchKind::Lpm && declared.key.len() == 1 && declared.words == 1
}

/// Where machine code finds parts of a table: the array of action_entries by key, the trie's cells or those of
/// cached keys, if there are any, and the action entries; and the trie's number for all keys.
#[derive(Debug, Default)]
pub(crate) struct Addresses {
    pub cells: usize,
    pub action_entries: usize,
    pub any: usize,
}

/// A table's entries and the structure that finds them. It can't be copied, since a copy would
/// have other addresses.
#[derive(Debug)]
pub(crate) struct Table {
    pub addresses: Addresses,
    loads: Vec<KeyLoad>,
    /// Room for a key of more than two words.
    key: Box<[u64]>,
    matcher: Matcher,
    /// Where machine code does not know the matcher.
    lookup_cache: Option<LookupCache>,
    action_entries: ActionEntries,
    entry_index: EntryIndex,
    /// By number, where entries may have time-outs.
    idle: Vec<Idle>,
    /// The default action, if there is one.
    default: Option<u16>,
    nothing: Pc,
    free: Vec<u32>,
    max_size: usize,
    sequence: u64,
}

impl Table {
    pub(crate) fn new(program: &Program, declared: &Declared) -> Self {
        let words = declared.words as usize;
        let matcher = match declared.kind {
            _ if words == 0 => Matcher::Keyless,
            _ if is_array(declared) => Matcher::Array(vec![MISS; 1 << declared.key[0].width]),
            MatchKind::Exact if words == 1 => Matcher::Exact1(FxHashMap::default()),
            MatchKind::Exact if words == 2 => Matcher::Exact2(FxHashMap::default()),
            MatchKind::Exact => Matcher::Exact(FxHashMap::default()),
            _ if is_trie(declared) => {
                Matcher::Trie(Trie::new(declared.key[0].width, declared.max_size))
            }
            MatchKind::Lpm | MatchKind::Ternary if words <= 2 => {
                Matcher::Tuples(TupleSpace::default())
            }
            MatchKind::Lpm | MatchKind::Ternary => Matcher::WideTuples(TupleSpace::default()),
            MatchKind::Range => Matcher::Ranges(Ranges::default()),
        };
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
            // The first of two alike stays, as the first of two equal priorities wins.
            let _ = table.insert(program, declared, entry);
        }
        table.matches_changed();
        table
    }

    /// ActionEntries and cells that are added may move the others, and keys find others.
    fn matches_changed(&mut self) {
        if let Some(mut lookup_cache) = self.lookup_cache.take() {
            lookup_cache.forget(self.find([0; NARROW_WORDS]));
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

    /// Looks the key in `slots` up, counts the packet, and puts the parameters found at
    /// `parameters`. Returns the number, the action's code and the node after it.
    #[inline]
    pub(crate) fn apply(
        &mut self,
        slots: &mut [u64; 65_536],
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

    /// The number that a key of up to two words finds, for machine code, which has it at hand then.
    pub(crate) fn find_and_cache(&mut self, key: [u64; NARROW_WORDS]) -> u32 {
        let number = self.find(key);
        if let Some(lookup_cache) = &mut self.lookup_cache {
            lookup_cache.note(key, number);
        }
        number
    }

    #[inline]
    fn gather(&self, slots: &[u64; 65_536], key: &mut [u64]) {
        for load in &self.loads {
            key[load.word as usize] |= (slots[load.slot as usize] & load.mask) << load.shift;
        }
    }

    #[inline]
    fn find(&self, key: [u64; NARROW_WORDS]) -> u32 {
        match &self.matcher {
            Matcher::Keyless => MISS,
            Matcher::Array(array) => array.get(key[0] as usize).copied().unwrap_or(MISS),
            Matcher::Exact1(map) => map.get(&key[0]).copied().unwrap_or(MISS),
            Matcher::Exact2(map) => map.get(&key).copied().unwrap_or(MISS),
            Matcher::Trie(trie) => trie.find(key[0]),
            _ => self.find_among_many(key),
        }
    }

    /// Apart, since it takes more registers than what is short.
    #[inline(never)]
    fn find_among_many(&self, key: [u64; NARROW_WORDS]) -> u32 {
        match &self.matcher {
            Matcher::Tuples(tuples) => tuples.find(&key),
            Matcher::Ranges(ranges) => ranges.find(&key[..self.key.len()]),
            _ => unreachable!("for wider keys"),
        }
    }

    fn find_wide(&mut self, slots: &[u64; 65_536]) -> u32 {
        let mut key = core::mem::take(&mut self.key);
        key.fill(0);
        self.gather(slots, &mut key);
        let found = match &self.matcher {
            Matcher::Exact(map) => map.get(&*key).copied().unwrap_or(MISS),
            Matcher::WideTuples(tuples) => tuples.find(&key),
            Matcher::Ranges(ranges) => ranges.find(&key),
            _ => unreachable!("for narrower keys"),
        };
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

    pub(crate) fn position(&self, matches: &[FieldMatch], priority: i32) -> Option<u32> {
        self.entry_index.find(matches, priority)
    }

    /// Stores an entry, its matches normalised.
    pub(crate) fn insert(
        &mut self,
        program: &Program,
        declared: &Declared,
        mut entry: Entry,
    ) -> Result<u32, Refusal> {
        for (part, field) in entry.matches.iter_mut().zip(&declared.key) {
            normalise(part, field);
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
        self.place(declared, &entry, number);
        self.entry_index.insert(number, &entry.matches, entry.priority, entry.action);
        self.modify(program, declared, number, entry.action, &entry.data);
        self.matches_changed();
        Ok(number)
    }

    fn place(&mut self, declared: &Declared, entry: &Entry, i: u32) {
        let (value, keep, length) = words(declared, &entry.matches);
        self.sequence += 1;
        match &mut self.matcher {
            // Its default action is all that such a table ever runs.
            Matcher::Keyless => {}
            Matcher::Array(array) => array[value[0] as usize] = i,
            Matcher::Exact1(map) => drop(map.insert(value[0], i)),
            Matcher::Exact2(map) => drop(map.insert([value[0], value[1]], i)),
            Matcher::Exact(map) => drop(map.insert(value.into(), i)),
            Matcher::Trie(trie) => trie.insert(value[0], length, i),
            Matcher::Tuples(tuples) => {
                let rank = tuple_rank(declared, length, entry.priority);
                tuples.insert(&value, &keep, rank, self.sequence, i);
            }
            Matcher::WideTuples(tuples) => {
                let rank = tuple_rank(declared, length, entry.priority);
                tuples.insert(&value, &keep, rank, self.sequence, i);
            }
            Matcher::Ranges(ranges) => {
                let bounds = range_bounds(declared, &entry.matches);
                ranges.insert(value, keep, bounds, entry.priority, self.sequence, i);
            }
        }
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
        let (value, keep, length) = words(declared, &entry.matches);
        match &mut self.matcher {
            Matcher::Keyless => {}
            Matcher::Array(array) => array[value[0] as usize] = MISS,
            Matcher::Exact1(map) => drop(map.remove(&value[0])),
            Matcher::Exact2(map) => drop(map.remove(&[value[0], value[1]])),
            Matcher::Exact(map) => drop(map.remove(value.as_slice())),
            Matcher::Trie(trie) => {
                let (entry_index, field) = (&self.entry_index, &declared.key[0]);
                trie.remove(value[0], length, i, |shorter| {
                    let mut prefix = FieldMatch::Lpm(value.clone(), shorter);
                    normalise(&mut prefix, field);
                    entry_index.find(&[prefix], 0)
                });
            }
            Matcher::Tuples(tuples) => {
                tuples.remove(&value, &keep, tuple_rank(declared, length, entry.priority), i);
            }
            Matcher::WideTuples(tuples) => {
                tuples.remove(&value, &keep, tuple_rank(declared, length, entry.priority), i);
            }
            Matcher::Ranges(ranges) => ranges.remove(i),
        }
        self.matches_changed();
    }

    /// Every entry, in the order of its place.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (u32, Entry)> {
        self.entries_from(0)
    }

    /// The entries from a place on.
    pub(crate) fn entries_from(&self, place: u32) -> impl Iterator<Item = (u32, Entry)> {
        (place..self.action_entries.len() as u32).filter_map(|i| Some((i, self.entry(i)?)))
    }

    /// The entry in a place.
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

    /// Packets that found no entry.
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

/// Longest prefix first, or highest priority first.
fn tuple_rank(declared: &Declared, length: u32, priority: i32) -> i32 {
    if declared.kind == MatchKind::Lpm { length as i32 } else { priority }
}

/// The words of a match as the key has them, their mask, and the prefix length.
fn words(declared: &Declared, matches: &[FieldMatch]) -> (Vec<u64>, Vec<u64>, u32) {
    let count = declared.words as usize;
    let (mut value, mut keep, mut length) = (vec![0; count], vec![0; count], 0);
    for (part, field) in matches.iter().zip(&declared.key) {
        let all = prefix_mask(field.width, field.width);
        let (limbs, mask) = match part {
            FieldMatch::Exact(limbs) => (limbs, all),
            FieldMatch::Lpm(limbs, prefix) => {
                length = *prefix;
                (limbs, prefix_mask(field.width, *prefix))
            }
            FieldMatch::Ternary(limbs, mask) => (limbs, mask.clone()),
            // Compared apart.
            FieldMatch::Range(limbs, _) => (limbs, vec![0; limbs.len()]),
        };
        for (i, (&limb, &mask)) in limbs.iter().zip(&mask).enumerate() {
            let fixed = field.mask.as_ref().map_or(u64::MAX, |fixed| fixed[i]);
            let word = field.word as usize + i;
            value[word] |= (limb & mask & fixed) << field.shift;
            keep[word] |= (mask & fixed) << field.shift;
        }
    }
    (value, keep, length)
}

/// The ranges of an entry, those that hold everything left out.
fn range_bounds(declared: &Declared, matches: &[FieldMatch]) -> Vec<range::Bounds> {
    let mut bounds = vec![];
    for (part, field) in matches.iter().zip(&declared.key) {
        if let FieldMatch::Range(from, to) = part {
            bounds.push(range::Bounds {
                word: field.word,
                shift: field.shift,
                width: field.width,
                from: from.clone(),
                to: to.clone(),
            });
        }
    }
    bounds
}
