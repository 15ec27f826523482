//! The stage of a sender's loss recovery.

use narrows_common::record::Phase;

/// The stage of a sender's loss recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// No known loss.
    Open,
    /// Repairing a loss without a time-out.
    Recovery,
    /// Repairing a loss after a time-out.
    Loss,
}

impl Stage {
    /// The phase in a flow's record.
    pub fn phase(self, cwnd_bytes: u64, ssthresh_bytes: u64) -> Phase {
        match self {
            Stage::Recovery => Phase::FastRecovery,
            Stage::Loss => Phase::Loss,
            Stage::Open if cwnd_bytes < ssthresh_bytes => Phase::SlowStart,
            Stage::Open => Phase::CongestionAvoidance,
        }
    }
}
