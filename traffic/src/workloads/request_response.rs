//! Requests and responses: one end writes a request, the other answers, then the next request
//! follows.
//!
//! A closed loop: the next request follows an exponential think time (none if absent) after the
//! last byte of the response. A message's latency is the transaction's: from writing the request to
//! reading its whole response.

use crate::application::Application;
use crate::application::Write;
use crate::distribution;
use crate::error::{self, AppError};
use crate::key;
use crate::workload::{self, Reaction, Workload, WorkloadRecord};
use narrows_common::{Duration, Rng, Time};
use schemars::JsonSchema;
use serde::Deserialize;

/// The workload's entry in the list.
pub const RECORD: WorkloadRecord = WorkloadRecord {
    name: "request-response",
    title: "requests, each answered before the next; latency is that of the transaction",
    reference: "closed-loop transactions, as netperf's TCP_RR and TCP_CRR have them",
    keys: &[
        key::SIZE.named("size", "length of a request, including its header").required(),
        key::key(
            "response",
            "response_bytes",
            key::Unit::Size,
            "length of a response, including its header",
        )
        .required(),
        key::key(
            "think",
            "think_ps",
            key::Unit::Duration,
            "mean pause before the next request, exponential",
        )
        .or("none"),
        key::MESSAGES.named("messages", "requests to write"),
    ],
    has_messages: true,
    answers: true,
    values: workload::values::<Config>(),
};

/// Its values in a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Length of a request.
    pub size_bytes: u32,
    /// Length of a response.
    pub response_bytes: u32,
    /// Mean pause between a response and the next request.
    #[serde(rename = "think_ps", default)]
    pub think: Option<Duration>,
    /// Requests to write; unlimited if absent.
    #[serde(default)]
    pub messages: Option<u64>,
}

impl Workload for Config {
    fn record(&self) -> &'static WorkloadRecord {
        &RECORD
    }

    fn check(&self) -> Result<(), AppError> {
        error::check_size(RECORD.name, self.size_bytes)?;
        error::check_length(RECORD.name, "response_bytes", self.response_bytes)?;
        self.think.map_or(Ok(()), |think| error::check_gap(RECORD.name, "think_ps", think))
    }

    fn build(&self) -> Box<dyn Application> {
        Box::new(self.application())
    }

    fn is_finite(&self) -> bool {
        self.messages.is_some()
    }

    fn reaction(&self) -> Option<Reaction> {
        Some(Reaction::Respond { length_bytes: self.response_bytes })
    }
}

impl Config {
    pub(crate) fn application(&self) -> Client {
        let left = self.messages.unwrap_or(u64::MAX);
        Client { config: *self, left, waits: false, due: None, is_due_drawn: true }
    }
}

/// The requesting end.
#[derive(Debug)]
pub struct Client {
    config: Config,
    /// Requests not written yet.
    left: u64,
    /// True while a response is outstanding.
    waits: bool,
    /// When to write the next request; `None` for immediately.
    due: Option<Time>,
    /// The pause before it has been drawn.
    is_due_drawn: bool,
}

impl Application for Client {
    fn poll_write(&mut self, now: Time, rng: &mut Rng) -> Option<Write> {
        if self.waits || self.left == 0 {
            return None;
        }
        if let (Some(think), false) = (self.config.think, self.is_due_drawn) {
            let pause_ps = distribution::exponential(think.as_ps() as f64, rng);
            self.due = Some(now + Duration::from_ps(pause_ps as u64));
        }
        self.is_due_drawn = true;
        if self.due.is_some_and(|due| due > now) {
            return None;
        }
        self.due = None;
        self.left -= 1;
        self.waits = true;
        Some(Write::Message { length_bytes: self.config.size_bytes })
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.due
    }

    fn handle_message(&mut self, _now: Time) {
        self.waits = false;
        self.is_due_drawn = false;
    }

    fn is_finished(&self) -> bool {
        self.left == 0 && !self.waits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_waits_for_the_response_and_the_pause() {
        let config = Config {
            size_bytes: 100,
            response_bytes: 1000,
            think: Some(Duration::from_ms(10)),
            messages: Some(2),
        };
        assert_eq!(config.check(), Ok(()));
        let (mut client, mut rng) = (config.application(), Rng::from_seed(1));
        let at = |ms| Time::ZERO + Duration::from_ms(ms);
        let request = Some(Write::Message { length_bytes: 100 });
        assert_eq!(client.poll_write(at(1), &mut rng), request, "the first at once");
        assert_eq!(client.poll_write(at(2), &mut rng), None);
        assert_eq!(client.poll_timeout(), None);
        client.handle_message(at(50));
        assert_eq!(client.poll_write(at(50), &mut rng), None, "thinks");
        let due = client.poll_timeout().unwrap();
        assert!(due > at(50));
        assert_eq!(client.poll_write(due, &mut rng), request);
        assert!(!client.is_finished());
        client.handle_message(due);
        assert!(client.is_finished());
    }
}
