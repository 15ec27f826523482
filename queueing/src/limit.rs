//! What a queue holds at most.

use crate::queued::Backlog;
use narrows_common::{Bytes, PS_PER_S, Rate};
use schemars::JsonSchema;
use serde::Deserialize;

/// What a queue holds at most, the packet in transmission not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QueueLimit {
    /// Packets waiting.
    Packets(u64),
    /// Bytes waiting, of those that count against the rate.
    Bytes(u64),
    /// Picoseconds that the queue needs to drain at the rate in force.
    TimePs(u64),
}

impl QueueLimit {
    /// True when a packet of `length` finds room behind `backlog`.
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
