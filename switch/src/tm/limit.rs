//! What a queue holds at most, and what of a packet counts.

use narrows_common::{Bytes, PS_PER_S, Rate};
use serde::Deserialize;

/// What a queue does with a packet that it has room for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Discipline {
    /// It is stored.
    #[default]
    DropTail,
    /// It is stored, and the ACKs go that it supersedes.
    AckFilter,
}

/// The limit of one DropTail queue. A packet that would exceed it is dropped, except where the
/// port is idle and nothing waits: such a packet is not queued at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
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
    /// True when a packet of `length` finds room behind `packets` of together `waiting`.
    pub(crate) fn admits(self, packets: u64, waiting: Bytes, length: Bytes, rate: Rate) -> bool {
        let after = waiting + length;
        match self {
            QueueLimit::Packets(most) => packets < most,
            QueueLimit::Bytes(most) => after.get() <= most,
            QueueLimit::TimePs(most) => {
                let ps_bits = u128::from(after.bits()) * u128::from(PS_PER_S);
                ps_bits <= u128::from(most) * u128::from(rate.as_bps())
            }
        }
    }
}
