//! Sends one packet at a time at an exact bit rate.
//!
//! The time of `n` bits at `r` bit/s is `n * 10^12 / r` picoseconds, rarely a whole number. A busy
//! serializer carries the remainder of that division. So the end of the k-th packet of a busy
//! period is `floor(start + total_bits * 10^12 / r)`, and the long-run rate has no rounding error.
//! An idle serializer restarts at the arrival. It divides only when a packet is not as long as the
//! one before.

use crate::time::{Duration, PS_PER_S, Time};
use crate::units::Rate;

/// The transmission clock of one link direction.
#[derive(Clone, Debug)]
pub struct Serializer {
    rate: Rate,
    free_at: Time,
    /// The amount by which `free_at` was rounded down, in picoseconds times the rate; below the
    /// rate.
    remainder: u64,
    /// The bits of the last packet, and their time in picoseconds, rounded down.
    last: (u32, u64),
}

impl Serializer {
    /// An idle serializer.
    ///
    /// # Panics
    /// If the rate is zero; callers check a scenario's rates before.
    #[track_caller]
    pub fn new(rate: Rate) -> Self {
        assert!(rate.as_bps() > 0, "a serializer needs a rate above zero");
        Serializer { rate, free_at: Time::ZERO, remainder: 0, last: (0, 0) }
    }

    /// The current rate.
    #[inline]
    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// The end of the last accepted bit's transmission.
    #[inline]
    pub fn free_at(&self) -> Time {
        self.free_at
    }

    /// Sends `bits`, starting at `now` or at the end of the last transmission, whichever is later.
    /// Returns the start and the end of the transmission.
    #[inline]
    pub fn send(&mut self, now: Time, bits: u64) -> (Time, Time) {
        if now > self.free_at {
            self.free_at = now;
            self.remainder = 0;
        }
        let (start, rate) = (self.free_at, self.rate.as_bps());
        let whole = if bits == u64::from(self.last.0) { self.last.1 } else { self.divide(bits) };
        // The remainder of the division is below the rate, so what overflows cancels out.
        let own = bits.wrapping_mul(PS_PER_S).wrapping_sub(whole.wrapping_mul(rate));
        let (sum, has_carry) = self.remainder.overflowing_add(own);
        let carry = has_carry || sum >= rate;
        self.remainder = if carry { sum.wrapping_sub(rate) } else { sum };
        self.free_at += Duration::from_ps(whole + u64::from(carry));
        (start, self.free_at)
    }

    /// The time of `bits` in picoseconds, rounded down.
    #[inline(never)]
    fn divide(&mut self, bits: u64) -> u64 {
        let rate = self.rate.as_bps();
        let whole = match bits.checked_mul(PS_PER_S) {
            // A 64-bit division is several times cheaper, and suffices up to 18 Mbit.
            Some(ps_bits) => ps_bits / rate,
            None => (u128::from(bits) * u128::from(PS_PER_S) / u128::from(rate)) as u64,
        };
        if let Ok(bits) = u32::try_from(bits) {
            self.last = (bits, whole);
        }
        whole
    }

    /// Changes the rate of later transmissions; a transmission in progress keeps its rate.
    ///
    /// # Panics
    /// If the rate is zero.
    #[track_caller]
    pub fn set_rate(&mut self, rate: Rate) {
        assert!(rate.as_bps() > 0, "a serializer needs a rate above zero");
        // Keeps the fraction of a picosecond: remainder / old rate = new remainder / new rate.
        let carried = self.remainder as u128 * rate.as_bps() as u128 / self.rate.as_bps() as u128;
        self.remainder = carried as u64;
        self.rate = rate;
        self.last = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sixty_seconds_at_an_awkward_rate_lose_less_than_one_packet() {
        for rate in [5_000_000u64, 622_000_000, 9_999_999_937] {
            let mut serializer = Serializer::new(Rate::from_bps(rate));
            let (packet_bits, minute) = (12_000u64, Time::ZERO + Duration::from_secs(60));
            let mut sent_bits = 0u128;
            while serializer.send(Time::ZERO, packet_bits).1 <= minute {
                sent_bits += packet_bits as u128;
            }
            let due = rate as u128 * 60;
            assert!(due - sent_bits < packet_bits as u128, "{rate} bit/s: {sent_bits} of {due}");
        }
    }

    proptest! {
        /// The end of a busy period's k-th packet is the rounded-down sum, computed in one step.
        #[test]
        fn a_busy_period_carries_no_error(rate in 1u64..20_000_000_000, sizes in prop::collection::vec(1u64..200_000, 1..200), start in 0u64..1u64<<40) {
            let mut serializer = Serializer::new(Rate::from_bps(rate));
            let mut bits = 0u128;
            for size in sizes {
                bits += size as u128;
                let (_, end) = serializer.send(Time::from_ps(start), size);
                prop_assert_eq!(end.as_ps() as u128, start as u128 + bits * PS_PER_S as u128 / rate as u128);
            }
        }
    }

    proptest! {
        /// Packets of a few lengths at rates that change, against 128-bit sums.
        #[test]
        fn lengths_that_repeat_and_rates_that_change_are_exact(
            rates in prop::collection::vec(prop_oneof![1u64..20_000_000_000, any::<u64>().prop_map(|rate| rate.max(1))], 1..4),
            sizes in prop::collection::vec(prop_oneof![Just(0u64), Just(12_112), Just(528), any::<u32>().prop_map(u64::from)], 1..100),
        ) {
            let mut serializer = Serializer::new(Rate::from_bps(rates[0]));
            let mut end_ps = 0u128;
            for rate in rates {
                serializer.set_rate(Rate::from_bps(rate));
                let mut sum = serializer.remainder as u128;
                for &size in &sizes {
                    sum += size as u128 * PS_PER_S as u128;
                    let end = end_ps + sum / rate as u128;
                    if end > u64::MAX as u128 {
                        return Ok(());
                    }
                    prop_assert_eq!(serializer.send(Time::ZERO, size).1.as_ps() as u128, end);
                    prop_assert_eq!(serializer.remainder as u128, sum % rate as u128);
                }
                end_ps += sum / rate as u128;
            }
        }
    }

    #[test]
    fn an_idle_serializer_starts_at_the_arrival() {
        let mut serializer = Serializer::new(Rate::from_bps(3));
        serializer.send(Time::ZERO, 1);
        let at = Time::ZERO + Duration::from_secs(1);
        assert_eq!(serializer.send(at, 3), (at, at + Duration::from_secs(1)));
    }
}
