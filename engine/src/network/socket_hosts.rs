//! The hosts of a run that use the kernel's stack. The driver of their sockets shares them with the
//! network, which has their access links and writes their tables and summary.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use narrows_common::Rng;
use narrows_hosts::{FlowReport, SocketHost};

use super::least_delay;
use crate::error::EngineError;
use crate::plan::Plan;

/// Stands for an instant that has not been reached.
const NOT_YET: u64 = u64::MAX;

/// The hosts of a run that use sockets, by name; none in virtual time. A clone shares the hosts.
#[derive(Clone, Debug, Default)]
pub struct SocketHosts {
    hosts: Arc<BTreeMap<String, Outside>>,
    began_ns: Arc<AtomicU64>,
}

#[derive(Debug)]
struct Outside {
    /// The device string of the port that carries its packets.
    device: String,
    host: Mutex<SocketHost>,
}

impl SocketHosts {
    /// The hosts of a plan that have a device.
    ///
    /// # Errors
    /// If a host is not in the plan, or one of its flows is wrong.
    pub fn new(plan: &Plan, devices: BTreeMap<String, String>) -> Result<SocketHosts, EngineError> {
        let mut hosts = BTreeMap::new();
        for (name, device) in devices {
            if !plan.hosts.iter().any(|host| host.config.name == name) {
                return Err(EngineError::Plan(format!("plan: there is no host '{name}'")));
            }
            let mut host = SocketHost::new(Rng::for_component(plan.seed, &name));
            for flow in plan.flows.iter().filter(|flow| flow.from == name || flow.to == name) {
                let least = least_delay::of_flow(plan, flow);
                host.add(&flow.flow, flow.from == name, least)
                    .map_err(|error| EngineError::Plan(error.to_string()))?;
            }
            hosts.insert(name, Outside { device, host: Mutex::new(host) });
        }
        Ok(SocketHosts { hosts: Arc::new(hosts), began_ns: Arc::new(AtomicU64::new(NOT_YET)) })
    }

    /// True if this host uses sockets.
    pub fn has(&self, name: &str) -> bool {
        self.hosts.contains_key(name)
    }

    /// The device string of a host's port.
    pub fn device(&self, name: &str) -> Option<String> {
        self.hosts.get(name).map(|outside| outside.device.clone())
    }

    /// A host, for the driver of its sockets.
    pub fn host(&self, name: &str) -> Option<MutexGuard<'_, SocketHost>> {
        let outside = self.hosts.get(name)?;
        Some(outside.host.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Starts the run at this reading of `CLOCK_MONOTONIC_RAW`.
    pub fn begin(&self, raw_ns: u64) {
        self.began_ns.store(raw_ns, Ordering::Release);
    }

    /// When the run began, by `CLOCK_MONOTONIC_RAW`; `None` before that.
    pub fn began_ns(&self) -> Option<u64> {
        Some(self.began_ns.load(Ordering::Acquire)).filter(|&raw_ns| raw_ns != NOT_YET)
    }

    /// Calls `take` with each host. Unless `is_to_wait`, skips the hosts that another thread has
    /// locked.
    pub(crate) fn each(&self, is_to_wait: bool, mut take: impl FnMut(&mut SocketHost)) {
        for outside in self.hosts.values() {
            match is_to_wait {
                true => take(&mut outside.host.lock().unwrap_or_else(PoisonError::into_inner)),
                false => outside.host.try_lock().iter_mut().for_each(|host| take(host)),
            }
        }
    }

    /// A flow's figures at a host.
    pub(crate) fn flow_report(&self, name: &str, flow: u32) -> Option<FlowReport> {
        self.host(name)?.flow_report(flow)
    }
}
