//! Packets for the controllers: policed as they leave the CPU port, and bounded in bytes while they
//! wait.

use std::collections::VecDeque;

use narrows_common::{PS_PER_S, Time, budgets};
use schemars::JsonSchema;
use serde::Deserialize;

/// What the CPU port passes on at most; what comes faster is dropped.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CpuLimit {
    /// Packets per second.
    #[serde(default)]
    pub packets_per_s: Option<u64>,
    /// Bytes per second.
    #[serde(default)]
    pub bytes_per_s: Option<u64>,
}

/// Parts of a token: what one token per second adds in a picosecond.
const PARTS: u128 = PS_PER_S as u128;
/// A bucket holds what its rate gives in this part of a second.
const BURSTS_PER_S: u64 = 10;
/// What a bucket holds at least: a packet of the greatest length, whatever the rate.
const BURST_BYTES_MIN: u64 = 64 << 10;
const BURST_PACKETS_MIN: u64 = 64;

/// Tokens that a rate fills.
struct Bucket {
    rate: u64,
    burst: u128,
    level: u128,
    at: Time,
}

impl Bucket {
    fn new(rate: u64, least: u64) -> Self {
        let burst = u128::from((rate / BURSTS_PER_S).max(least)) * PARTS;
        Bucket { rate, burst, level: burst, at: Time::ZERO }
    }

    fn has(&mut self, now: Time, tokens: u64) -> bool {
        let filled = u128::from(now.saturating_since(self.at).as_ps()) * u128::from(self.rate);
        self.level = self.burst.min(self.level + filled);
        self.at = self.at.max(now);
        self.level >= u128::from(tokens) * PARTS
    }

    fn take(&mut self, tokens: u64) {
        self.level -= u128::from(tokens) * PARTS;
    }
}

/// Packets that left by the CPU port and wait for the controllers.
pub(crate) struct PacketIns {
    waiting: VecDeque<Vec<u8>>,
    bytes: usize,
    packet_bucket: Option<Bucket>,
    byte_bucket: Option<Bucket>,
    lost: Lost,
}

/// Packets for the controllers that were dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// Above the CPU port's limit.
    pub policed: u64,
    /// More bytes waited than may.
    pub no_room: u64,
}

impl PacketIns {
    pub(crate) fn new(limit: CpuLimit) -> Self {
        PacketIns {
            waiting: VecDeque::new(),
            bytes: 0,
            packet_bucket: limit.packets_per_s.map(|rate| Bucket::new(rate, BURST_PACKETS_MIN)),
            byte_bucket: limit.bytes_per_s.map(|rate| Bucket::new(rate, BURST_BYTES_MIN)),
            lost: Lost::default(),
        }
    }

    /// A packet of `len` bytes leaves the CPU port. True when it is to be kept; otherwise it is
    /// counted as lost.
    pub(crate) fn admits(&mut self, now: Time, len: usize) -> bool {
        let octets = len as u64;
        let is_within = self.packet_bucket.as_mut().is_none_or(|bucket| bucket.has(now, 1))
            && self.byte_bucket.as_mut().is_none_or(|bucket| bucket.has(now, octets));
        if !is_within {
            self.lost.policed += 1;
            return false;
        }
        if self.bytes + len + budgets::PACKET_IN_OVERHEAD > budgets::PACKET_IN_BYTES {
            self.lost.no_room += 1;
            return false;
        }
        self.packet_bucket.iter_mut().for_each(|bucket| bucket.take(1));
        self.byte_bucket.iter_mut().for_each(|bucket| bucket.take(octets));
        true
    }

    pub(crate) fn push(&mut self, packet: Vec<u8>) {
        self.bytes += packet.len() + budgets::PACKET_IN_OVERHEAD;
        self.waiting.push_back(packet);
    }

    /// The oldest packets, [`budgets::PACKET_INS_AT_ONCE`] at most.
    pub(crate) fn take(&mut self) -> Vec<Vec<u8>> {
        let count = self.waiting.len().min(budgets::PACKET_INS_AT_ONCE);
        let taken: Vec<Vec<u8>> = self.waiting.drain(..count).collect();
        self.bytes -=
            taken.iter().map(|one| one.len() + budgets::PACKET_IN_OVERHEAD).sum::<usize>();
        taken
    }

    pub(crate) fn lost(&self) -> Lost {
        self.lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use narrows_common::Duration;

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    fn pass(ins: &mut PacketIns, now: Time, packets: usize, len: usize) -> usize {
        let offer = |_: &usize| {
            let is_admitted = ins.admits(now, len);
            if is_admitted {
                ins.push(vec![0; len]);
            }
            is_admitted
        };
        (0..packets).filter(offer).count()
    }

    #[test]
    fn packets_above_the_rate_are_policed() {
        let limit = CpuLimit { packets_per_s: Some(1000), bytes_per_s: None };
        let mut ins = PacketIns::new(limit);
        assert_eq!(pass(&mut ins, at(0), 500, 60), 100);
        assert_eq!(pass(&mut ins, at(50), 500, 60), 50);
        assert_eq!(ins.lost(), Lost { policed: 850, no_room: 0 });
    }

    #[test]
    fn bytes_above_the_rate_are_policed() {
        let limit = CpuLimit { packets_per_s: None, bytes_per_s: Some(1_000_000) };
        let mut ins = PacketIns::new(limit);
        assert_eq!(pass(&mut ins, at(0), 500, 1000), 100);
        assert_eq!(pass(&mut ins, at(10), 500, 1000), 10);
    }

    #[test]
    fn what_nobody_takes_is_bounded_in_bytes() {
        let mut ins = PacketIns::new(CpuLimit::default());
        let most = budgets::PACKET_IN_BYTES / (9000 + budgets::PACKET_IN_OVERHEAD);
        assert_eq!(pass(&mut ins, at(0), most + 100, 9000), most);
        assert_eq!(ins.lost(), Lost { policed: 0, no_room: 100 });
        let taken = ins.take().len();
        assert!(taken > 0 && pass(&mut ins, at(0), taken + 1, 9000) == taken);
    }
}
