//! Match-action tables at run time. A matcher finds the number of a key's entry; `action_entries`
//! holds what the entry does, `entry_index` what it matches.

pub(crate) mod action_entries;
mod entry_index;
mod expiry;
mod idle;
mod key;
pub(crate) mod lookup_cache;
mod lpm;
mod matcher;
mod range;
mod table;
mod ternary;

pub(crate) use key::NARROW_WORDS;
pub(crate) use lpm::steps;
pub(crate) use matcher::{is_array, is_trie};
pub(crate) use table::{Addresses, Entry, Refusal, Table};
