//! What a controller may do: tables, registers, counters, meters, clone sessions, multicast
//! groups and value sets, by the names of the P4 program; ports by their numbers.
//!
//! A name may be given in full or as the end of it after a dot, if only one object ends so.
//! Priorities are P4Runtime's: the larger number wins. Values are strings, decimal or
//! hexadecimal with `0x`.

mod actions;
mod cells;
mod entries;
mod entry;
mod error;
mod idle;
mod matches;
mod names;
mod ports;
mod profiles;
mod replication;
mod value_sets;

pub use entries::CountedEntry;
pub use entry::{DefaultAction, Match, TableEntry};
pub use error::ControlError;
pub use ports::ControlOperation;
pub use profiles::{ProfileGroup, ProfileMember};
