//! The liveness of a connection's peer: when it was last heard, and the probes since.

use narrows_common::Time;

/// The liveness of a connection's peer.
#[derive(Debug, Default)]
pub(super) struct Liveness {
    pub(super) heard_at: Time,
    /// Probes sent since.
    pub(super) unanswered: u32,
    /// A keep-alive must be sent.
    pub(super) must_probe: bool,
    pub(super) has_given_up: bool,
}
