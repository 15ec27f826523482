//! A parser's selects and its errors.

use super::op::Pc;
use super::slot::Slot;

/// A parser's `select`: the parts of the key in slots, compared case by case.
#[derive(Clone, Debug)]
pub(crate) struct Select {
    pub key: Vec<Slot>,
    pub cases: Vec<Case>,
    pub default: Pc,
}

#[derive(Clone, Debug)]
pub(crate) enum Case {
    /// One `(value, mask)` for each part.
    Value {
        parts: Vec<(u64, u64)>,
        next: Pc,
    },
    ValueSet {
        set: u16,
        next: Pc,
    },
}

#[derive(Clone, Debug)]
pub(crate) struct ValueSet {
    pub name: String,
    /// Widths of the select's key elements, from its first use.
    pub parts: Vec<u32>,
}

/// The program's numbers for the core library's errors.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ParserErrors {
    pub packet_too_short: u64,
    pub stack_out_of_bounds: u64,
    pub header_too_short: u64,
    pub parser_timeout: u64,
    pub parser_invalid_argument: u64,
}
