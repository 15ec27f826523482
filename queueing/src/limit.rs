//! The limit of a queue.

use crate::queued::Backlog;
use narrows_common::{Bytes, PS_PER_S, Rate};
use schemars::JsonSchema;
use serde::Deserialize;

/// The limit of a queue, without the packet in transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QueueLimit {
    /// Packets queued.
    Packets(u64),
    /// Bytes queued that count against the rate.
    Bytes(u64),
    /// The time to drain the queue at the current rate, in picoseconds.
    TimePs(u64),
}

impl QueueLimit {
    /// True if a packet of `length` fits after `backlog`.
    #[inline]
    pub fn admits(self, backlog: Backlog, length: Bytes, rate: Rate) -> bool {
        let after = backlog.bytes + length;
        match self {
            QueueLimit::Packets(most) => backlog.packets < most,
            QueueLimit::Bytes(most) => after.get() <= most,
            QueueLimit::TimePs(most) => {
                let ps_bits = u128::from(after.bits()) * u128::from(PS_PER_S);
                ps_bits <= u128::from(most) * u128::from(rate.as_bps())
            }
        }
    }
}
