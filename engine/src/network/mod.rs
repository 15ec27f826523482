//! The virtual-time network: switches, hosts and links, and what happens next.
//!
//! A network is a fixed set of sources of events (see [`Wheel`]), the controller's events and each
//! switch's and each host's timer, and the packets on its links (see [`InFlight`]). The loop takes
//! what is due first, lets the engine behind it act, and puts what it sends on the next link.

pub mod application_messages;
pub(crate) mod build;
pub mod in_flight;
pub mod managed_switch;
pub mod socket_hosts;

use std::sync::Arc;

use narrows_common::{Duration, Packet, PacketPool, Time, Wheel};
use narrows_hosts::{AccessLink, FlowConfig, FlowReport, Host};
use narrows_switch::{ControlOperation, Switch, Transmit};
use rustc_hash::FxHashMap;

use crate::EngineError;
use crate::network::in_flight::InFlight;
use crate::network::socket_hosts::SocketHosts;
use crate::plan::{EventPlan, Limits};
use crate::real_time::WireMap;
use crate::record::queue_figures::QueueFigures;
use crate::record::recorder::Recorder;
use crate::record::telemetry_report::Report;

/// A switch and where its cables lead.
pub(crate) struct SwitchNode {
    pub name: Arc<str>,
    pub switch: Switch,
    /// Indexed by port; `None` where nothing is plugged in.
    pub cables: Vec<Option<Cable>>,
}

/// What a port's cable leads to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cable {
    pub to: FarEnd,
    pub delay: Duration,
}

/// The far end of a cable, seen from a switch.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FarEnd {
    /// A direction to another switch.
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
    pub access: AccessLink,
    pub uplink: usize,
    pub downlink: usize,
    pub cable_delay: Duration,
    /// When its timer in the schedule is due.
    pub due: Time,
    /// It is among [`Network::recorded`].
    pub has_records: bool,
}

/// Who has a host's connections.
#[derive(Debug)]
pub(crate) enum HostStack {
    /// Our TCP.
    Narrows(Box<Host>),
    /// The sockets of the host of this name; its packets come and go by a wire of its own.
    Kernel(String),
}

/// A flow and the indices of its hosts.
#[derive(Debug)]
pub(crate) struct FlowNode {
    pub config: FlowConfig,
    pub from: usize,
    pub to: usize,
}

/// Who receives from a direction, one direction of a link.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Receiver {
    Switch { switch: usize, port: u16 },
    Host(usize),
}

/// The numbers of the sources, in the order in which they act when due at the same instant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sources {
    pub switches: usize,
    pub hosts: usize,
}

impl Sources {
    const EVENTS: usize = 0;

    fn switch(self, index: usize) -> usize {
        1 + index
    }
    fn host(self, index: usize) -> usize {
        1 + self.switches + index
    }
    fn all(self) -> usize {
        1 + self.switches + self.hosts
    }
    fn resolve(self, source: usize) -> Source {
        match source {
            Self::EVENTS => Source::Event,
            s if s <= self.switches => Source::Switch(s - 1),
            s => Source::Host(s - 1 - self.switches),
        }
    }
}

/// Who acts next.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source {
    Event,
    Switch(usize),
    Host(usize),
    /// Whoever the next packet arrives at.
    Arrival,
}

/// How far a run has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The virtual time.
    pub now: Time,
    /// Events handled.
    pub events: u64,
    /// Packets that a switch took in.
    pub packets: u64,
    /// Flows that have finished.
    pub completed_flows: usize,
}

/// A port whose figures the summary gives.
pub(crate) struct MonitoredPort {
    pub switch: usize,
    pub port: u16,
    pub figures: QueueFigures,
}

/// A wired network.
pub struct Network {
    pub(crate) switches: Vec<SwitchNode>,
    pub(crate) hosts: Vec<HostNode>,
    pub(crate) flows: Vec<FlowNode>,
    pub(crate) directions: Vec<Receiver>,
    /// Hosts by their address, as [`number_of`] has it.
    pub(crate) by_mac: FxHashMap<u64, usize>,
    /// Sorted by time.
    pub(crate) events: Vec<EventPlan>,
    pub(crate) next_event: usize,
    /// The bottleneck, and behind it the port of the other direction where that is wanted.
    pub(crate) monitored: Vec<MonitoredPort>,
    pub(crate) sources: Sources,
    pub(crate) schedule: Wheel,
    pub(crate) in_flight: InFlight,
    pub(crate) pool: PacketPool,
    pub(crate) recorder: Recorder,
    /// The hosts that have rows to be drained.
    pub(crate) recorded: Vec<usize>,
    /// In real time what leaves a node by a cable; `None` in virtual time, where it goes straight on.
    pub(crate) wire_map: Option<WireMap>,
    /// The hosts whose TCP is somebody else's.
    pub(crate) sockets: SocketHosts,
    /// How far the instrument may be off.
    pub(crate) limits: Limits,
    pub(crate) progress: Progress,
    /// Frames on a group's cable for no host of the group.
    pub(crate) misdelivered: u64,
    /// Packets at a collector that are no reports.
    pub(crate) bad_reports: u64,
    /// The least time from a report's egress stamp, by its switch's clock, to its coming.
    pub(crate) report_lag_ns: Option<i64>,
    /// Flows that will finish and are sent from here.
    pub(crate) finite_flows: usize,
}

