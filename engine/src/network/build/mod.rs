//! Builds a wired network from a plan and resolves every name once.

mod switches;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use narrows_common::{Duration, PacketPool, Rate, Rng, Time};
use narrows_hosts::Host;
use narrows_queueing::Link;
use narrows_queueing::impairments::ImpairmentConfig;
use narrows_switch::{Program, Switch};
use rustc_hash::FxHashMap;

use super::control_event::ControlEvent;
use super::hosts_by_mac::HostsByMac;
use super::impaired_links::{FlowIds, ImpairedLink};
use super::in_flight::InFlight;
use super::nodes::{
    AccessNode, Cable, FarEnd, FlowNode, HostNode, HostStack, MonitoredPort, Nodes, Receiver,
    SwitchNode, Uplink, WatchedState,
};
use super::records::collection_interval;
use super::socket_hosts::SocketHosts;
use super::sources::{Schedule, Sources};
use super::{Network, Progress, look_ups_of};
use crate::error::{EngineError, plan_error};
use crate::plan::{EndPlan, EventPlan, FlowPlan, Plan, PortName, SCHEMA};
use crate::record::link_rows::LinkDirection::{self, In, Out};
use crate::record::queue_figures::QueueFigures;
use crate::record::recorder::Recorder;
use switches::{build_switch, load_program, switch_node};

/// Reads a plan.
///
/// # Errors
/// If the text is not a plan.
pub(crate) fn read_plan(json: &str) -> Result<Plan, EngineError> {
    serde_json::from_str(json).map_err(|error| plan_error(format!("plan: {error}")))
}

impl Network {
    /// Builds the network of `plan`. Switches in `ready` and hosts with the kernel's stack are
    /// already set up. The tables go into `directory`.
    ///
    /// # Errors
    /// If the plan names an object that does not exist, or an engine refuses its part of the plan.
    pub fn build(
        mut plan: Plan,
        ready: BTreeMap<String, Switch>,
        sockets: SocketHosts,
        directory: &Path,
    ) -> Result<Network, EngineError> {
        if plan.schema != SCHEMA {
            return Err(plan_error(format!("plan: schema {} where {SCHEMA} is read", plan.schema)));
        }
        let mut builder = Builder::new(&plan, ready)?;
        builder.plug(&plan)?;
        builder.add_hosts(&plan, &sockets)?;
        for flow in std::mem::take(&mut plan.flows) {
            builder.add_flow(flow)?;
        }
        builder.finish(plan, sockets, directory)
    }
}

struct Builder {
    switches: Vec<SwitchNode>,
    hosts: Vec<HostNode>,
    access: Vec<AccessNode>,
    host_names: FxHashMap<String, usize>,
    flows: Vec<FlowNode>,
    directions: Vec<Receiver>,
    by_mac: HostsByMac,
    /// For each group, its cable to a switch port.
    uplinks: Vec<Option<Uplink>>,
    impaired_links: Vec<ImpairedLink>,
    finite_flows: usize,
}

impl Builder {
    fn new(plan: &Plan, mut ready: BTreeMap<String, Switch>) -> Result<Self, EngineError> {
        let mut programs: FxHashMap<&str, Arc<Program>> = FxHashMap::default();
        let mut switches = Vec::new();
        for switch in &plan.switches {
            if let Some(made) = ready.remove(&switch.name) {
                switches.push(switch_node(switch, made));
                continue;
            }
            let program = match programs.get(switch.program.as_str()) {
                Some(program) => program.clone(),
                None => {
                    let program = load_program(&switch.program)?;
                    programs.insert(&switch.program, program.clone());
                    program
                }
            };
            switches.push(build_switch(switch, program, plan.seed)?);
        }
        if let Some(name) = ready.keys().next() {
            return Err(plan_error(format!("plan: there is no switch '{name}'")));
        }
        Ok(Builder {
            switches,
            hosts: Vec::new(),
            access: Vec::new(),
            host_names: FxHashMap::default(),
            flows: Vec::new(),
            directions: Vec::new(),
            by_mac: HostsByMac::default(),
            uplinks: vec![None; plan.groups.len()],
            impaired_links: Vec::new(),
            finite_flows: 0,
        })
    }

    fn switch(&self, name: &str) -> Result<usize, EngineError> {
        self.switches
            .iter()
            .position(|node| *node.name == *name)
            .ok_or_else(|| plan_error(format!("plan: there is no switch '{name}'")))
    }

    fn host(&self, name: &str) -> Result<usize, EngineError> {
        self.host_names
            .get(name)
            .copied()
            .ok_or_else(|| plan_error(format!("plan: there is no host '{name}'")))
    }

