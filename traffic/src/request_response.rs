//! Requests and responses: a request is written, the other end answers, the next one follows.
//!
//! A closed loop: the next request comes a think time after the last byte of the response, the
//! think time exponential (none where it is not given). A message's latency is the transaction's:
//! from writing the request to reading the whole of its response.

use crate::error::{self, AppError};
use crate::{Application, Model, Write, gaps, key};
use narrows_common::{Duration, Rng, Time};
use serde::{Deserialize, Serialize};

/// The model's entry in the list.
pub const MODEL: Model = Model {
    name: "request-response",
    title: "requests, each answered before the next; latencies are transactions'",
    reference: "closed-loop transactions, as netperf's TCP_RR and TCP_CRR have them",
    keys: &[
        key::SIZE.named("size", "a request, header included").needed(),
        key::key("response", "response_bytes", key::Unit::Size, "a response, header included")
            .needed(),
        key::key("think", "think_ps", key::Unit::Duration, "mean pause, exponential; absent: none"),
        key::MESSAGES.named("messages", "requests to write; absent: without end"),
    ],
    has_messages: true,
    answers: true,
};

/// What a scenario may say about it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Length of a request.
    pub size_bytes: u32,
    /// Length of a response.
    pub response_bytes: u32,
    /// Mean pause between a response and the next request.
    #[serde(rename = "think_ps", default)]
    pub think: Option<Duration>,
    /// Requests to write; absent is without end.
    #[serde(default)]
    pub messages: Option<u64>,
}

impl Config {
    pub(crate) fn check(&self) -> Result<(), AppError> {
        error::check_size(MODEL.name, self.size_bytes)?;
        error::check_length(MODEL.name, "response_bytes", self.response_bytes)?;
        self.think.map_or(Ok(()), |think| error::check_gap(MODEL.name, "think_ps", think))
    }

    pub(crate) fn build(&self) -> Client {
        let left = self.messages.unwrap_or(u64::MAX);
        Client { config: *self, left, waits: false, due: None, is_due_drawn: true }
    }
}

/// The end that asks.
#[derive(Debug)]
pub struct Client {
    config: Config,
    /// Requests not written yet.
    left: u64,
    /// A response is outstanding.
    waits: bool,
    /// When the next request is to be written; `None`: at once.
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
            let pause_ps = gaps::exponential(think.as_ps() as f64, rng);
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
        let (mut client, mut rng) = (config.build(), Rng::from_seed(1));
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
