//! A scenario's event: operations on a switch at an instant.

use narrows_common::Time;
use narrows_switch::ControlOperation;

use super::managed_switch::operation::Operation;
use crate::plan::EventPlan;

/// Operations on a switch at an instant.
#[derive(Debug)]
pub(super) struct ControlEvent {
    pub at: Time,
    pub switch: usize,
    pub operations: Vec<Operation>,
}

impl ControlEvent {
    /// An event of the plan on this switch.
    pub fn new(plan: EventPlan, switch: usize) -> Self {
        let mut operations = vec![];
        if let (Some(port), Some(rate)) = (plan.port, plan.rate_bps) {
            operations.push(Operation::Port(ControlOperation::SetRate { port, rate }));
        }
        if let (Some(port), Some(limit)) = (plan.port, plan.queue) {
            operations.push(Operation::Port(ControlOperation::SetQueueLimit { port, limit }));
        }
        if let (Some(port), Some(discipline)) = (plan.port, plan.discipline) {
            operations.push(Operation::Port(ControlOperation::SetDiscipline { port, discipline }));
        }
        if let (Some(port), Some(share)) = (plan.port, plan.share) {
            operations.push(Operation::Port(ControlOperation::SetShare { port, share }));
        }
        if let (Some(entry), Some(operation)) = (plan.entry, plan.op) {
            operations.push(Operation::Entry { operation, entry });
        }
        ControlEvent { at: plan.at_ps, switch, operations }
    }
}
