//! The controller's events during a run, and the cores at its switches' ports.

use std::path::Path;

use narrows_common::Time;
use narrows_fpga::CoreLibrary;
use narrows_switch::ControlOperation;

use super::Network;
use super::managed_switch::operation::Operation;
use super::sources::Sources;
use crate::error::{EngineError, plan_error};

impl Network {
    /// Puts a core of Verilator's library at each port with a rate. Nothing has been sent yet.
    ///
    /// # Errors
    /// If the library cannot be loaded, or a port has what a core has not.
    pub fn use_cores(&mut self, library: &Path) -> Result<(), EngineError> {
        let library = CoreLibrary::load(library).map_err(plan_error)?;
        for node in &mut self.switches {
            let used = node.switch.use_cores(&mut || library.core());
            used.map_err(|error| plan_error(format!("switch '{}': {error}", node.name)))?;
        }
        Ok(())
    }

    /// Executes the controller's events that are due.
    pub(super) fn handle_control_events(&mut self, now: Time) -> Result<(), EngineError> {
        while let Some(event) = self.control_events.get(self.next_control_event)
            && event.at <= now
        {
            self.next_control_event += 1;
            let index = event.switch;
            let node = &mut self.switches[index];
            for operation in &event.operations {
                operation.apply(now, &mut node.switch).map_err(|refusal| {
                    let name = &node.name;
                    let message = refusal.message;
                    EngineError::Event(format!("event at {now} on switch '{name}': {message}"))
                })?;
                if let Operation::Port(ControlOperation::SetRate { port, rate }) = *operation {
                    let ports = self.monitored.iter_mut();
                    ports
                        .filter(|monitored| (monitored.switch, monitored.port) == (index, port))
                        .for_each(|monitored| monitored.figures.handle_rate(now, rate));
                }
            }
            self.leave_switch(index);
        }
        let next = self.control_events.get(self.next_control_event);
        self.schedule.set(Sources::CONTROLLER, next.map_or(Time::MAX, |event| event.at));
        Ok(())
    }
}
