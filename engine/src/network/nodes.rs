//! The nodes of a network and the links between them.

use std::collections::BTreeMap;
use std::ops::{Index, IndexMut};
use std::sync::Arc;

use narrows_common::prefetch::prefetch_slice;
use narrows_common::record::FlowRecord;
use narrows_common::{Duration, Packet, Rate, Time};
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

/// A host.
#[derive(Debug)]
pub(crate) struct HostNode {
    pub stack: HostStack,
    /// When its timer in the schedule is due.
    pub due: Time,
    /// The host is listed in [`super::Network::hosts_with_records`].
    pub has_records: bool,
}

/// A host's access link, and the switch port that its group's cable leads to.
#[derive(Debug)]
pub(crate) struct AccessNode {
    pub link: Link,
    /// The link direction to the switch.
    pub uplink: usize,
    /// The link direction from the access link to the host.
    pub downlink: usize,
    pub cable_delay: Duration,
}

/// A packet at a group, which has not entered the access link of its host.
#[derive(Debug)]
pub(crate) struct Delivery {
    /// When it arrives at the link.
    pub at: Time,
    pub host: usize,
    pub packet: Box<Packet>,
}

/// The nodes of a kind, by their index in the plan. A part of a network has some of them.
#[derive(Debug)]
pub(crate) struct Nodes<T>(Vec<Option<T>>);

impl<T> Nodes<T> {
    /// All of them.
    pub fn all(nodes: Vec<T>) -> Self {
        Nodes(nodes.into_iter().map(Some).collect())
    }

    /// How many the whole network has.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// A node, if it is here.
    #[inline]
    pub fn get(&self, index: usize) -> Option<&T> {
        self.0[index].as_ref()
    }

    /// Asks for the memory of a node.
    #[inline]
    pub fn prefetch(&self, index: usize) {
        prefetch_slice(&self.0[index..=index], usize::MAX);
    }

    /// Those that are here.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter().flatten()
    }

    /// Those that are here, with their indices.
    pub fn enumerate(&mut self) -> impl Iterator<Item = (usize, &mut T)> {
        let nodes = self.0.iter_mut().enumerate();
        nodes.filter_map(|(index, node)| Some((index, node.as_mut()?)))
    }

    /// Those that are here.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut().flatten()
    }

    /// Moves each node to one of so many parts, whose number `part` gives.
    pub fn split(&mut self, parts: usize, part: impl Fn(usize) -> usize) -> Vec<Nodes<T>> {
        let none = || Nodes(std::iter::repeat_with(|| None).take(self.len()).collect());
        let mut split: Vec<Nodes<T>> = (0..parts).map(|_| none()).collect();
        for (index, node) in self.0.iter_mut().enumerate() {
            split[part(index)].0[index] = node.take();
        }
        split
    }

    /// Takes in the nodes of another part.
    pub fn join(&mut self, other: Nodes<T>) {
        for (own, other) in self.0.iter_mut().zip(other.0) {
            if other.is_some() {
                *own = other;
            }
        }
    }
}

impl<T> Default for Nodes<T> {
    /// None at all.
    fn default() -> Self {
        Nodes(Vec::new())
    }
}

impl<T> Index<usize> for Nodes<T> {
    type Output = T;

    #[inline]
    fn index(&self, index: usize) -> &T {
        self.0[index].as_ref().expect("events of a node are in its part")
    }
}

impl<T> IndexMut<usize> for Nodes<T> {
    #[inline]
    fn index_mut(&mut self, index: usize) -> &mut T {
        self.0[index].as_mut().expect("events of a node are in its part")
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

/// The receiver at the end of a link direction, in eight bytes: with many hosts, the directions do
/// not fit into the nearest caches.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Receiver {
    Switch {
        switch: u32,
        port: u16,
    },
    Host(u32),
    /// Hosts behind a cable with impairments.
    Group,
    /// A link direction with impairments, behind an access link.
    Impaired(u32),
}

impl Receiver {
    /// A switch, by its port.
    pub fn switch(switch: usize, port: u16) -> Self {
        Receiver::Switch { switch: switch as u32, port }
    }
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
