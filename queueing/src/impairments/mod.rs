//! What a link direction does to packets besides a fixed delay, in the terms of tc-netem(8): burst
//! loss, duplication, reordering, jitter, and a delay that changes.
//!
//! ```text
//! enter ─▶ duplicate ─▶ each copy: loss ─▶ reorder? at once : delay + jitter, in order ─▶ arrive
//! ```
//!
//! Each has a generator of its own, so one more impairment does not change the draws of the others.

mod correlated;
mod delay;
mod gemodel;
mod jitter;
mod reorder;

pub use correlated::Chance;
pub use delay::DelaySteps;
pub use gemodel::GilbertElliott;
pub use jitter::{Distribution, JitterConfig};
pub use reorder::ReorderConfig;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use correlated::Correlated;
use gemodel::BurstLoss;
use jitter::Jitter;
use narrows_common::{Duration, Rng, Time};
use reorder::Reorder;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The impairments of a link direction.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImpairmentConfig {
    /// Its propagation delay over time.
    pub delay: DelaySteps,
    /// Burst loss.
    pub loss: Option<GilbertElliott>,
    /// Duplication.
    pub duplicate: Option<Chance>,
    /// Reordering.
    pub reorder: Option<ReorderConfig>,
    /// Jitter.
    pub jitter: Option<JitterConfig>,
    /// Whether packets keep their order when jitter or a falling delay would let one overtake.
    pub keep_order: bool,
}

impl ImpairmentConfig {
    /// Checks its values.
    ///
    /// # Errors
    /// The impairment, and what is wrong with it.
    pub fn check(&self) -> Result<(), String> {
        let named = |name, found: Option<Result<(), &'static str>>| {
            found.unwrap_or(Ok(())).map_err(|what| format!("{name}: {what}"))
        };
        self.delay.check()?;
        named("loss", self.loss.as_ref().map(GilbertElliott::check))?;
        named("duplicate", self.duplicate.as_ref().map(Chance::check))?;
        named("reorder", self.reorder.as_ref().map(ReorderConfig::check))?;
        named("jitter", self.jitter.as_ref().map(JitterConfig::check))
    }

    /// The lower bound of a packet's delay.
    pub fn least_delay(&self) -> Duration {
        match self.reorder.is_some() || self.jitter.is_some() {
            true => Duration::ZERO,
            false => self.delay.least(),
        }
    }
}

/// What becomes of a packet, or of its second copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is lost.
    Lost,
    /// It arrives.
    Arrives {
        /// When it arrives at the far end.
        at: Time,
        /// It skipped the delay.
        skipped: bool,
    },
}

/// A link direction's packets: received + duplicated = delivered + lost + in flight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ImpairmentCounts {
    /// Packets that entered.
    pub received: u64,
    /// Copies that it made.
    pub duplicated: u64,
    /// Packets and copies lost.
    pub lost: u64,
    /// Packets and copies that arrived at the far end.
    pub delivered: u64,
    /// Packets and copies still in flight at the end.
    pub in_flight: u64,
    /// Packets and copies that arrive before one that entered earlier.
    pub reordered: u64,
}

/// A link direction with impairments.
#[derive(Debug)]
pub struct ImpairedDirection {
    delay: DelaySteps,
    loss: Option<BurstLoss>,
    duplicate: Option<(f64, Correlated)>,
    reorder: Option<Reorder>,
    jitter: Option<Jitter>,
    keep_order: bool,
    /// The latest arrival of all packets.
    last_arrival: Time,
    /// Arrivals that were not due at the last packet.
    arrivals: BinaryHeap<Reverse<Time>>,
    counts: ImpairmentCounts,
}

impl ImpairedDirection {
    /// An idle direction. `rng` gives the generator of each impairment by name.
    ///
    /// # Errors
    /// [`ImpairmentConfig::check`]'s.
    pub fn new(config: &ImpairmentConfig, rng: impl Fn(&str) -> Rng) -> Result<Self, String> {
        config.check()?;
        let duplicate = |chance: Chance| {
            (chance.probability, Correlated::new(chance.correlation, rng("duplicate")))
        };
        Ok(ImpairedDirection {
            delay: config.delay.clone(),
            loss: config.loss.map(|loss| BurstLoss::new(loss, rng("loss"))),
            duplicate: config.duplicate.map(duplicate),
            reorder: config.reorder.map(|reorder| Reorder::new(reorder, rng("reorder"))),
            jitter: config.jitter.map(|jitter| Jitter::new(jitter, rng("jitter"))),
            keep_order: config.keep_order,
            last_arrival: Time::ZERO,
            arrivals: BinaryHeap::new(),
            counts: ImpairmentCounts::default(),
        })
    }

    /// A packet enters. Returns what becomes of it, and of its copy if there is one. Calls are in
    /// the order of time.
    pub fn handle(&mut self, now: Time) -> (Fate, Option<Fate>) {
        self.deliver(now);
        self.counts.received += 1;
        let is_doubled = match &mut self.duplicate {
            Some((probability, draws)) => draws.f64() < *probability,
            None => false,
        };
        let own = self.pass(now);
        let copy = is_doubled.then(|| {
            self.counts.duplicated += 1;
            self.pass(now)
        });
        (own, copy)
    }

    fn pass(&mut self, now: Time) -> Fate {
        if self.loss.as_mut().is_some_and(BurstLoss::loses) {
            self.counts.lost += 1;
            return Fate::Lost;
        }
        let skipped = self.reorder.as_mut().is_some_and(Reorder::skips);
        let mut at = now;
        if !skipped {
            let delay = self.delay.at(now);
            at += self.jitter.as_mut().map_or(delay, |jitter| jitter.apply(delay));
            if self.keep_order {
                at = at.max(self.last_arrival);
            }
        }
        self.counts.reordered += u64::from(at < self.last_arrival);
        self.last_arrival = self.last_arrival.max(at);
        self.arrivals.push(Reverse(at));
        Fate::Arrives { at, skipped }
    }

    fn deliver(&mut self, now: Time) {
        while self.arrivals.peek().is_some_and(|&Reverse(at)| at <= now) {
            self.arrivals.pop();
            self.counts.delivered += 1;
        }
    }

    /// Its packets until an instant, not before the last packet's.
    pub fn counts(&mut self, end: Time) -> ImpairmentCounts {
        self.deliver(end);
        ImpairmentCounts { in_flight: self.arrivals.len() as u64, ..self.counts }
    }
}
