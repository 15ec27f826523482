//! The order of v1model's blocks, the requests of its externs to the end of a pipeline, and its
//! constants.

use super::metadata::{MetadataField, StandardMetadata};
use super::program::Block;
use super::slot::{Slot, internal};

/// Blocks between which the architecture has nothing to do. Machine code runs them without a
/// return.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    /// Parser, checksum verification, ingress.
    Arrive,
    /// Egress. In machine code also [`Phase::Finish`], if egress drops nothing, clones nothing and
    /// moves no header.
    Depart,
    /// Checksum update; the deparser follows.
    Finish,
}

/// A step of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Runs a block.
    Run(Block),
    /// Stores an error of the blocks so far where the next block reads it.
    Tell(Error),
}

/// An error that one block finds and later blocks read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Error {
    /// The parser's.
    Parser,
    /// The checksum verification's.
    Checksum,
}

impl Error {
    /// Where a block leaves it, and the field in which the program reads it.
    pub(crate) fn source_and_field(self, standard: &StandardMetadata) -> (Slot, MetadataField) {
        match self {
            Error::Parser => (internal::PARSER_ERROR, standard.parser_error),
            Error::Checksum => (internal::CHECKSUM_ERROR, standard.checksum_error),
        }
    }
}

impl Phase {
    pub(crate) const ALL: [Phase; 3] = [Phase::Arrive, Phase::Depart, Phase::Finish];

    /// Its steps, in their order.
    pub(crate) const fn steps(self) -> &'static [Step] {
        match self {
            Phase::Arrive => &[
                Step::Run(Block::Parser),
                Step::Tell(Error::Parser),
                Step::Run(Block::Verify),
                Step::Tell(Error::Checksum),
                Step::Run(Block::Ingress),
            ],
            Phase::Depart => &[Step::Run(Block::Egress)],
            Phase::Finish => &[Step::Run(Block::Update)],
        }
    }
}

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
/// The first slot that travels with a packet from ingress to egress.
pub(crate) const BRIDGED_START: Slot = TRUNCATE;
/// Slots that are zero when egress starts: requests, and [`internal::ABORTED`].
pub(crate) const ZERO_AT_EGRESS: core::ops::Range<usize> =
    internal::ABORTED as usize..BRIDGED_START as usize;
/// All slots of externs.
pub(crate) const ALL: core::ops::Range<usize> = CLONE as usize..TRUNCATE as usize + 1;
