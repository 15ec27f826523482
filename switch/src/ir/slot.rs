//! Slots of 64 bits hold header fields, metadata, temporaries, action parameters and constants.
//! Those below `internal::END` are the interpreter's own.

/// Index of a 64-bit slot.
pub(crate) type Slot = u16;

/// As many slots as a [`Slot`] can address, so that no index needs a check.
pub(crate) type Slots = [u64; 65_536];

/// A destination without a slot: the value is never read.
pub(crate) const NOWHERE: Slot = u16::MAX;

/// The interpreter's own slots, at the lowest indices.
pub(crate) mod internal {
    use super::Slot;
    /// Where look-ups of ingress ended in memory; 0 for none. Only machine code notes it.
    pub(crate) const LOOK_UPS: Slot = 0;
    /// The number of slots for that.
    pub(crate) const LOOK_UPS_KEPT: usize = 4;
    /// The parser's error code.
    pub(crate) const PARSER_ERROR: Slot = 4;
    /// 1 if a checksum is wrong.
    pub(crate) const CHECKSUM_ERROR: Slot = 5;
    /// The deparser's rank of the latest extracted header.
    pub(crate) const RANK: Slot = 6;
    /// 1 if an assertion failed or the program did not end.
    pub(crate) const ABORTED: Slot = 7;
    /// Six slots for the externs of the architecture.
    pub(crate) const ARCHITECTURE: Slot = 8;
    /// Frame length, updated as headers become valid and invalid.
    pub(crate) const LENGTH: Slot = 14;
    /// Byte offset of the payload: where the parser stopped.
    pub(crate) const PAYLOAD: Slot = 15;
    /// The frame's length on arrival, which counters and meters use.
    pub(crate) const ARRIVED: Slot = 16;
    /// 1 if a valid header has moved from where it was extracted.
    pub(crate) const MOVED: Slot = 17;
    /// The first slot after these.
    pub(crate) const END: Slot = 18;
}

/// The number of 64-bit limbs that hold `bits` bits.
pub(crate) fn limbs(bits: u32) -> u16 {
    bits.div_ceil(64).max(1) as u16
}

/// A mask of the low `bits` bits; all 64 for more.
pub(crate) fn mask(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1u64 << bits) - 1 }
}
