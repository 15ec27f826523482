//! The program as machine code: Cranelift translates the interpreter's operations when a switch
//! receives its first packet.
//!
//! `graph` finds the straight runs of operations and their successors. `translate` writes them in
//! Cranelift's intermediate representation; `known_bits` computes which bits of a slot can be set.
//! `compile` generates machine code for each phase. `host` is the border between native code and
//! Rust.
//!
//! A large program leaves most of its tables empty, and most of its code runs only after a hit in
//! one of them. Code for the tables in use (`tables_in_use`) is several times smaller and compiles
//! as much faster. The first entry of another table replaces it by code for all tables.
//!
//! Rare operations stay with the interpreter: native code calls its function for that operation, or
//! returns to it. Both leave the same state (`tests.rs`).

mod compile;
mod graph;
mod host;
mod known_bits;
mod phase;
mod tables_in_use;
#[cfg(test)]
mod tests;
mod translate;

pub(crate) use compile::MachineCode;
pub(crate) use phase::End;
pub(crate) use tables_in_use::TablesInUse;
