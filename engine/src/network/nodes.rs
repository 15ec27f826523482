//! The nodes of a network and the links between them.

use std::collections::BTreeMap;
use std::sync::Arc;

use narrows_common::prefetch::prefetch_slice;
use narrows_common::record::FlowRecord;
use narrows_common::{Duration, Rate, Time};
use narrows_hosts::{FlowConfig, Host};
use narrows_queueing::{Link, QueueLimit};
use narrows_switch::Switch;

use crate::plan::Plan;
use crate::record::queue_figures::QueueFigures;

/// A switch and its cables.
pub(crate) struct SwitchNode {
    pub name: Arc<str>,
    pub switch: Switch,
    /// Indexed by port; `None` for a port without a cable.
    pub cables: Vec<Option<Cable>>,
}

/// A port's cable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cable {
    pub to: FarEnd,
    pub delay: Duration,
    /// Its number among the link directions with impairments.
    pub impaired: Option<usize>,
}

/// The cable from a group to a switch port.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Uplink {
    pub switch: usize,
    pub port: u16,
    pub delay: Duration,
    /// Its number among the link directions with impairments.
    pub impaired: Option<usize>,
}

/// The far end of a cable, seen from a switch.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FarEnd {
    /// Another switch, by this link direction.
    Direction(usize),
    /// Hosts, told apart by MAC address.
    Group,
    /// The collector.
    Collector,
}

/// A host, its access link, and the switch port that its group's cable leads to.
#[derive(Debug)]
pub(crate) struct HostNode {
    pub stack: HostStack,
    pub access: Link,
    /// The link direction to the switch.
    pub uplink: usize,
    /// The link direction from the access link to the host.
    pub downlink: usize,
    pub cable_delay: Duration,
    /// When its timer in the schedule is due.
    pub due: Time,
    /// The host is listed in [`super::Network::hosts_with_records`].
    pub has_records: bool,
}

impl HostNode {
    /// Asks for its memory.
    pub(super) fn prefetch(&self) {
        prefetch_slice(std::slice::from_ref(self), usize::MAX);
    }
}

/// Which TCP and UDP implementation a host uses.
#[derive(Debug)]
pub(crate) enum HostStack {
    /// The implementation of the `hosts` crate.
    Narrows(Box<Host>),
    /// The kernel's, for the host of this name. Its packets use a separate wire.
    Kernel(String),
}

/// A flow and the indices of its hosts.
#[derive(Debug)]
pub(crate) struct FlowNode {
    pub config: FlowConfig,
    pub from: usize,
    pub to: usize,
}

/// The receiver at the end of a link direction.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Receiver {
    Switch {
        switch: usize,
        port: u16,
    },
    Host(usize),
    /// Hosts behind a cable with impairments.
    Group,
    /// A link direction with impairments, behind an access link.
    Impaired(usize),
}

/// A port that the summary describes.
pub(crate) struct MonitoredPort {
    pub switch: usize,
    pub port: u16,
    pub figures: QueueFigures,
}

/// A port that a watcher sees: one with a rate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WatchedPort {
    pub switch: usize,
    pub port: u16,
    pub rate: Rate,
    pub limit: QueueLimit,
}

/// What a watched run remembers.
#[derive(Debug, Default)]
pub(crate) struct WatchedState {
    pub ports: Vec<WatchedPort>,
    /// The latest windows among the records that have gone to the tables; `None` without a watcher.
    pub windows: Option<BTreeMap<u32, u64>>,
}

impl WatchedState {
    /// The ports of a plan that have a rate.
    pub fn new(plan: &Plan) -> WatchedState {
        let each = plan.switches.iter().enumerate();
        let ports =
            each.flat_map(|(switch, one)| one.config.ports.iter().map(move |p| (switch, p)));
        let limited = ports.filter_map(|(switch, config)| {
            let rate = Rate::from_bps(config.rate_bps?);
            Some(WatchedPort { switch, port: config.port, rate, limit: config.queue })
        });
        WatchedState { ports: limited.collect(), windows: None }
    }

    /// A host's records are about to go to the tables.
    pub fn handle_records(&mut self, records: &[FlowRecord]) {
        if let Some(windows) = &mut self.windows {
            windows.extend(records.iter().map(|record| (record.flow, record.cwnd_bytes)));
        }
    }
}

/// An Ethernet address as a number.
pub(crate) fn mac_number([a, b, c, d, e, f]: [u8; 6]) -> u64 {
    u64::from_be_bytes([0, 0, a, b, c, d, e, f])
}