/// An Ethernet address as a number.
pub(crate) fn number_of([a, b, c, d, e, f]: [u8; 6]) -> u64 {
    u64::from_be_bytes([0, 0, a, b, c, d, e, f])
}

/// Events between two looks at the records and the progress.
const STRIDE: u64 = 4096;

impl Network {
    /// Arms every source that is in this process; called once, when everything is plugged in.
    pub(crate) fn arm(&mut self) {
        self.schedule = Wheel::new(self.sources.all());
        if let Some(event) = self.events.first() {
            self.schedule.set(Sources::EVENTS, event.at_ps);
        }
        for index in 0..self.hosts.len() {
            if self.has_host(index) {
                self.drain_host(Time::ZERO, index);
            }
        }
        let finite = self.flows.iter().filter(|flow| flow.config.app.is_finite());
        self.finite_flows = finite.filter(|flow| self.has_host(flow.from)).count();
    }

    /// Whether the switches are in this process.
    pub(crate) fn has_switches(&self) -> bool {
        self.wire_map.as_ref().is_none_or(WireMap::has_switches)
    }

    /// Whether a host is in this process.
    pub(crate) fn has_host(&self, index: usize) -> bool {
        let Receiver::Switch { switch, port } = self.directions[self.hosts[index].uplink] else {
            unreachable!("a host's uplink leads to a switch");
        };
        self.wire_map.as_ref().is_none_or(|wire_map| wire_map.has_hosts(switch, port))
    }

    /// True when every flow that will finish, and is sent from here, has finished.
    pub(crate) fn is_complete(&self) -> bool {
        self.finite_flows > 0 && self.progress.completed_flows == self.finite_flows
    }

    /// Runs to `end`, or until every flow that will finish has finished when that is sooner and
    /// `until_complete` is set. Returns when it stopped.
    ///
    /// # Errors
    /// When the disk refuses, a controller's event fails, or `progress` returns false.
    pub fn run(
        &mut self,
        end: Time,
        until_complete: bool,
        progress: &mut dyn FnMut(&Progress) -> bool,
    ) -> Result<Time, EngineError> {
        let mut last = Time::ZERO;
        loop {
            let (now, source) = self.next();
            if now > end {
                break;
            }
            debug_assert!(now >= last, "time went backwards");
            last = now;
            self.act(now, source)?;
            if self.progress.events % STRIDE == 0 {
                self.drain_records()?;
                self.progress.now = now;
                if !progress(&self.progress) {
                    return Err(EngineError::Cancelled);
                }
            }
            if until_complete && self.is_complete() {
                break;
            }
        }
        self.drain_records()?;
        let stopped = if until_complete || end == Time::MAX { last } else { end };
        self.progress.now = stopped;
        progress(&self.progress);
        Ok(stopped)
    }

    /// What is due first, and when; of several due at once the arrivals come last.
    pub(crate) fn next(&self) -> (Time, Source) {
        let arrival = self.in_flight.poll_timeout();
        match self.schedule.first() {
            Some((at, source)) if at <= arrival => (at, self.sources.resolve(source)),
            _ => (arrival, Source::Arrival),
        }
    }

    /// Does all that was due by `now`, each source at the time that it is.
    pub(crate) fn handle_timeout(&mut self, now: Time) -> Result<(), EngineError> {
        loop {
            let (due, source) = self.next();
            if due > now {
                return Ok(());
            }
            self.act(now, source)?;
        }
    }

