//! The units in which machine code runs.

use crate::interpreter::ResumePoint;

/// Blocks that machine code runs without a return.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    /// Parser, checksums, ingress.
    Arrive,
    /// Egress. Also [`Phase::Finish`], if egress drops nothing, clones nothing and moves no header.
    Depart,
    /// Checksums. Also writes the fields back, if no header has moved.
    Finish,
}

impl Phase {
    pub(crate) const ALL: [Phase; 3] = [Phase::Arrive, Phase::Depart, Phase::Finish];
}

/// How a phase ended.
pub(crate) enum End {
    /// All its blocks have run.
    Done,
    /// All its blocks have run, and the packet's bytes are written.
    Written,
    /// The interpreter continues ingress or egress from here.
    At(ResumePoint),
}
