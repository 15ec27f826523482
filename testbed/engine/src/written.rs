//! What the applications of a plan's flows write, without the connections that carry it: the
//! traffic that a generator of packets stands in for. Times and lengths are those of the flows'
//! own hosts in a run of the plan.

use narrows_common::{Rng, Time};
use narrows_hosts::flow_rng;
use narrows_traffic::Write;

use crate::EngineError;
use crate::plan::Plan;

/// Beyond so many messages a caller should have asked for less.
const MOST_MESSAGES: usize = 5_000_000;

/// A message: its flow, when it is written, its length with its header.
pub type Written = (u32, Time, u32);

/// The messages that are written before `until`, flow by flow. Flows whose applications write a
/// stream without messages have none; what waits for the other end is left out.
///
/// # Errors
/// A flow whose host is not there, values out of range, or too many messages.
pub fn written(plan: &Plan, until: Time) -> Result<Vec<Written>, EngineError> {
    let mut found = Vec::new();
    for planned in &plan.flows {
        let flow = &planned.flow;
        flow.app.check().map_err(|error| {
            EngineError::Plan(format!("flow {}: application: {error}", flow.id))
        })?;
        let mut rng = flow_rng(&Rng::for_component(plan.seed, &planned.from), flow.id);
        let mut application = flow.app.build();
        let mut now = flow.start;
        while now < until {
            while let Some(write) = application.poll_write(now, &mut rng) {
                let Write::Message { length_bytes } = write else { break };
                if found.len() == MOST_MESSAGES {
                    let what = format!("more than {MOST_MESSAGES} messages: ask for less time");
                    return Err(EngineError::Plan(what));
                }
                found.push((flow.id, now, length_bytes));
            }
            match application.poll_timeout() {
                Some(next) if next > now => now = next,
                _ => break,
            }
        }
    }
    Ok(found)
}
