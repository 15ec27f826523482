//! From a whole network to its parts, and back.

use std::collections::BTreeSet;
use std::sync::Arc;

use narrows_common::{PacketPool, Time};

use super::Part;
use super::cut::Cut;
use crate::network::border::{Border, PartsOf};
use crate::network::in_flight::InFlight;
use crate::network::nodes::{Receiver, WatchedState};
use crate::network::socket_hosts::SocketHosts;
use crate::network::sources::Schedule;
use crate::network::{Network, Progress, look_ups_of};
use crate::record::recorder::Recorder;

impl Network {
    /// Splits a network that has not begun. Returns a function for each part, which makes it. On
    /// the part's thread it allocates border, timers and queues apart from those of other parts,
    /// whose threads would else write the same cache lines. What is left of the network takes the
    /// rows, and at last the parts again.
    pub(crate) fn split(&mut self, cut: &Cut) -> Vec<impl FnOnce() -> Part + Send + use<>> {
        let parts = cut.len();
        let parts_of = Arc::new(self.parts_of(cut));
        let links: Vec<usize> =
            self.impaired_links.iter().map(|link| cut.switches[link.switch]).collect();
        let mut switches = self.switches.split(parts, |index| cut.switches[index]);
        let mut hosts = self.hosts.split(parts, |index| cut.hosts[index]);
        let mut access = self.access.split(parts, |index| usize::from(parts_of.access[index]));
        let mut impaired_links = self.impaired_links.split(parts, |index| links[index]);
        let mut events: Vec<_> = (0..parts).map(|_| Vec::new()).collect();
        for event in self.control_events.drain(..) {
            events[cut.switches[event.switch]].push(event);
        }
        let part = |own: usize| {
            let (parts_of, wanted) = (parts_of.clone(), self.recorder.wanted());
            let (sources, limits) = (self.sources, self.limits);
            let collection_interval = self.collection_interval;
            let switches = std::mem::take(&mut switches[own]);
            let hosts = std::mem::take(&mut hosts[own]);
            let access = std::mem::take(&mut access[own]);
            let impaired_links = std::mem::take(&mut impaired_links[own]);
            let control_events = std::mem::take(&mut events[own]);
            let directions = self.directions.clone();
            let by_mac = self.by_mac.clone();
            let flow_ids = self.flow_ids.clone();
            move || {
                let in_flight = InFlight::new(directions.len());
                let mut network = Network {
                    switches,
                    hosts,
                    access,
                    flows: Vec::new(),
                    schedule: Schedule::new(sources),
                    look_ups: look_ups_of(&in_flight, directions.len()),
                    in_flight,
                    directions,
                    by_mac,
                    control_events,
                    next_control_event: 0,
                    monitored: Vec::new(),
                    watched: WatchedState::default(),
                    sources,
                    delivery: None,
                    timer_asked: (0, 0),
                    impaired_links,
                    flow_ids,
                    pool: PacketPool::default(),
                    recorder: Recorder::default(),
                    hosts_with_records: Vec::new(),
                    wire_map: None,
                    sockets: SocketHosts::default(),
                    limits,
                    collection_interval,
                    progress: Progress::default(),
                    border: Some(Box::new(Border::new(own, parts, parts_of, wanted))),
                    misdelivered: 0,
                    bad_reports: 0,
                    report_lag_ns: None,
                    finite_flows: 0,
                };
                network.arm();
                Part::new(network)
            }
        };
        (0..parts).map(part).collect()
    }

    /// The part of each receiver.
    fn parts_of(&self, cut: &Cut) -> PartsOf {
        let part_of_link = |link: usize| cut.switches[self.impaired_links[link].switch];
        let exits = |direction: usize| {
            let is_exit = |&link: &usize| self.impaired_links[link].exit == direction;
            (0..self.impaired_links.len()).find(is_exit)
        };
        let directions = self.directions.iter().enumerate();
        let directions = directions.map(|(direction, receiver)| match *receiver {
            Receiver::Switch { switch, .. } => cut.switches[switch as usize],
            Receiver::Host(host) => cut.hosts[host as usize],
            Receiver::Impaired(link) => part_of_link(link as usize),
            // Impairments end before the access links.
            Receiver::Group => exits(direction).map_or(0, part_of_link),
        });
        let access = cut.switch_of_host.iter().map(|&switch| cut.switches[switch]);
        PartsOf {
            directions: directions.map(|part| part as u16).collect(),
            access: access.map(|part| part as u16).collect(),
        }
    }

    /// Takes the parts of a stopped run; their rows have been taken.
    pub(crate) fn join(&mut self, parts: impl Iterator<Item = Part>) {
        let mut instants = BTreeSet::new();
        for Part { network, .. } in parts {
            let done = &network.control_events[..network.next_control_event];
            let own: BTreeSet<Time> = done.iter().map(|event| event.at).collect();
            // Operations of one instant on several switches are one event of the controller.
            let again = own.intersection(&instants).count() as u64;
            instants.extend(own);
            self.progress.events += network.progress.events - again;
            self.progress.packets += network.progress.packets;
            self.progress.completed_flows += network.progress.completed_flows;
            self.switches.join(network.switches);
            self.hosts.join(network.hosts);
            self.access.join(network.access);
            self.impaired_links.join(network.impaired_links);
            self.misdelivered += network.misdelivered;
            self.bad_reports += network.bad_reports;
            let lags = self.report_lag_ns.into_iter().chain(network.report_lag_ns);
            self.report_lag_ns = lags.min();
        }
    }
}
