//! Slots: 64 bits each, for header fields, metadata, temporaries, action parameters and
//! constants alike. Below `internal::END` are the interpreter's own.

/// Index of a 64-bit slot.
pub(crate) type Slot = u16;

/// As many slots as a [`Slot`] reaches, so that no index needs a check.
pub(crate) type Slots = [u64; 65_536];

/// A destination without a slot: nobody reads it.
pub(crate) const NOWHERE: Slot = u16::MAX;

/// The interpreter's own slots, at the bottom.
pub(crate) mod internal {
    use super::Slot;
    /// Frame length, kept up to date as headers come and go.
    pub(crate) const LENGTH: Slot = 0;
    /// How far the parser got: where the payload begins, in bytes.
    pub(crate) const PAYLOAD: Slot = 1;
    /// The parser's error code.
    pub(crate) const PARSER_ERROR: Slot = 2;
    /// 1 when an assertion failed or the program ran away.
    pub(crate) const ABORTED: Slot = 3;
    /// 1 when a checksum is wrong.
    pub(crate) const CHECKSUM_ERROR: Slot = 4;
    /// The frame's length as it arrived: what counters and meters count.
    pub(crate) const ARRIVED: Slot = 5;
    /// Six slots for the externs of the architecture.
    pub(crate) const ARCHITECTURE: Slot = 6;
    /// 1 when a valid header is no longer where it was extracted.
    pub(crate) const MOVED: Slot = 12;
    /// The deparser's rank of the header extracted last.
    pub(crate) const RANK: Slot = 13;
    /// The first slot that is none of these.
    pub(crate) const END: Slot = 16;
}

/// How many 64-bit limbs hold `bits` bits.
pub(crate) fn limbs(bits: u32) -> u16 {
    bits.div_ceil(64).max(1) as u16
}

/// The low `bits` bits set; all 64 for more.
pub(crate) fn mask(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1u64 << bits) - 1 }
}
