//! The controller's events during a run, the cores at its switches' ports, and what a watcher sees
//! and changes.

use std::collections::BTreeMap;
use std::path::Path;

use narrows_common::Time;
use narrows_fpga::CoreLibrary;
use narrows_queueing::QueueLimit;
use narrows_switch::ControlOperation;

use super::Network;
use super::managed_switch::operation::Operation;
use super::managed_switch::refusal::Refusal;
use super::nodes::{HostStack, WatchedPort};
use crate::error::{EngineError, plan_error};

/// A port now, with its counts since the start.
#[derive(Clone, Debug)]
pub struct PortView {
    /// The switch's name.
    pub switch: String,
    /// The port's number.
    pub port: u16,
    /// Its rate.
    pub rate_bps: u64,
    /// The limit of its queues.
    pub limit: QueueLimit,
    /// Bytes sent that count against the rate.
    pub transmitted_bytes: u64,
    /// Packets dropped.
    pub dropped: u64,
    /// Packets marked.
    pub marked: u64,
    /// Packets queued.
    pub waiting_packets: u64,
    /// Bytes queued.
    pub waiting_bytes: u64,
}

/// A run at one instant.
#[derive(Clone, Debug)]
pub struct View {
    /// The instant.
    pub now: Time,
    /// The ports with a rate.
    pub ports: Vec<PortView>,
    /// The congestion window in bytes of each flow with a recorded one, by its number.
    pub windows_bytes: BTreeMap<u32, u64>,
}

/// Sees a run and changes it, at an instant between two events.
pub type Watcher<'a> = &'a mut dyn FnMut(Time, &mut Network);

impl Network {
    /// Puts a core of Verilator's library at each port with a rate. Nothing has been sent yet.
    ///
    /// # Errors
    /// If the library cannot be loaded, or a port has what a core has not.
    pub fn use_cores(&mut self, library: &Path) -> Result<(), EngineError> {
        let library = CoreLibrary::load(library).map_err(plan_error)?;
        for node in self.switches.iter_mut() {
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
            }
            for operation in event.operations.clone() {
                self.settle(now, index, &operation);
            }
            self.leave_switch(index);
        }
        let next = self.control_events.get(self.next_control_event);
        self.schedule.set_controller(next.map_or(Time::MAX, |event| event.at));
        Ok(())
    }

    /// The run now.
    pub fn view(&mut self, now: Time) -> View {
        let mut windows = self.watched.windows.get_or_insert_default().clone();
        for node in self.hosts.iter_mut() {
            if let HostStack::Narrows(host) = &mut node.stack {
                let records = host.flow_records().iter();
                windows.extend(records.map(|record| (record.flow, record.cwnd_bytes)));
            }
        }
        let ports = self.watched.ports.iter().map(|watched| {
            let node = &self.switches[watched.switch];
            let counts = node.switch.port_statistics(watched.port).unwrap_or_default();
            PortView {
                switch: node.name.to_string(),
                port: watched.port,
                rate_bps: watched.rate.as_bps(),
                limit: watched.limit,
                transmitted_bytes: counts.transmitted_bytes,
                dropped: counts.drops.total(),
                marked: counts.marks.iter().map(|(_, count)| count).sum(),
                waiting_packets: counts.waiting_packets,
                waiting_bytes: counts.waiting_bytes,
            }
        });
        View { now, ports: ports.collect(), windows_bytes: windows }
    }

    /// Executes a controller's operation on a port of a switch, now.
    ///
    /// # Errors
    /// If there is no such switch, or it refuses.
    pub fn control(
        &mut self,
        now: Time,
        switch: &str,
        operation: ControlOperation,
    ) -> Result<(), Refusal> {
        let Some(index) = self.switches.iter().position(|node| &*node.name == switch) else {
            return Err(Refusal::new("not-found", format!("there is no switch '{switch}'")));
        };
        let operation = Operation::Port(operation);
        operation.apply(now, &mut self.switches[index].switch)?;
        self.settle(now, index, &operation);
        self.leave_switch(index);
        Ok(())
    }

    /// A switch's port has another rate or limit.
    pub(super) fn settle(&mut self, now: Time, switch: usize, operation: &Operation) {
        let Operation::Port(operation) = operation else { return };
        let watched = &mut self.watched.ports;
        match *operation {
            ControlOperation::SetRate { port, rate } => {
                if let Some(border) = &mut self.border {
                    border.rates.push((now, (switch, port), rate));
                }
                let ports = self.monitored.iter_mut();
                ports
                    .filter(|monitored| (monitored.switch, monitored.port) == (switch, port))
                    .for_each(|monitored| monitored.figures.handle_rate(now, rate));
                let of_port = |one: &&mut WatchedPort| (one.switch, one.port) == (switch, port);
                watched.iter_mut().filter(of_port).for_each(|one| one.rate = rate);
            }
            ControlOperation::SetQueueLimit { port, limit } => {
                let of_port = |one: &&mut WatchedPort| (one.switch, one.port) == (switch, port);
                watched.iter_mut().filter(of_port).for_each(|one| one.limit = limit);
            }
            _ => {}
        }
    }
}
