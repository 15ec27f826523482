//! The messages that the applications of a plan's flows write, without the connections that carry
//! them. A packet generator sends these in place of the flows. Times and lengths equal those at the
//! flows' own hosts in a run of the plan.

use narrows_common::{Rng, Time};
use narrows_hosts::flow_rng;
use narrows_traffic::{Application, Write};

use crate::error::EngineError;
use crate::plan::{FlowPlan, Plan};

/// The most messages that one call returns; a caller that needs more asks for less time.
const MOST_MESSAGES: usize = 5_000_000;

/// A message: its flow, the time at which it is written, and its length including the header.
pub type ApplicationMessage = (u32, Time, u32);

/// A flow's application without its connection: the times and lengths of its messages. An
/// application that writes a stream has no messages. Messages that wait for the other end are
/// omitted.
#[derive(Debug)]
pub struct MessageSource {
    application: Box<dyn Application>,
    rng: Rng,
    now: Time,
}

impl MessageSource {
    /// The application of one of the plan's flows.
    ///
    /// # Errors
    /// Values out of range.
    pub fn new(plan: &Plan, planned: &FlowPlan) -> Result<MessageSource, EngineError> {
        let flow = &planned.flow;
        flow.app.check().map_err(|error| {
            EngineError::Plan(format!("flow {}: application: {error}", flow.id))
        })?;
        let rng = flow_rng(&Rng::for_component(plan.seed, &planned.from), flow.id);
        Ok(MessageSource { application: flow.app.build(), rng, now: flow.start })
    }
}

impl Iterator for MessageSource {
    type Item = (Time, u32);

    fn next(&mut self) -> Option<(Time, u32)> {
        loop {
            let write = self.application.poll_write(self.now, &mut self.rng);
            if let Some(Write::Message { length_bytes }) = write {
                return Some((self.now, length_bytes));
            }
            match self.application.poll_timeout() {
                Some(next) if next > self.now => self.now = next,
                _ => return None,
            }
        }
    }
}

/// The messages written before `until`, flow by flow, at most `most` per flow.
///
/// # Errors
/// Values out of range, or too many messages.
pub fn application_messages(
    plan: &Plan,
    until: Time,
    most: usize,
) -> Result<Vec<ApplicationMessage>, EngineError> {
    let mut found = Vec::new();
    for planned in &plan.flows {
        let messages = MessageSource::new(plan, planned)?.take_while(|&(at, _)| at < until);
        for (at, length_bytes) in messages.take(most) {
            if found.len() == MOST_MESSAGES {
                let what = format!("more than {MOST_MESSAGES} messages: ask for less time");
                return Err(EngineError::Plan(what));
            }
            found.push((planned.flow.id, at, length_bytes));
        }
    }
    Ok(found)
}
