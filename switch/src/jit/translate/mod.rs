//! Translates operations of a phase to Cranelift's intermediate representation.
//!
//! A slot that was read or written stays in a value until other code may have changed it. Where
//! paths join, the values common to all of them stay. Slots that the architecture reads are stored
//! to memory at once. A private slot (`KnownBits::is_private`), such as a temporary, is stored only
//! if an operation reads it from memory. A first attempt at translation finds those slots.

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
