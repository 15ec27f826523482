//! What a step of segment input decides.

use crate::wire::segment::{Flags, Segment};

/// What a step decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// On to the next.
    Continue,
    /// The segment is done with.
    Stop,
}

/// Sequence numbers that a segment takes (SEG.LEN).
pub(super) fn segment_len(segment: &Segment<'_>) -> u64 {
    u64::from(segment.payload.len())
        + u64::from(segment.flags.has(Flags::FIN))
        + u64::from(segment.flags.has(Flags::SYN))
}
