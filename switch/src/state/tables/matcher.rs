//! Finds the entry number of a key, by the data structure that suits the table's key.

use super::action_entries::MISS;
use super::entry_index::EntryIndex;
use super::key::{NARROW_WORDS, tuple_rank, words};
use super::lpm::Trie;
use super::range::{Bounds, Ranges};
use super::ternary::TupleSpace;
use crate::ir::{FieldMatch, KeyField, MatchKind, Table as Declared, normalise};
use rustc_hash::FxHashMap;

/// Keys of one field with up to this many bits are looked up in an array.
const ARRAY_BITS: u32 = 12;

/// Has an explicit tag, since reading a tag from a niche takes several steps.
#[derive(Clone, Debug)]
#[repr(u8)]
pub(super) enum Matcher {
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

/// Whether a table's keys are looked up in an array.
pub(crate) fn is_array(declared: &Declared) -> bool {
    let is_short = |key: &[KeyField]| matches!(key, [field] if field.width <= ARRAY_BITS);
    declared.kind == MatchKind::Exact && is_short(&declared.key)
}

/// Whether a table's keys are looked up in a trie.
pub(crate) fn is_trie(declared: &Declared) -> bool {
    declared.kind == MatchKind::Lpm && declared.key.len() == 1 && declared.words == 1
}

impl Matcher {
    /// An empty matcher for a table's key.
    pub(super) fn new(declared: &Declared) -> Self {
        let words = declared.words as usize;
        match declared.kind {
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
        }
    }

    #[inline]
    pub(super) fn find(&self, key: [u64; NARROW_WORDS], words: usize) -> u32 {
        match self {
            Matcher::Keyless => MISS,
            Matcher::Array(array) => array.get(key[0] as usize).copied().unwrap_or(MISS),
            Matcher::Exact1(map) => map.get(&key[0]).copied().unwrap_or(MISS),
            Matcher::Exact2(map) => map.get(&key).copied().unwrap_or(MISS),
            Matcher::Trie(trie) => trie.find(key[0]),
            _ => self.find_among_many(key, words),
        }
    }

    /// A separate function, since it needs more registers than the short cases.
    #[inline(never)]
    fn find_among_many(&self, key: [u64; NARROW_WORDS], words: usize) -> u32 {
        match self {
            Matcher::Tuples(tuples) => tuples.find(&key),
            Matcher::Ranges(ranges) => ranges.find(&key[..words]),
            _ => unreachable!("for wider keys"),
        }
    }

    /// Finds the entry of a key with more words.
    pub(super) fn find_wide(&self, key: &[u64]) -> u32 {
        match self {
            Matcher::Exact(map) => map.get(key).copied().unwrap_or(MISS),
            Matcher::WideTuples(tuples) => tuples.find(key),
            Matcher::Ranges(ranges) => ranges.find(key),
            _ => unreachable!("for narrower keys"),
        }
    }

    /// Adds an entry; of two with the same rank, the one with the lower `sequence` wins.
    pub(super) fn insert(
        &mut self,
        declared: &Declared,
        matches: &[FieldMatch],
        priority: i32,
        sequence: u64,
        number: u32,
    ) {
        let (value, keep, length) = words(declared, matches);
        match self {
            // Such a table only ever runs its default action.
            Matcher::Keyless => {}
            Matcher::Array(array) => array[value[0] as usize] = number,
            Matcher::Exact1(map) => drop(map.insert(value[0], number)),
            Matcher::Exact2(map) => drop(map.insert([value[0], value[1]], number)),
            Matcher::Exact(map) => drop(map.insert(value.into(), number)),
            Matcher::Trie(trie) => trie.insert(value[0], length, number),
            Matcher::Tuples(tuples) => {
                let rank = tuple_rank(declared, length, priority);
                tuples.insert(&value, &keep, rank, sequence, number);
            }
            Matcher::WideTuples(tuples) => {
                let rank = tuple_rank(declared, length, priority);
                tuples.insert(&value, &keep, rank, sequence, number);
            }
            Matcher::Ranges(ranges) => {
                let bounds = range_bounds(declared, matches);
                ranges.insert(value, keep, bounds, priority, sequence, number);
            }
        }
    }

    /// Removes an entry that `entry_index` no longer has.
    pub(super) fn remove(
        &mut self,
        declared: &Declared,
        matches: &[FieldMatch],
        priority: i32,
        number: u32,
        entry_index: &EntryIndex,
    ) {
        let (value, keep, length) = words(declared, matches);
        match self {
            Matcher::Keyless => {}
            Matcher::Array(array) => array[value[0] as usize] = MISS,
            Matcher::Exact1(map) => drop(map.remove(&value[0])),
            Matcher::Exact2(map) => drop(map.remove(&[value[0], value[1]])),
            Matcher::Exact(map) => drop(map.remove(value.as_slice())),
            Matcher::Trie(trie) => {
                let field = &declared.key[0];
                trie.remove(value[0], length, number, |shorter| {
                    let mut prefix = FieldMatch::Lpm(value.clone(), shorter);
                    normalise(&mut prefix, field.width);
                    entry_index.find(&[prefix], 0)
                });
            }
            Matcher::Tuples(tuples) => {
                tuples.remove(&value, &keep, tuple_rank(declared, length, priority), number);
            }
            Matcher::WideTuples(tuples) => {
                tuples.remove(&value, &keep, tuple_rank(declared, length, priority), number);
            }
            Matcher::Ranges(ranges) => ranges.remove(number),
        }
    }
}

/// The ranges of an entry, except those that match everything.
fn range_bounds(declared: &Declared, matches: &[FieldMatch]) -> Vec<Bounds> {
    let mut bounds = vec![];
    for (part, field) in matches.iter().zip(&declared.key) {
        if let FieldMatch::Range(from, to) = part {
            bounds.push(Bounds {
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
