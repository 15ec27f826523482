//! Jitter by a distribution, netem's `delay TIME JITTER CORRELATION distribution`.
//!
//! A packet's extra delay is the jitter times a number of the distribution, below zero too. The
//! numbers are those of which netem's tables are samples (iproute2, netem/normal.c, pareto.c and
//! paretonormal.c): uniform from -1 to 1, a standard normal, a Pareto of shape 3 shifted by its
//! mean and scaled by 4/3, and a quarter of the normal plus three of the Pareto. Both tails of the
//! last two end at 4, the most of a 16-bit table.

use super::correlated::{Correlated, check_correlation};
use narrows_common::{Duration, Rng};
use schemars::JsonSchema;
use serde::Deserialize;

/// netem's distributions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Distribution {
    /// From minus the jitter to the jitter.
    Uniform,
    /// The jitter is the standard deviation.
    Normal,
    /// A long tail of large delays.
    Pareto,
    /// A quarter of a normal and three of a Pareto distribution.
    ParetoNormal,
}

impl Distribution {
    /// The number below which a number of the distribution is with probability `u`, within (0, 1).
    fn quantile(self, u: f64) -> f64 {
        match self {
            Distribution::Uniform => 2.0 * u - 1.0,
            Distribution::Normal => normal(u),
            Distribution::Pareto => pareto(u),
            Distribution::ParetoNormal => (0.25 * normal(u) + 0.75 * pareto(u)).clamp(-MOST, MOST),
        }
    }
}

/// The largest number of a netem table: 32767 / 8192.
const MOST: f64 = 4.0;

fn pareto(u: f64) -> f64 {
    ((1.0 / libm::cbrt(1.0 - u) - 1.5) * (4.0 / 3.0)).min(MOST)
}

/// The standard normal distribution's quantile, within 1.15e-9 of it (Acklam: An Algorithm for
/// Computing the Inverse Normal Cumulative Distribution Function, 2003).
fn normal(u: f64) -> f64 {
    const A: [f64; 6] = [
        -39.696_830_286_653_76,
        220.946_098_424_520_5,
        -275.928_510_446_968_7,
        138.357_751_867_269,
        -30.664_798_066_147_16,
        2.506_628_277_459_239,
    ];
    const B: [f64; 6] = [
        -54.476_098_798_224_06,
        161.585_836_858_040_9,
        -155.698_979_859_886_6,
        66.801_311_887_719_72,
        -13.280_681_552_885_72,
        1.0,
    ];
    const C: [f64; 6] = [
        -0.007_784_894_002_430_293,
        -0.322_396_458_041_136_5,
        -2.400_758_277_161_838,
        -2.549_732_539_343_734,
        4.374_664_141_464_968,
        2.938_163_982_698_783,
    ];
    const D: [f64; 5] = [
        0.007_784_695_709_041_462,
        0.322_467_129_070_039_8,
        2.445_134_137_142_996,
        3.754_408_661_907_416,
        1.0,
    ];
    const TAIL: f64 = 0.024_25;
    let of = |factors: &[f64], x: f64| factors.iter().fold(0.0, |sum, factor| sum * x + factor);
    if u > 1.0 - TAIL {
        return -normal(1.0 - u);
    }
    if u < TAIL {
        let q = libm::sqrt(-2.0 * libm::log(u));
        return of(&C, q) / of(&D, q);
    }
    let q = u - 0.5;
    q * of(&A, q * q) / of(&B, q * q)
}

/// Jitter.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JitterConfig {
    /// The jitter, above 0.
    pub time_ps: u64,
    /// The distribution.
    pub distribution: Distribution,
    /// The correlation of a packet's delay with that of the one before, from 0 to below 1.
    pub correlation: f64,
}

impl JitterConfig {
    pub(super) fn check(&self) -> Result<(), &'static str> {
        check_correlation(self.correlation)
    }
}

/// Draws of jitter.
#[derive(Clone, Debug)]
pub(super) struct Jitter {
    config: JitterConfig,
    draws: Correlated,
}

impl Jitter {
    pub(super) fn new(config: JitterConfig, rng: Rng) -> Self {
        Jitter { config, draws: Correlated::new(config.correlation, rng) }
    }

    /// A packet's delay where it is `delay` without jitter; at least zero.
    pub(super) fn apply(&mut self, delay: Duration) -> Duration {
        // The middle of a draw's interval of 2^-53, so that neither end is reached.
        let u = self.draws.f64() + f64::EPSILON / 4.0;
        let extra_ps = self.config.distribution.quantile(u) * self.config.time_ps as f64;
        Duration::from_ps((delay.as_ps() as f64 + extra_ps).max(0.0) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Quantiles of the standard normal distribution from published tables.
    #[test]
    fn normal_quantiles() {
        for (u, expected) in [
            (0.5, 0.0),
            (0.841_344_746, 1.0),
            (0.975, 1.959_963_985),
            (0.999, 3.090_232_306),
            (0.01, -2.326_347_874),
        ] {
            assert!((normal(u) - expected).abs() < 1e-7, "{u}: {}", normal(u));
        }
    }

    /// The median of a Pareto of shape 3 and scale 1 is the cube root of 2; the tail ends at 4.
    #[test]
    fn pareto_quantiles() {
        assert!((pareto(0.5) - (1.259_921_05 - 1.5) * 4.0 / 3.0).abs() < 1e-8);
        assert_eq!((pareto(0.0), pareto(0.999_999)), (-2.0 / 3.0, 4.0));
    }
}