    fn direction(&mut self, to: Receiver) -> usize {
        self.directions.push(to);
        self.directions.len() - 1
    }

    /// Connects every cable at both ends.
    fn plug(&mut self, plan: &Plan) -> Result<(), EngineError> {
        for cable in &plan.cables {
            let (switch, port) = (self.switch(&cable.a.switch)?, cable.a.port);
            let delay = cable.delay_ps;
            match &cable.b {
                EndPlan::Switch(far) => {
                    let (far_switch, far_port) = (self.switch(&far.switch)?, far.port);
                    let there = self.direction(Receiver::switch(far_switch, far_port));
                    let back = self.direction(Receiver::switch(switch, port));
                    let impaired = self.impair(plan, &cable.there, (switch, port), there, Out)?;
                    let to = FarEnd::Direction(there);
                    self.connect(switch, port, Cable { to, delay, impaired })?;
                    let far = (far_switch, far_port);
                    let impaired = self.impair(plan, &cable.back, far, back, Out)?;
                    let to = FarEnd::Direction(back);
                    self.connect(far_switch, far_port, Cable { to, delay, impaired })?;
                }
                EndPlan::Group(end) => {
                    let group = group(plan, &end.group)?;
                    let (mut there, mut back) = (None, None);
                    if cable.there.is_some() {
                        let exit = self.direction(Receiver::Group);
                        there = self.impair(plan, &cable.there, (switch, port), exit, Out)?;
                    }
                    if cable.back.is_some() {
                        let exit = self.direction(Receiver::switch(switch, port));
                        back = self.impair(plan, &cable.back, (switch, port), exit, In)?;
                    }
                    let uplink = Uplink { switch, port, delay, impaired: back };
                    if self.uplinks[group].replace(uplink).is_some() {
                        return Err(plan_error(format!(
                            "plan: group '{}' has two cables",
                            end.group
                        )));
                    }
                    self.connect(
                        switch,
                        port,
                        Cable { to: FarEnd::Group, delay, impaired: there },
                    )?;
                }
                EndPlan::Collector(_) => {
                    self.connect(
                        switch,
                        port,
                        Cable { to: FarEnd::Collector, delay, impaired: None },
                    )?;
                }
            }
        }
        Ok(())
    }

    /// Adds a link direction with impairments at a port, if there are any. Returns its number.
    fn impair(
        &mut self,
        plan: &Plan,
        config: &Option<ImpairmentConfig>,
        end: (usize, u16),
        exit: usize,
        towards: LinkDirection,
    ) -> Result<Option<usize>, EngineError> {
        let Some(config) = config else { return Ok(None) };
        let name = (plan.seed, &*self.switches[end.0].name);
        self.impaired_links.push(ImpairedLink::new(config, name, end, towards, exit)?);
        Ok(Some(self.impaired_links.len() - 1))
    }

    fn connect(&mut self, switch: usize, port: u16, cable: Cable) -> Result<(), EngineError> {
        let node = &mut self.switches[switch];
        let index = usize::from(port);
        if node.cables.len() <= index {
            node.cables.resize(index + 1, None);
        }
        if node.cables[index].replace(cable).is_some() {
            return Err(plan_error(format!(
                "plan: port {port} of switch '{}' has two cables",
                node.name
            )));
        }
        Ok(())
    }

    fn add_hosts(&mut self, plan: &Plan, sockets: &SocketHosts) -> Result<(), EngineError> {
        for host in &plan.hosts {
            let name = &host.config.name;
            let group = group(plan, &host.group)?;
            let Uplink { switch, port, delay, impaired } = self.uplinks[group]
                .ok_or_else(|| plan_error(format!("plan: group '{}' has no cable", host.group)))?;
            let index = self.hosts.len();
            let uplink = self.direction(match impaired {
                Some(link) => Receiver::Impaired(link as u32),
                None => Receiver::switch(switch, port),
            });
            let downlink = self.direction(Receiver::Host(index as u32));
            let rng = Rng::for_component(plan.seed, name);
            if !self.by_mac.add(host.config.mac.0, index) {
                return Err(plan_error(format!(
                    "plan: host '{name}' has another host's MAC address"
                )));
            }
            if host.config.access.rate_bps == 0 {
                return Err(plan_error(format!(
                    "plan: host '{name}': rate_bps is 0, expected above 0"
                )));
            }
            self.host_names.insert(name.clone(), index);
            self.hosts.push(HostNode {
                stack: match sockets.has(name) {
                    true => HostStack::Kernel(name.clone()),
                    false => HostStack::Narrows(Box::new(Host::new(&host.config, rng))),
                },
                due: Time::MAX,
                has_records: false,
            });
            let rng = Rng::for_component(plan.seed, &format!("{name}/access"));
            self.access.push(AccessNode {
                link: Link::new(&host.config.access, rng),
                uplink,
                downlink,
                cable_delay: if impaired.is_some() { Duration::ZERO } else { delay },
            });
        }
        Ok(())
    }

