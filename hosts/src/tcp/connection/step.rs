//! The decision of a step of segment input.

use crate::wire::segment::{Flags, Segment};

/// The decision of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Continue with the next step.
    Continue,
    /// The segment is handled.
    Stop,
}

/// The sequence numbers that a segment occupies (SEG.LEN).
pub(super) fn segment_len(segment: &Segment<'_>) -> u64 {
    u64::from(segment.payload.len())
        + u64::from(segment.flags.has(Flags::FIN))
        + u64::from(segment.flags.has(Flags::SYN))
}
