//! A recorded trace: one message for each packet, with the packet's length and time.
//!
//! Times count from the trace's first packet. The caller reads the trace (CSV or pcap) and passes a
//! list.

use crate::application::Application;
use crate::error::{self, AppError};
use crate::key;
use crate::message::HEADER_BYTES;
use crate::paced::{Message, Paced, Schedule};
use crate::workload::{self, Workload, WorkloadRecord};
use narrows_common::{Duration, Rng};
use schemars::JsonSchema;
use serde::Deserialize;

/// The workload's entry in the list.
pub const RECORD: WorkloadRecord = WorkloadRecord {
    name: "trace",
    title: "one message per recorded packet, with its length and time",
    reference: "a trace in CSV (seconds, bytes) or pcap",
    keys: &[key::key("file", "writes", key::Unit::Trace, "path of a packet trace").required()],
    has_messages: true,
    answers: false,
    values: workload::values::<Config>(),
};

/// Its values in a scenario.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Time since the first message, and length in bytes, of each message in time order.
    pub writes: Vec<(Duration, u32)>,
}

impl Workload for Config {
    fn record(&self) -> &'static WorkloadRecord {
        &RECORD
    }

    fn check(&self) -> Result<(), AppError> {
        let mut last = Duration::ZERO;
        for &(at, length_bytes) in &self.writes {
            let most = Duration::MAX.as_ps();
            error::in_range(RECORD.name, "writes", at.as_ps(), (last.as_ps(), most))?;
            error::in_range(RECORD.name, "writes", length_bytes, (HEADER_BYTES, u32::MAX))?;
            last = at;
        }
        Ok(())
    }

    fn build(&self) -> Box<dyn Application> {
        Box::new(self.application())
    }

    fn is_finite(&self) -> bool {
        true
    }
}

impl Config {
    pub(crate) fn application(&self) -> Paced<Replay> {
        Paced::new(Replay { writes: self.writes.clone().into_iter() }, None)
    }
}

/// The replay.
#[derive(Debug)]
pub struct Replay {
    writes: std::vec::IntoIter<(Duration, u32)>,
}

impl Schedule for Replay {
    fn next(&mut self, _rng: &mut Rng) -> Option<Message> {
        let (after, length_bytes) = self.writes.next()?;
        Some(Message { after, length_bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paced::tests::written;
    use narrows_common::Time;

    #[test]
    fn what_was_recorded_is_written_and_then_it_is_finished() {
        let at = Duration::from_ms;
        let config = Config { writes: vec![(at(0), 60), (at(2), 1_514), (at(2), 24)] };
        assert_eq!(config.check(), Ok(()));
        let start = Time::ZERO + at(10);
        assert_eq!(
            written(&mut config.application(), start, Time::MAX, 1),
            [(start, 60), (start + at(2), 1_514), (start + at(2), 24)]
        );
    }

    #[test]
    fn decreasing_times_and_short_lengths_are_refused() {
        let at = Duration::from_ms;
        let back = Config { writes: vec![(at(2), 60), (at(1), 60)] };
        assert_eq!(back.check().unwrap_err().value, "1000000000");
        let short = Config { writes: vec![(at(2), 23)] };
        assert_eq!(
            short.check().unwrap_err().to_string(),
            "app trace: writes = 23 is out of range; expected 24 to 4294967295"
        );
    }
}
