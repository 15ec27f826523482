//! How a phase of machine code ended.

use crate::interpreter::ResumePoint;

/// How a phase ended.
pub(crate) enum End {
    /// All its blocks have run.
    Done,
    /// All its blocks have run, and the packet's bytes are written.
    Written,
    /// The interpreter continues ingress or egress from here.
    At(ResumePoint),
}
