//! Random lengths, by inversion of their distribution functions.
//!
//! Exponential: `-mean ln(u)`. Pareto with shape a and scale k: `k u^(-1/a)`, with mean `k a / (a -
//! 1)` and tail `P(X > x) = (k / x)^a`. Both use u uniform in (0, 1], with 53 bits, and `libm`'s
//! functions, which give the same bits on every platform.

use crate::error::{self, AppError};
use crate::key::{self, Key};
use narrows_common::Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The distribution of lengths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Distribution {
    /// Exponential.
    #[default]
    Exponential,
    /// Pareto, with a heavy tail.
    Pareto,
}

impl Distribution {
    /// A length with this mean; `shape` is Pareto's.
    pub fn draw(self, mean: f64, shape: f64, rng: &mut Rng) -> f64 {
        match self {
            Distribution::Exponential => exponential(mean, rng),
            Distribution::Pareto => pareto(mean, shape, rng),
        }
    }
}

/// The key of Pareto's exponent.
pub(crate) const SHAPE: Key =
    key::key("shape", "shape", key::Unit::Number, "exponent of pareto, above 1").or("1.5");

/// ns-2's `shape_`.
pub(crate) fn ns2_shape() -> f64 {
    1.5
}

pub(crate) fn check_shape(kind: &'static str, shape: f64) -> Result<(), AppError> {
    error::in_range(kind, "shape", shape, (1.01, 100.0))
}

/// An exponential length with this mean.
pub fn exponential(mean: f64, rng: &mut Rng) -> f64 {
    -mean * libm::log(1.0 - rng.f64())
}

/// A Pareto length with this mean; `shape` is above 1.
pub fn pareto(mean: f64, shape: f64, rng: &mut Rng) -> f64 {
    let scale = mean * (shape - 1.0) / shape;
    scale * libm::pow(1.0 - rng.f64(), -1.0 / shape)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: usize = 200_000;

    fn draws(mut draw: impl FnMut(&mut Rng) -> f64) -> Vec<f64> {
        let mut rng = Rng::from_seed(11);
        (0..DRAWS).map(|_| draw(&mut rng)).collect()
    }

    fn share_above(values: &[f64], x: f64) -> f64 {
        values.iter().filter(|&&value| value > x).count() as f64 / values.len() as f64
    }

    #[test]
    fn exponential_lengths_have_their_mean_deviation_and_tail() {
        let values = draws(|rng| exponential(3.0, rng));
        let mean = values.iter().sum::<f64>() / DRAWS as f64;
        let square = values.iter().map(|value| value * value).sum::<f64>() / DRAWS as f64;
        // The mean of 200,000 draws has a standard deviation of 3/sqrt(200,000) = 0.0067.
        assert!((mean - 3.0).abs() < 0.03, "{mean}");
        assert!(((square - mean * mean).sqrt() - 3.0).abs() < 0.05);
        // e^-1 = 0.3679 and e^-3 = 0.0498.
        assert!((share_above(&values, 3.0) - 0.3679).abs() < 0.005);
        assert!((share_above(&values, 9.0) - 0.0498).abs() < 0.002);
    }

    #[test]
    fn pareto_lengths_have_their_mean_least_and_tail() {
        // Shape 3 and mean 3: scale 2, tail (2/x)^3.
        let values = draws(|rng| pareto(3.0, 3.0, rng));
        let mean = values.iter().sum::<f64>() / DRAWS as f64;
        assert!((mean - 3.0).abs() < 0.03, "{mean}");
        assert!(values.iter().all(|&value| value >= 2.0));
        assert!((share_above(&values, 4.0) - 0.125).abs() < 0.004);
        assert!((share_above(&values, 8.0) - 0.015_625).abs() < 0.001_5);
        // Shape 1.5, ns-2's default, and mean 0.5: scale 1/6; at 1 the tail is 6^-1.5 = 0.0680.
        let heavy = draws(|rng| pareto(0.5, 1.5, rng));
        assert!(heavy.iter().all(|&value| value > 0.166_666));
        assert!((share_above(&heavy, 1.0) - 0.0680).abs() < 0.003);
    }
}
