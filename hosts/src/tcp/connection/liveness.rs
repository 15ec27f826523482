//! What a connection knows of its peer: when it was heard last, and the probes since.

use narrows_common::Time;

/// What a connection knows of its peer's life.
#[derive(Debug, Default)]
pub(super) struct Liveness {
    pub(super) heard_at: Time,
    /// Probes sent since.
    pub(super) unanswered: u32,
    /// A keep-alive is to be sent.
    pub(super) must_probe: bool,
    pub(super) has_given_up: bool,
}