    fn add_flow(&mut self, plan: FlowPlan) -> Result<(), EngineError> {
        let (from, to) = (self.host(&plan.from)?, self.host(&plan.to)?);
        let flow_error = |error: &dyn std::fmt::Display| plan_error(error.to_string());
        if let HostStack::Narrows(host) = &mut self.hosts[to].stack {
            host.listen(&plan.flow).map_err(|error| flow_error(&error))?;
        }
        if let HostStack::Narrows(host) = &mut self.hosts[from].stack {
            host.open_flow(&plan.flow).map_err(|error| flow_error(&error))?;
        }
        self.finite_flows += usize::from(plan.flow.app.is_finite());
        self.flows.push(FlowNode { config: plan.flow, from, to });
        Ok(())
    }

    fn monitored(&self, name: &PortName, plan: &Plan) -> Result<MonitoredPort, EngineError> {
        let (switch, port) = (self.switch(&name.switch)?, name.port);
        if self.switches[switch].switch.port_statistics(port).is_err() {
            return Err(plan_error(format!(
                "plan: the bottleneck is port {port} of switch '{}', which has no such port",
                name.switch
            )));
        }
        let mut ports = plan.switches[switch].config.ports.iter();
        let config = ports.find(|config| config.port == port);
        let rate = config.and_then(|config| config.rate_bps).map(Rate::from_bps);
        let figures = QueueFigures::new(rate, config.map_or(1, |config| config.queues))
            .along(config.and_then(|config| config.trace.clone()));
        Ok(MonitoredPort { switch, port, figures })
    }

    fn control_events(&self, events: Vec<EventPlan>) -> Result<Vec<ControlEvent>, EngineError> {
        let resolve = |event: EventPlan| {
            let switch = self.switch(&event.switch)?;
            Ok(ControlEvent::new(event, switch))
        };
        events.into_iter().map(resolve).collect()
    }

    fn finish(
        self,
        mut plan: Plan,
        sockets: SocketHosts,
        directory: &Path,
    ) -> Result<Network, EngineError> {
        let monitored = [Some(&plan.bottleneck), plan.reverse.as_ref()];
        let monitored = monitored.into_iter().flatten().map(|name| self.monitored(name, &plan));
        let monitored = monitored.collect::<Result<_, _>>()?;
        let mut control_events = self.control_events(std::mem::take(&mut plan.events))?;
        control_events.sort_by_key(|event| event.at);
        if plan.duration_ps.is_none() && self.finite_flows == 0 {
            return Err(plan_error(
                "plan: the run is to last until every flow has finished, and none ever will",
            ));
        }
        let sources = Sources { switches: self.switches.len(), hosts: self.hosts.len() };
        let names = plan.switches.iter().map(|switch| switch.name.as_str());
        let recorder = Recorder::create(directory, plan.record, names)?;
        let flow_ids = match plan.record.links {
            true => FlowIds::new(self.flows.iter().map(|flow| &flow.config)),
            false => FlowIds::default(),
        };
        let in_flight = InFlight::new(self.directions.len());
        Ok(Network {
            switches: Nodes::all(self.switches),
            hosts: Nodes::all(self.hosts),
            access: Nodes::all(self.access),
            flows: self.flows,
            look_ups: look_ups_of(&in_flight, self.directions.len()),
            in_flight,
            delivery: None,
            timer_asked: (0, 0),
            directions: self.directions,
            by_mac: self.by_mac,
            control_events,
            next_control_event: 0,
            monitored,
            watched: WatchedState::new(&plan),
            sources,
            schedule: Schedule::new(sources),
            impaired_links: Nodes::all(self.impaired_links),
            flow_ids,
            pool: PacketPool::default(),
            recorder,
            hosts_with_records: Vec::new(),
            wire_map: None,
            sockets,
            limits: plan.instrument,
            collection_interval: collection_interval(&plan),
            progress: Progress::default(),
            border: None,
            misdelivered: 0,
            bad_reports: 0,
            report_lag_ns: None,
            finite_flows: self.finite_flows,
        })
    }
}

fn group(plan: &Plan, name: &str) -> Result<usize, EngineError> {
    plan.groups
        .iter()
        .position(|group| group == name)
        .ok_or_else(|| plan_error(format!("plan: there is no group '{name}'")))
}
