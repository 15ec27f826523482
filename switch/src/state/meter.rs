//! Meters: two rates and three colours (RFC 2698), or one rate (RFC 2697), colour-blind.
//!
//! Buckets count in units of 10^-12 token. With a rate in tokens per second and time in
//! picoseconds, a bucket gains exactly `rate * time` units.

use narrows_common::{PS_PER_S, Time};

/// A meter's colour, as v1model numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Colour {
    /// Within the committed rate.
    Green = 0,
    /// Above it, and within the peak rate or the excess burst.
    Yellow = 1,
    /// Above the peak rate or the excess burst.
    Red = 2,
}

/// Rates in tokens per second and bursts in tokens; a token is a byte or a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeterConfig {
    /// RFC 2698.
    TwoRate {
        /// Committed information rate.
        cir: u64,
        /// Committed burst size.
        cburst: u64,
        /// Peak information rate.
        pir: u64,
        /// Peak burst size.
        pburst: u64,
    },
    /// RFC 2697; has two colours if the excess burst is 0.
    SingleRate {
        /// Committed information rate.
        cir: u64,
        /// Committed burst size.
        cburst: u64,
        /// Excess burst size: tokens that a full committed bucket does not take go here.
        eburst: u64,
    },
}

/// One meter; always green until it is configured.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meter {
    config: Option<MeterConfig>,
    committed: u128,
    /// The peak rate's bucket, or the excess burst's.
    second: u128,
    at: Time,
}

/// Parts of a token.
const PARTS: u128 = PS_PER_S as u128;

impl Meter {
    /// Configures it and fills the buckets; `None` makes it always green.
    pub(crate) fn configure(&mut self, now: Time, config: Option<MeterConfig>) {
        let (committed, second) = match config {
            None => (0, 0),
            Some(MeterConfig::TwoRate { cburst, pburst, .. }) => (cburst, pburst),
            Some(MeterConfig::SingleRate { cburst, eburst, .. }) => (cburst, eburst),
        };
        *self = Meter { config, committed: parts(committed), second: parts(second), at: now };
    }

    /// The colour of `tokens` at `now`.
    pub(crate) fn mark(&mut self, now: Time, tokens: u64) -> Colour {
        let Some(config) = self.config else { return Colour::Green };
        let span_ps = u128::from(now.saturating_since(self.at).as_ps());
        self.at = self.at.max(now);
        match config {
            MeterConfig::TwoRate { cir, cburst, pir, pburst } => {
                self.committed = (self.committed + span_ps * u128::from(cir)).min(parts(cburst));
                self.second = (self.second + span_ps * u128::from(pir)).min(parts(pburst));
                self.mark_two_rate(parts(tokens))
            }
            MeterConfig::SingleRate { cir, cburst, eburst } => {
                let filled = self.committed + span_ps * u128::from(cir);
                self.committed = filled.min(parts(cburst));
                self.second = (self.second + (filled - self.committed)).min(parts(eburst));
                self.mark_single_rate(parts(tokens))
            }
        }
    }

    /// RFC 2698 section 3.
    fn mark_two_rate(&mut self, size: u128) -> Colour {
        if self.second < size {
            return Colour::Red;
        }
        self.second -= size;
        if self.committed < size {
            return Colour::Yellow;
        }
        self.committed -= size;
        Colour::Green
    }

    /// RFC 2697 section 3.
    fn mark_single_rate(&mut self, size: u128) -> Colour {
        if self.committed >= size {
            self.committed -= size;
            return Colour::Green;
        }
        if self.second >= size {
            self.second -= size;
            return Colour::Yellow;
        }
        Colour::Red
    }
}

fn parts(tokens: u64) -> u128 {
    u128::from(tokens) * PARTS
}

#[cfg(test)]
mod tests {
    use super::*;
    use narrows_common::Duration;

    /// 1 packet/s committed with a burst of 2, 2 packets/s at peak with a burst of 3, as in the
    /// RFC's arithmetic.
    #[test]
    fn colours_follow_the_two_buckets() {
        let mut meter = Meter::default();
        let config = MeterConfig::TwoRate { cir: 1, cburst: 2, pir: 2, pburst: 3 };
        meter.configure(Time::ZERO, Some(config));
        let mut mark = |ms: u64| meter.mark(Time::ZERO + Duration::from_ms(ms), 1);
        // Buckets (C, P): (2, 3).
        assert_eq!(mark(0), Colour::Green); // (1, 2)
        assert_eq!(mark(0), Colour::Green); // (0, 1)
        assert_eq!(mark(0), Colour::Yellow); // (0, 0)
        assert_eq!(mark(0), Colour::Red);
        assert_eq!(mark(500), Colour::Yellow); // (0.5, 1) -> (0.5, 0)
        assert_eq!(mark(999), Colour::Red); // (0.999, 0.998)
        assert_eq!(mark(1000), Colour::Green); // (1, 1) -> (0, 0)
        assert_eq!(mark(60_000), Colour::Green); // full again
    }

    /// 1 packet/s, a burst of 2 and an excess burst of 1.
    #[test]
    fn one_rate_overflows_into_the_excess_burst() {
        let mut meter = Meter::default();
        let config = MeterConfig::SingleRate { cir: 1, cburst: 2, eburst: 1 };
        meter.configure(Time::ZERO, Some(config));
        let mut mark = |ms: u64| meter.mark(Time::ZERO + Duration::from_ms(ms), 1);
        // Buckets (C, E): (2, 1).
        assert_eq!(mark(0), Colour::Green); // (1, 1)
        assert_eq!(mark(0), Colour::Green); // (0, 1)
        assert_eq!(mark(0), Colour::Yellow); // (0, 0)
        assert_eq!(mark(0), Colour::Red);
        assert_eq!(mark(999), Colour::Red); // (0.999, 0)
        assert_eq!(mark(1000), Colour::Green); // (1, 0) -> (0, 0)
        // 2.5 s fill the committed bucket and half of the other one.
        assert_eq!(mark(3500), Colour::Green); // (2, 0.5) -> (1, 0.5)
        assert_eq!(mark(3500), Colour::Green); // (0, 0.5)
        assert_eq!(mark(3500), Colour::Red);
        assert_eq!(mark(4000), Colour::Red); // (0.5, 0.5)
        assert_eq!(mark(60_000), Colour::Green); // (1, 1)
        assert_eq!(mark(60_000), Colour::Green); // (0, 1)
        assert_eq!(mark(60_000), Colour::Yellow); // (0, 0)
        assert_eq!(mark(60_000), Colour::Red);
    }
}