    #[inline(always)]
    fn act(&mut self, now: Time, source: Source) -> Result<(), EngineError> {
        self.progress.events += 1;
        if !matches!(source, Source::Arrival) {
            self.schedule.reach();
        }
        match source {
            Source::Event => self.handle_events(now)?,
            Source::Switch(index) => {
                self.switches[index].switch.handle_timeout(now);
                self.drain_switch(index);
            }
            Source::Host(index) => {
                if let HostStack::Narrows(host) = &mut self.hosts[index].stack {
                    host.handle_timeout(now);
                }
                self.drain_host(now, index);
            }
            Source::Arrival => self.handle_arrival(now),
        }
        Ok(())
    }

    /// Waits for the tables' writers, and says why one of them stopped early.
    pub(crate) fn close_tables(self) -> EngineError {
        self.recorder.close().err().unwrap_or(EngineError::WriterStopped)
    }

    fn handle_arrival(&mut self, now: Time) {
        let Some((due, direction, packet)) = self.in_flight.poll_receive(now) else { return };
        match self.directions[direction] {
            Receiver::Switch { switch, port } => match &mut self.wire_map {
                Some(wire_map) => wire_map.leave_hosts(due, switch, port, packet),
                None => self.arrive_at_switch(now, switch, port, packet),
            },
            Receiver::Host(index) => {
                self.recorder.handle_packet(now, index, false, &packet);
                match (&mut self.hosts[index].stack, &mut self.wire_map) {
                    (HostStack::Narrows(host), _) => {
                        host.handle_packet(now, &packet);
                        self.pool.give(packet);
                        self.drain_host(now, index);
                    }
                    (HostStack::Kernel(_), Some(wire_map)) => {
                        wire_map.leave_access(due, index, packet)
                    }
                    (HostStack::Kernel(_), None) => unreachable!("sockets are in real time only"),
                }
            }
        }
    }

    pub(crate) fn arrive_at_switch(&mut self, now: Time, index: usize, port: u16, packet: Packet) {
        self.progress.packets += 1;
        self.switches[index].switch.handle_packet(now, port, packet);
        self.drain_switch(index);
    }

    /// A packet comes to a group of hosts by the cable of a switch; returns by which direction and when it
    /// goes on to its host, `None` when it is for none of them or finds an access link's queue full.
    pub(crate) fn arrive_at_group(&mut self, now: Time, packet: &Packet) -> Option<(usize, Time)> {
        let mac = packet.data.first_chunk::<6>();
        let Some(&host) = mac.and_then(|&mac| self.by_mac.get(&number_of(mac))) else {
            self.misdelivered += 1;
            return None;
        };
        let node = &mut self.hosts[host];
        Some((node.downlink, node.access.handle_down(now, packet.len())?))
    }

    /// A packet comes to the collector.
    pub(crate) fn arrive_at_collector(&mut self, now: Time, packet: &Packet) {
        match Report::parse(&packet.data) {
            Ok(report) => {
                let lag_ns = (now.as_ps() / 1000) as i64 - report.egress_ns as i64;
                let least_ns = self.report_lag_ns.get_or_insert(lag_ns);
                *least_ns = lag_ns.min(*least_ns);
                self.recorder.handle_report(report);
            }
            Err(_) => self.bad_reports += 1,
        }
    }

    /// Takes up what a host sends and when it wants to be called.
    fn drain_host(&mut self, now: Time, index: usize) {
        loop {
            let node = &mut self.hosts[index];
            let HostStack::Narrows(host) = &mut node.stack else { return };
            if !host.poll_transmit(now, self.pool.peek()) {
                if host.has_records() && !node.has_records {
                    node.has_records = true;
                    self.recorded.push(index);
                }
                self.progress.completed_flows += host.poll_completed();
                let timeout = host.poll_timeout().unwrap_or(Time::MAX);
                if timeout != node.due {
                    node.due = timeout;
                    self.schedule.set(self.sources.host(index), timeout);
                }
                return;
            }
            let packet = self.pool.take();
            self.leave_host(now, index, packet);
        }
    }

    /// A host sends a packet into its access link.
    pub(crate) fn leave_host(&mut self, now: Time, index: usize, packet: Packet) {
        self.recorder.handle_packet(now, index, true, &packet);
        let node = &mut self.hosts[index];
        match node.access.handle_up(now, packet.len()) {
            Some(at) => {
                self.in_flight.send(node.uplink, at + node.cable_delay, packet);
            }
            None => self.pool.give(packet),
        }
    }

    /// Takes up what a switch sends and when it wants to be called.
    fn drain_switch(&mut self, index: usize) {
        while let Some(transmit) = self.switches[index].switch.poll_transmit() {
            self.carry(index, transmit);
        }
        let timeout = self.switches[index].switch.poll_timeout().unwrap_or(Time::MAX);
        self.schedule.set(self.sources.switch(index), timeout);
    }

