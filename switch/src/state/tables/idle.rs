//! Idle time-outs: when an entry was last hit, and how long it may go without.

use narrows_common::{Duration, Time};

/// An entry's time-out.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Idle {
    /// `None` never expires.
    pub timeout: Option<Duration>,
    /// The last hit, or when the time-out was set.
    pub hit: Time,
    /// Whether that was reported since.
    pub reported: bool,
}
