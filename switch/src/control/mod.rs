//! The operations of a controller: on tables, registers, counters, meters, clone sessions,
//! multicast groups and value sets, by their names in the P4 program; on ports by number.
//!
//! A name may be the full name or its end after a dot, if that is unambiguous. Priorities follow
//! P4Runtime: the larger number wins. Values are strings, decimal or hexadecimal with `0x`.

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
