//! Where a discipline's random numbers come from.

use narrows_common::Rng;

/// Random numbers: a generator's, or a list of them, as another implementation drew them.
#[derive(Clone, Debug)]
pub enum Randomness {
    /// Those of a generator.
    Seeded(Rng),
    /// These, in their order.
    Given(std::vec::IntoIter<f64>),
}

impl Randomness {
    /// These numbers from 0 to 1, in their order.
    pub fn given(numbers: Vec<f64>) -> Self {
        Randomness::Given(numbers.into_iter())
    }

    /// Uniform from 0 to 1.
    ///
    /// # Panics
    /// When the numbers that were given are used up.
    pub fn f64(&mut self) -> f64 {
        match self {
            Randomness::Seeded(rng) => rng.f64(),
            Randomness::Given(numbers) => numbers.next().expect("a random number is left"),
        }
    }

    /// 64 uniform bits; 0 where numbers are given.
    pub fn u64(&mut self) -> u64 {
        match self {
            Randomness::Seeded(rng) => rng.u64(),
            Randomness::Given(_) => 0,
        }
    }
}
