//! Two-rate three-colour meters (RFC 2698), colour-blind.
//!
//! Buckets are kept in units of 1/1000 token of a nanosecond's filling: a rate is tokens per
//! second, and what a span adds is `rate * span` exactly, in units of 10^-12 token.

use narrows_common::Time;

/// A meter's colour, as v1model numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Colour {
    /// Within the committed rate.
    Green = 0,
    /// Above it and within the peak rate.
    Yellow = 1,
    /// Above the peak rate.
    Red = 2,
}

/// Rates in tokens per second and bursts in tokens; a token is a byte or a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeterConfig {
    /// Committed information rate.
    pub cir: u64,
    /// Committed burst size.
    pub cburst: u64,
    /// Peak information rate.
    pub pir: u64,
    /// Peak burst size.
    pub pburst: u64,
}

/// One meter; green until it is configured.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meter {
    config: Option<MeterConfig>,
    committed: u128,
    peak: u128,
    at: Time,
}

/// Parts of a token.
const PARTS: u128 = 1_000_000_000_000;

impl Meter {
    /// Configures it, with full buckets; `None` makes it green for ever.
    pub(crate) fn configure(&mut self, now: Time, config: Option<MeterConfig>) {
        *self = Meter {
            config,
            committed: config.map_or(0, |config| u128::from(config.cburst) * PARTS),
            peak: config.map_or(0, |config| u128::from(config.pburst) * PARTS),
            at: now,
        };
    }

    /// The colour of `tokens` at `now` (RFC 2698 section 3, colour-blind mode).
    pub(crate) fn mark(&mut self, now: Time, tokens: u64) -> Colour {
        let Some(config) = self.config else { return Colour::Green };
        let span = u128::from(now.saturating_since(self.at).as_ps());
        self.at = self.at.max(now);
        let fill = |bucket: u128, rate: u64, burst: u64| {
            (bucket + span * u128::from(rate)).min(u128::from(burst) * PARTS)
        };
        self.committed = fill(self.committed, config.cir, config.cburst);
        self.peak = fill(self.peak, config.pir, config.pburst);
        let size = u128::from(tokens) * PARTS;
        if self.peak < size {
            return Colour::Red;
        }
        self.peak -= size;
        if self.committed < size {
            return Colour::Yellow;
        }
        self.committed -= size;
        Colour::Green
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use narrows_common::Duration;

    /// 1 packet/s committed with a burst of 2, 2 packets/s at peak with a burst of 3: the
    /// arithmetic of the RFC written out.
    #[test]
    fn colours_follow_the_two_buckets() {
        let mut meter = Meter::default();
        let config = MeterConfig { cir: 1, cburst: 2, pir: 2, pburst: 3 };
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
}
