//! What machine code runs in one go.

use crate::interpreter::ResumePoint;

/// Blocks that machine code runs in one go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    /// Parser, checksums, ingress.
    Arrive,
    /// Egress; and [`Phase::Finish`] where egress drops nothing, clones nothing and moves no
    /// header.
    Depart,
    /// Checksums; and the fields written back, where no header has moved.
    Finish,
}

impl Phase {
    pub(crate) const ALL: [Phase; 3] = [Phase::Arrive, Phase::Depart, Phase::Finish];
}

/// How a phase ended.
pub(crate) enum End {
    /// Its blocks have run.
    Done,
    /// They have, and the packet's bytes are written.
    Written,
    /// The interpreter continues the block from here: ingress or egress.
    At(ResumePoint),
}
