//! Hashes and checksums: their inputs and their destinations.

use super::hash::Algorithm;
use super::slot::Slot;

/// A checksum that the parser verifies or the deparser updates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Checksum {
    /// Validity slot of the header that holds it.
    pub valid: Slot,
    pub target: Slot,
    pub mask: u64,
    pub calculation: u16,
}

#[derive(Clone, Debug)]
pub(crate) struct Calculation {
    pub algorithm: Algorithm,
    pub inputs: Vec<Input>,
    pub payload: bool,
    /// Set if the whole calculation is a one's complement sum over one header's fields.
    pub sum: Option<FieldSum>,
    /// The inputs are fields and constants of 128 bits together at most, each of 64 at most.
    pub is_short: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Input {
    /// Skipped while its header is invalid; metadata has no header.
    Field {
        header: Option<u16>,
        slot: Slot,
        width: u32,
    },
    Varbit {
        header: u16,
    },
    Header {
        header: u16,
    },
    Constant {
        slot: Slot,
        width: u32,
    },
}

/// A one's complement sum as arithmetic: each field shifted to its place in a 16-bit word.
#[derive(Clone, Debug)]
pub(crate) struct FieldSum {
    pub header: u16,
    pub fields: Vec<(Slot, u8)>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct HashCall {
    pub d: Slot,
    pub mask: u64,
    pub calculation: u16,
    pub base: Slot,
    pub size: Slot,
}
