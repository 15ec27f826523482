//! Operations of a phase to Cranelift's intermediate representation.
//!
//! A slot that was read or written is kept as a value until something may have changed it behind
//! the code's back; where paths meet, what they agree on is kept. What the architecture reads is
//! written to memory at once. A private slot (`KnownBits::is_private`), such as a temporary, is in
//! memory only where an operation looks for it there. A first attempt at translation finds out
//! which slots those are.

mod between_blocks;
mod compute;
mod deparse;
mod externs;
mod extract;
mod jumps;
mod known;
mod slots;
mod stored;
mod tables;
mod translator;
mod validity;

pub(super) use stored::Stored;
pub(super) use translator::Translator;
