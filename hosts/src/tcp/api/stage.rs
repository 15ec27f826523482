//! What a sender is doing about loss.

use narrows_common::record::Phase;

/// What a sender is doing about loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Nothing is known to be lost.
    Open,
    /// Repairing without a time-out.
    Recovery,
    /// Repairing after a time-out.
    Loss,
}

impl Stage {
    /// The phase that a flow's record shows.
    pub fn phase(self, cwnd_bytes: u64, ssthresh_bytes: u64) -> Phase {
        match self {
            Stage::Recovery => Phase::FastRecovery,
            Stage::Loss => Phase::Loss,
            Stage::Open if cwnd_bytes < ssthresh_bytes => Phase::SlowStart,
            Stage::Open => Phase::CongestionAvoidance,
        }
    }
}
