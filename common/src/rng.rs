//! Randomness as an argument: one generator per component, derived from the run's seed by name.

use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A deterministic generator (xoshiro256++), the same on every machine.
#[derive(Clone, Debug)]
pub struct Rng(Xoshiro256PlusPlus);

impl Rng {
    /// The generator of a run.
    pub fn from_seed(seed: u64) -> Self {
        Rng(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// The generator of one component of a run. It depends on the run's seed and the name only, so
    /// adding a component does not change the others' numbers.
    pub fn for_component(run_seed: u64, name: &str) -> Self {
        // FNV-1a of the name; SplitMix64 in the seeding spreads the bits.
        let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Rng::from_seed(run_seed ^ hash)
    }

    /// 32 uniform bits.
    pub fn u32(&mut self) -> u32 {
        self.0.next_u32()
    }
    /// 64 uniform bits.
    #[inline]
    pub fn u64(&mut self) -> u64 {
        self.0.next_u64()
    }
    /// Uniform in `low..=high`, by multiplication; the bias is below 2^-64 of the span.
    ///
    /// # Panics
    /// If `low > high`.
    #[inline]
    pub fn range(&mut self, low: u64, high: u64) -> u64 {
        assert!(low <= high, "{low}..={high} is empty");
        let span = (high - low) as u128 + 1;
        low + ((self.u64() as u128 * span) >> 64) as u64
    }
    /// Uniform in `[0, 1)`, with 53 bits.
    pub fn f64(&mut self) -> f64 {
        (self.u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }
    /// True with this probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.f64() < probability
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_and_a_seed_fix_the_numbers() {
        let draw = |seed, name| Rng::for_component(seed, name).u64();
        assert_eq!(draw(1, "switch"), draw(1, "switch"));
        assert_ne!(draw(1, "switch"), draw(1, "host"));
        assert_ne!(draw(1, "switch"), draw(2, "switch"));
    }

    #[test]
    fn a_range_is_inclusive_and_even() {
        let (mut rng, mut seen) = (Rng::from_seed(7), [0u32; 6]);
        for _ in 0..60_000 {
            seen[rng.range(0, 5) as usize] += 1;
        }
        assert!(seen.iter().all(|&n| (9_500..10_500).contains(&n)), "{seen:?}");
        assert_eq!(rng.range(3, 3), 3);
        rng.range(0, u64::MAX);
    }
}
