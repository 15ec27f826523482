//! The program as machine code: Cranelift translates the interpreter's operations when the first
//! switch runs a program.
//!
//! `graph` finds the straight runs of operations and their successors. `translate` writes them in
//! Cranelift's intermediate representation; `known_bits` computes which bits of a slot can be set.
//! `compile` generates machine code for each phase. `host` is the border between native code and
//! Rust.
//!
//! Rare operations stay with the interpreter: native code calls its function for that operation, or
//! returns to it. Both leave the same state (`tests.rs`).

mod compile;
mod graph;
mod host;
mod known_bits;
mod phase;
#[cfg(test)]
mod tests;
mod translate;

pub(crate) use compile::MachineCode;
pub(crate) use phase::End;
