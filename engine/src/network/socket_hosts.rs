//! The hosts of a run with the kernel's stack, shared by the driver of their sockets and the
//! network, which has their access links, writes their tables and sums them up.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use narrows_common::Rng;
use narrows_hosts::{FlowReport, SocketHost};

use super::least_delay;
use crate::error::EngineError;
use crate::plan::Plan;

/// What stands for an instant that has not come.
const NOT_YET: u64 = u64::MAX;

/// A run's hosts with sockets, by name; none in virtual time. A copy is the same hosts.
#[derive(Clone, Debug, Default)]
pub struct SocketHosts {
    hosts: Arc<BTreeMap<String, Outside>>,
    began_ns: Arc<AtomicU64>,
}

#[derive(Debug)]
struct Outside {
    /// The device string of the port that its packets come and go by.
    device: String,
    host: Mutex<SocketHost>,
}

impl SocketHosts {
    /// The hosts of a plan that have a device.
    ///
    /// # Errors
    /// If a host is not in the plan, or a flow of one is wrong.
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

    /// True when the host of this name is one.
    pub fn has(&self, name: &str) -> bool {
        self.hosts.contains_key(name)
    }

    /// The device string of a host's port.
    pub fn device(&self, name: &str) -> Option<String> {
        self.hosts.get(name).map(|outside| outside.device.clone())
    }

    /// A host, for who drives its sockets.
    pub fn host(&self, name: &str) -> Option<MutexGuard<'_, SocketHost>> {
        let outside = self.hosts.get(name)?;
        Some(outside.host.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The run begins now, at this time of `CLOCK_MONOTONIC_RAW`.
    pub fn begin(&self, raw_ns: u64) {
        self.began_ns.store(raw_ns, Ordering::Release);
    }

    /// When the run began by `CLOCK_MONOTONIC_RAW`; `None` before that.
    pub fn began_ns(&self) -> Option<u64> {
        Some(self.began_ns.load(Ordering::Acquire)).filter(|&raw_ns| raw_ns != NOT_YET)
    }

    /// Calls `take` with each host; where it is not to wait, with each that nobody else has just now.
    pub(crate) fn each(&self, is_to_wait: bool, mut take: impl FnMut(&mut SocketHost)) {
        for outside in self.hosts.values() {
            match is_to_wait {
                true => take(&mut outside.host.lock().unwrap_or_else(PoisonError::into_inner)),
                false => outside.host.try_lock().iter_mut().for_each(|host| take(host)),
            }
        }
    }

    /// What a flow has come to at a host.
    pub(crate) fn flow_report(&self, name: &str, flow: u32) -> Option<FlowReport> {
        self.host(name)?.flow_report(flow)
    }
}
