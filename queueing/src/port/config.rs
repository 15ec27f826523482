//! The configuration of an output port, and what can be wrong with it.

use crate::disciplines::DisciplineConfig;
use crate::limit::QueueLimit;
use crate::port::scheduler::{QueueConfig, QueueShare};
use crate::port::serializer::RateTrace;
use crate::record::DisciplineError;
use narrows_common::LengthBasis;
use schemars::JsonSchema;
use serde::Deserialize;

/// An output port.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PortConfig {
    /// Its number.
    pub port: u16,
    /// Bits per second; without a rate, packets leave immediately and are never queued.
    #[serde(default)]
    pub rate_bps: Option<u64>,
    /// Rates over time in place of the rate, which is then their mean.
    #[serde(default)]
    pub trace: Option<RateTrace>,
    /// The limit of each of its queues.
    pub queue: QueueLimit,
    /// The discipline of each of its queues that has none of its own.
    #[serde(default)]
    pub discipline: DisciplineConfig,
    /// The bytes of a frame that count against rate and limit.
    pub counts: LengthBasis,
    /// The number of queues; a packet's priority selects one, and higher priorities are served
    /// first.
    #[serde(default = "one")]
    pub queues: u8,
    /// What each of its queues has of its own, the first served first: code points, weight, rate,
    /// limit and discipline. Empty for equal queues in strict priority.
    #[serde(default)]
    pub classes: Vec<QueueConfig>,
    /// Whether to record its events, if the traffic manager records any.
    #[serde(default = "yes")]
    pub record: bool,
    /// The number of the traffic manager that has its queues, among several with the same ports.
    #[serde(default)]
    pub pipeline: u16,
}

fn one() -> u8 {
    1
}

fn yes() -> bool {
    true
}

/// Why a port's configuration, or a change of it, is invalid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PortError {
    /// Two ports have the same number.
    #[error("port {0}: configured twice")]
    Twice(u16),
    /// A rate of zero.
    #[error("port {0}: rate_bps is 0: expected a rate above zero")]
    ZeroRate(u16),
    /// No queues, or more than there are priorities.
    #[error("port {port}: queues is {queues}: expected 1 to 8")]
    Queues {
        /// The port's number.
        port: u16,
        /// The number given.
        queues: u8,
    },
    /// The trace is not one.
    #[error("port {port}: {what}")]
    Trace {
        /// The port's number.
        port: u16,
        /// What is wrong, and what was expected.
        what: &'static str,
    },
    /// The port follows a trace, so that its rate cannot be set.
    #[error("port {0}: its rate follows a trace: expected a port without one")]
    Traced(u16),
    /// There are settings for another number of queues.
    #[error(
        "port {port}: classes has {classes} entries: expected none, or one for each of {queues}"
    )]
    Classes {
        /// The port's number.
        port: u16,
        /// The entries given.
        classes: usize,
        /// The port's queues.
        queues: u8,
    },
    /// A queue's own setting is out of range.
    #[error("port {port}: queue {queue}: {what}")]
    Class {
        /// The port's number.
        port: u16,
        /// The queue's number.
        queue: usize,
        /// The setting, and what was expected.
        what: String,
    },
    /// The port's decision core cannot have a setting.
    #[error("port {port}: {what}")]
    Core {
        /// The port's number.
        port: u16,
        /// What is wrong, and what was expected.
        what: String,
    },
    /// The port does not exist.
    #[error("port {0}: there is no such port")]
    None(u16),
    /// The discipline does not exist, or does not take its parameters.
    #[error("port {port}: {error}")]
    Discipline {
        /// The port's number.
        port: u16,
        /// The discipline's error.
        error: DisciplineError,
    },
}

impl PortConfig {
    /// Checks rate, number of queues and what these have of their own.
    ///
    /// # Errors
    /// The first setting out of range.
    pub(crate) fn check(&self) -> Result<(), PortError> {
        let (port, queues) = (self.port, self.queues);
        if self.rate_bps == Some(0) {
            return Err(PortError::ZeroRate(port));
        }
        if let Some(trace) = &self.trace {
            let what = trace.check().err().or(match self.rate_bps {
                None => Some("trace: expected rate_bps, its mean"),
                Some(_) => None,
            });
            what.map_or(Ok(()), |what| Err(PortError::Trace { port, what }))?;
        }
        if !(1..=8).contains(&queues) {
            return Err(PortError::Queues { port, queues });
        }
        let classes = self.classes.len();
        if classes != 0 && classes != usize::from(queues) {
            return Err(PortError::Classes { port, classes, queues });
        }
        for (queue, class) in self.classes.iter().enumerate() {
            let error = |what: &str| PortError::Class { port, queue, what: what.to_owned() };
            class.check().map_err(error)?;
        }
        Ok(())
    }

    /// Changes the weight or the rate of one of its queues.
    ///
    /// # Errors
    /// If the queue has no settings of its own, or a value does not fit it.
    pub fn set_share(&mut self, change: QueueShare) -> Result<(), PortError> {
        let (port, queue) = (self.port, usize::from(change.queue));
        let error = |what: &str| PortError::Class { port, queue, what: what.to_owned() };
        change.check().map_err(error)?;
        let class = self.classes.get_mut(queue);
        let class = class.ok_or_else(|| error("the port has no classes for it"))?;
        if change.weight.is_some() {
            class.weight = Some(change.weight_over(class.weight).map_err(error)?);
        }
        class.rate_bps = change.rate_bps.or(class.rate_bps);
        Ok(())
    }
}
