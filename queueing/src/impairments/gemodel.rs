//! Burst loss by the model of Gilbert and Elliott, netem's `loss gemodel`.
//!
//! A Markov chain with a good and a bad state, each with a probability of loss (Gilbert: Capacity
//! of a Burst-Noise Channel, Bell Syst. Tech. J. 39(5), 1960; Elliott: Estimates of Error Rates for
//! Codes on Burst-Noise Channels, 42(5), 1963). As in netem, a packet's loss is of the state before
//! its transition, and the chain begins in the good state. So packets find the bad state with
//! probability p / (p + r), for 1 / r packets at a time, in a geometric distribution.

use super::correlated::check_probability;
use narrows_common::Rng;
use schemars::JsonSchema;
use serde::Deserialize;

/// The model's probabilities, by netem's names.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GilbertElliott {
    /// From the good state to the bad one.
    pub p: f64,
    /// From the bad state to the good one.
    pub r: f64,
    /// Of a loss in the bad state, netem's `1-h`.
    pub bad_loss: f64,
    /// Of a loss in the good state, netem's `1-k`.
    pub good_loss: f64,
}

impl GilbertElliott {
    pub(super) fn check(&self) -> Result<(), &'static str> {
        [self.p, self.r, self.bad_loss, self.good_loss].into_iter().try_for_each(check_probability)
    }
}

/// The model in one of its states.
#[derive(Clone, Debug)]
pub(super) struct BurstLoss {
    config: GilbertElliott,
    is_bad: bool,
    rng: Rng,
}

impl BurstLoss {
    pub(super) fn new(config: GilbertElliott, rng: Rng) -> Self {
        BurstLoss { config, is_bad: false, rng }
    }

    /// Whether the next packet is lost.
    pub(super) fn loses(&mut self) -> bool {
        let GilbertElliott { p, r, bad_loss, good_loss } = self.config;
        let (leave, loss) = if self.is_bad { (r, bad_loss) } else { (p, good_loss) };
        let is_lost = self.rng.chance(loss);
        self.is_bad ^= self.rng.chance(leave);
        is_lost
    }
}