    /// Carries a packet from a switch's port to whatever is plugged in there.
    fn carry(&mut self, index: usize, transmit: Transmit) {
        let Some(cable) = self.switches[index].cables[usize::from(transmit.port)] else {
            return self.switches[index].switch.recycle(transmit.packet);
        };
        if let Some(wire_map) = &mut self.wire_map {
            if let Some(packet) = wire_map.leave_switch(index, transmit, cable.delay) {
                self.switches[index].switch.recycle(packet);
            }
            return;
        }
        let Transmit { end, packet, .. } = transmit;
        let arrival = end + cable.delay;
        let onward = match cable.to {
            FarEnd::Direction(direction) => Some((direction, arrival)),
            FarEnd::Group => self.arrive_at_group(arrival, &packet),
            FarEnd::Collector => {
                self.arrive_at_collector(arrival, &packet);
                None
            }
        };
        match onward {
            Some((direction, at)) => self.in_flight.send(direction, at, packet),
            None => self.switches[index].switch.recycle(packet),
        }
    }

    /// Hands the engines' records on to the bottleneck's figures and to disk.
    pub(crate) fn drain_records(&mut self) -> Result<(), EngineError> {
        for (index, node) in self.switches.iter_mut().enumerate() {
            let records = node.switch.queue_records();
            for monitored in self.monitored.iter_mut().filter(|monitored| monitored.switch == index)
            {
                for record in records.iter().filter(|record| record.port == monitored.port) {
                    monitored.figures.handle_record(record);
                }
            }
            self.recorder.handle_queue(index as u16, records);
        }
        self.recorded.sort_unstable();
        for index in self.recorded.drain(..) {
            let node = &mut self.hosts[index];
            node.has_records = false;
            if let HostStack::Narrows(host) = &mut node.stack {
                self.recorder.handle_flows(host.flow_records());
                self.recorder.handle_messages(host.message_records());
            }
        }
        // The data path waits for nobody.
        self.drain_sockets(false);
        if self.recorder.has_failed() { Err(EngineError::WriterStopped) } else { Ok(()) }
    }

    /// Hands on the records of hosts whose TCP is somebody else's.
    pub(crate) fn drain_sockets(&mut self, is_to_wait: bool) {
        self.sockets.each(is_to_wait, |host| {
            self.recorder.handle_flows(host.flow_records());
            self.recorder.handle_messages(host.message_records());
            self.progress.completed_flows += host.poll_completed();
        });
    }

    /// What a flow has come to at one of its hosts.
    pub(crate) fn flow_report(&self, host: usize, flow: u32) -> FlowReport {
        let report = match &self.hosts[host].stack {
            HostStack::Narrows(host) => host.flow_report(flow),
            HostStack::Kernel(name) => self.sockets.flow_report(name, flow),
        };
        report.expect("the builder opened the flow")
    }

    fn handle_events(&mut self, now: Time) -> Result<(), EngineError> {
        while let Some(event) = self.events.get(self.next_event).filter(|event| event.at_ps <= now)
        {
            self.next_event += 1;
            let index = self
                .switches
                .iter()
                .position(|node| *node.name == *event.switch)
                .expect("a plan's events name its switches");
            let failed = |error: &dyn std::fmt::Display| {
                EngineError::Event(format!("event at {now} on switch '{}': {error}", event.switch))
            };
            let switch = &mut self.switches[index].switch;
            if let (Some(port), Some(rate)) = (event.port, event.rate_bps) {
                let set = ControlOperation::SetRate { port, rate };
                switch.control(now, set).map_err(|error| failed(&error))?;
                for monitored in &mut self.monitored {
                    if (monitored.switch, monitored.port) == (index, port) {
                        monitored.figures.handle_rate(now, rate);
                    }
                }
            }
            if let (Some(port), Some(limit)) = (event.port, event.queue) {
                let set = ControlOperation::SetQueueLimit { port, limit };
                switch.control(now, set).map_err(|error| failed(&error))?;
            }
            if let (Some(entry), Some(op)) = (&event.entry, event.op) {
                crate::network::build::write_entry(switch, entry, op)
                    .map_err(|error| failed(&error))?;
            }
            self.drain_switch(index);
        }
        let next = self.events.get(self.next_event).map_or(Time::MAX, |event| event.at_ps);
        self.schedule.set(Sources::EVENTS, next);
        Ok(())
    }
}
