//! Reordering, netem's `reorder PERCENT CORRELATION gap DISTANCE`: some packets skip the delay.
//!
//! Of every `gap` packets the last may do so, with the probability (`netem_enqueue` in
//! net/sched/sch_netem.c).

use super::correlated::{Chance, Correlated};
use narrows_common::Rng;
use schemars::JsonSchema;
use serde::Deserialize;

/// Reordering.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReorderConfig {
    /// The probability from 0 to 1 that a packet whose turn it is skips the delay.
    pub probability: f64,
    /// The correlation of a packet with the one before, from 0 to below 1.
    pub correlation: f64,
    /// Packets from one that skipped the delay to the next that may, above 0.
    pub gap: u32,
}

impl ReorderConfig {
    pub(super) fn check(&self) -> Result<(), &'static str> {
        if self.gap == 0 {
            return Err("gap is 0; expected 1 or more");
        }
        let &ReorderConfig { probability, correlation, .. } = self;
        Chance { probability, correlation }.check()
    }
}

/// Which packets skip the delay.
#[derive(Clone, Debug)]
pub(super) struct Reorder {
    config: ReorderConfig,
    /// Packets since the last that skipped the delay.
    delayed: u32,
    draws: Correlated,
}

impl Reorder {
    pub(super) fn new(config: ReorderConfig, rng: Rng) -> Self {
        Reorder { config, delayed: 0, draws: Correlated::new(config.correlation, rng) }
    }

    /// Whether the next packet skips the delay.
    pub(super) fn skips(&mut self) -> bool {
        let is_its_turn = self.delayed >= self.config.gap - 1;
        let skips = is_its_turn && self.draws.f64() < self.config.probability;
        self.delayed = if skips { 0 } else { self.delayed.saturating_add(1) };
        skips
    }
}
