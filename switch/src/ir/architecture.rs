//! The requests of v1model's externs to the end of a pipeline, and v1model's constants.

use super::slot::{Slot, internal};

/// The value of `egress_spec` that means "drop".
pub(crate) const DROP_PORT: u64 = 511;

/// The clone session and [`CLONE_FLAG`].
pub(crate) const CLONE: Slot = internal::ARCHITECTURE;
/// The number of a clone's field list.
pub(crate) const CLONE_LIST: Slot = internal::ARCHITECTURE + 1;
/// The number of a digest's field list.
pub(crate) const DIGEST: Slot = internal::ARCHITECTURE + 2;
/// The number of a resubmission's field list.
pub(crate) const RESUBMIT: Slot = internal::ARCHITECTURE + 3;
/// The number of a recirculation's field list.
pub(crate) const RECIRCULATE: Slot = internal::ARCHITECTURE + 4;
/// [`TRUNCATE_NONE`] less the length to cut to; 0 for none.
pub(crate) const TRUNCATE: Slot = internal::ARCHITECTURE + 5;
/// Distinguishes session 0 from no session.
pub(crate) const CLONE_FLAG: u64 = 1 << 32;
/// Larger than any packet length.
pub(crate) const TRUNCATE_NONE: u64 = 1 << 40;
/// All of these slots.
pub(crate) const ALL: core::ops::Range<usize> = CLONE as usize..TRUNCATE as usize + 1;
