//! The program as machine code: the same operations as the interpreter's, translated by
//! Cranelift when the first switch is made of a program.
//!
//! `graph` finds the straight runs of operations and what follows what. `translate` writes them in
//! Cranelift's intermediate representation; `known_bits` says which bits of a slot can be set.
//! `compile` makes machine code of each phase.
//! `host` is the border between native code and Rust. What is rare stays the interpreter's: native
//! code calls its function for that one operation, or returns to it. The two leave the same state
//! behind (`tests.rs`).

mod compile;
mod graph;
mod host;
mod known_bits;
mod phase;
#[cfg(test)]
mod tests;
mod translate;

pub(crate) use compile::MachineCode;
pub(crate) use phase::{End, Phase};
