//! A propagation delay that changes with time. A packet has the delay of the instant at which it
//! enters the link.

use narrows_common::{Duration, Time};
use schemars::JsonSchema;
use serde::Deserialize;

/// Delays over time.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DelaySteps {
    /// The time from which each delay holds and the delay, in picoseconds. The first time is 0, and
    /// times increase.
    pub steps: Vec<(u64, u64)>,
    /// The time after which the steps begin again, above the last step's; null if they do not.
    pub period_ps: Option<u64>,
}

impl DelaySteps {
    pub(super) fn check(&self) -> Result<(), &'static str> {
        if self.steps.first().is_none_or(|&(at, _)| at != 0) {
            return Err("delay: expected a first step at 0");
        }
        let last = self.steps.last().map_or(u64::MAX, |&(at, _)| at);
        let has_order = self.steps.windows(2).all(|pair| pair[0].0 < pair[1].0);
        if !has_order || self.period_ps.is_some_and(|period_ps| last >= period_ps) {
            return Err("delay: expected steps in increasing order, all before the period's end");
        }
        Ok(())
    }

    /// The delay at an instant.
    pub fn at(&self, now: Time) -> Duration {
        let at_ps = self.period_ps.map_or(now.as_ps(), |period_ps| now.as_ps() % period_ps);
        let after = self.steps.partition_point(|&(from, _)| from <= at_ps);
        Duration::from_ps(self.steps[after - 1].1)
    }

    /// The smallest delay.
    pub fn least(&self) -> Duration {
        Duration::from_ps(self.steps.iter().map(|&(_, delay)| delay).min().unwrap_or(0))
    }
}
