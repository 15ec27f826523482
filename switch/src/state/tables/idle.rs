//! Idle time-outs: an entry's last hit, and its time-out.

use narrows_common::{Duration, Time};

/// An entry's time-out.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Idle {
    /// `None` never expires.
    pub timeout: Option<Duration>,
    /// The last hit, or the setting of the time-out.
    pub hit: Time,
    /// Whether its expiry was reported since.
    pub reported: bool,
}
