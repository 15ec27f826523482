//! A switch under control: port settings and counts that outlive programs, the clock that its
//! driver sets, and what waits for the driver or the controllers.

pub mod config;
pub mod handle;
pub mod operation;
pub mod packet_ins;
pub mod pipelines;
pub mod queue_counts;
pub mod refusal;

use std::collections::{BTreeMap, VecDeque};

use narrows_common::{Packet, Rate, Time};
use narrows_queueing::{PortConfig, PortError, PortStatistics, QueueRecord};
use narrows_switch::{ControlOperation, Handover, Statistics, Surplus, Switch, Transmit};

use config::Config;
use operation::Operation;
use packet_ins::PacketIns;
use queue_counts::QueueCounts;
use refusal::Refusal;

/// A switch, or one pipeline of it; without a program until [`ManagedSwitch::install`].
pub struct ManagedSwitch {
    pub(crate) config: Config,
    /// The seed of its random numbers.
    pub seed: u64,
    /// The time of its latest action.
    pub(crate) now: Time,
    pub(crate) switch: Option<Switch>,
    /// Calls of `pause` without a matching `resume`; while above 0, packets are held back.
    pub(crate) paused: usize,
    /// Packets and bytes received, indexed by port.
    pub(crate) received: Vec<(u64, u64)>,
    /// Packets received while no program was loaded.
    pub(crate) no_program: u64,
    /// Counts of the ports' queues and of the switch under earlier programs.
    queues_before: BTreeMap<u16, Vec<QueueCounts>>,
    before: Statistics,
    /// Ledger rows of earlier programs that were not taken yet.
    records_before: Vec<QueueRecord>,
    /// Transmissions that began, except those at the CPU port.
    pub(crate) sent: VecDeque<Transmit>,
    /// The number of programs installed so far.
    programs: u32,
    /// Packets that left by the CPU port.
    pub(crate) packet_ins: PacketIns,
    pub(crate) collects_log: bool,
}

impl ManagedSwitch {
    /// A switch without a program.
    pub fn new(config: Config, seed: u64) -> Self {
        let packet_ins = PacketIns::new(config.cpu_limit);
        ManagedSwitch {
            config,
            seed,
            now: Time::ZERO,
            switch: None,
            paused: 0,
            received: vec![],
            no_program: 0,
            queues_before: BTreeMap::new(),
            before: Statistics::default(),
            records_before: Vec::new(),
            sent: VecDeque::new(),
            programs: 0,
            packet_ins,
            collects_log: false,
        }
    }

    /// The switch with its program.
    ///
    /// # Errors
    /// If no program is loaded.
    pub fn switch(&mut self) -> Result<&mut Switch, Refusal> {
        let none = || Refusal::new("failed-precondition", "the switch has no program yet");
        self.switch.as_mut().ok_or_else(none)
    }

    /// A port's settings.
    ///
    /// # Errors
    /// If the port does not exist.
    pub fn port(&mut self, port: u16) -> Result<&mut PortConfig, Refusal> {
        let found = self.config.switch.ports.iter_mut().find(|known| known.port == port);
        found.ok_or_else(|| Refusal::no_such_port(port))
    }

    /// Executes a controller's operation. Settings outlive programs.
    ///
    /// # Errors
    /// If the port does not exist, no program is loaded, or the switch refuses.
    pub fn execute(&mut self, operation: &Operation) -> Result<(), Refusal> {
        match operation {
            &Operation::Port(ControlOperation::SetRate { port, rate }) => {
                let config = self.port(port)?;
                if rate.as_bps() == 0 {
                    let message = format!("port {port}: rate 0: expected a rate above zero");
                    return Err(Refusal::new("invalid-argument", message));
                }
                if config.trace.is_some() {
                    let message = PortError::Traced(port).to_string();
                    return Err(Refusal::new("failed-precondition", message));
                }
                config.rate_bps = Some(rate.as_bps());
            }
            &Operation::Port(ControlOperation::SetQueueLimit { port, limit }) => {
                self.port(port)?.queue = limit;
            }
            Operation::Port(ControlOperation::SetDiscipline { port, discipline }) => {
                let config = self.port(*port)?;
                discipline.resolve().map_err(|error| {
                    Refusal::new("invalid-argument", format!("port {port}: {error}"))
                })?;
                config.discipline = discipline.clone();
            }
            &Operation::Port(ControlOperation::SetShare { port, share }) => {
                self.port(port)?
                    .set_share(share)
                    .map_err(|error| Refusal::new("invalid-argument", error.to_string()))?;
            }
            Operation::Entry { .. } => {
                self.switch()?;
            }
        }
        let now = self.now;
        self.switch.as_mut().map_or(Ok(()), |switch| operation.apply(now, switch))
    }

    /// Starts or stops collecting the program's log messages.
    pub fn set_log_collection(&mut self, is_on: bool) {
        self.collects_log = is_on;
        if let Some(switch) = &mut self.switch {
            switch.collect_log(is_on);
        }
    }

    /// Replaces the program and keeps the current settings. Packets in queues, or on their way to
    /// another pipeline, are lost, and counted as dropped at egress.
    ///
    /// # Errors
    /// If the ports of `switch` differ from these.
    pub fn install(&mut self, mut switch: Switch) -> Result<(), Refusal> {
        for port in &self.config.switch.ports {
            let number = port.port;
            let limit = ControlOperation::SetQueueLimit { port: number, limit: port.queue };
            switch.control(self.now, &limit)?;
            let discipline = port.discipline.clone();
            let discipline = ControlOperation::SetDiscipline { port: number, discipline };
            switch.control(self.now, &discipline)?;
            if let (Some(rate_bps), None) = (port.rate_bps, &port.trace) {
                let rate = Rate::from_bps(rate_bps);
                switch.control(self.now, &ControlOperation::SetRate { port: number, rate })?;
            }
        }
        switch.collect_log(self.collects_log);
        if self.switch.is_some() {
            self.before = self.statistics();
            while self.poll_handover().is_some() {
                self.before.dropped_egress += 1;
            }
            self.records_before = self.take_records();
            for port in self.config.switch.ports.clone() {
                let queues = self.queue_counts(port.port)?;
                let lost = queues.into_iter().map(QueueCounts::lost).collect();
                self.queues_before.insert(port.port, lost);
            }
        }
        self.switch = Some(switch);
        self.programs += 1;
        Ok(())
    }

    /// The counts under all programs, without the ports'.
    pub fn statistics(&self) -> Statistics {
        self.before + self.switch.as_ref().map(Switch::statistics).unwrap_or_default()
    }

    /// Takes the ledger's rows since the last call, under all programs.
    pub fn take_records(&mut self) -> Vec<QueueRecord> {
        let mut records = std::mem::take(&mut self.records_before);
        if let Some(switch) = &mut self.switch {
            records.append(switch.queue_records());
        }
        records
    }

    /// A port's counts under all programs.
    ///
    /// # Errors
    /// If the port does not exist.
    pub fn port_statistics(&self, port: u16) -> Result<PortStatistics, Refusal> {
        let now = match &self.switch {
            Some(switch) => {
                switch.port_statistics(port).map_err(|_| Refusal::no_such_port(port))?
            }
            None => PortStatistics::default(),
        };
        let before = self.queues_before.get(&port).into_iter().flatten().map(|queue| queue.done);
        Ok(before.fold(PortStatistics::default(), PortStatistics::and) + now)
    }

    /// The counts of each of a port's queues under all programs, the first served first.
    ///
    /// # Errors
    /// If the port does not exist.
    pub fn queue_counts(&mut self, port: u16) -> Result<Vec<QueueCounts>, Refusal> {
        let queues = usize::from(self.port(port)?.queues);
        let mut each = match &self.switch {
            Some(switch) => queue_counts::of_program(switch, self.now, port)
                .ok_or_else(|| Refusal::no_such_port(port))?,
            None => vec![QueueCounts::default(); queues],
        };
        if let Some(before) = self.queues_before.get(&port) {
            each.iter_mut().zip(before).for_each(|(now, before)| *now = before.then(*now));
        }
        Ok(each)
    }

    /// A packet arrives at a port.
    pub fn handle_packet(&mut self, now: Time, port: u16, packet: Box<Packet>) {
        self.receive(now, port, packet);
        self.collect();
    }

    /// A packet arrives at a port. What it made the switch send is there after
    /// [`ManagedSwitch::handle_timeout`].
    pub(crate) fn receive(&mut self, now: Time, port: u16, packet: Box<Packet>) {
        self.now = self.now.max(now);
        if self.received.len() <= port.into() {
            self.received.resize(usize::from(port) + 1, (0, 0));
        }
        let (packets, bytes) = &mut self.received[usize::from(port)];
        *packets += 1;
        *bytes += packet.len() as u64;
        match &mut self.switch {
            Some(switch) => switch.handle_packet(self.now, port, packet),
            None => self.no_program += 1,
        }
    }

    /// The next packet for the queue of another pipeline. Its tag is the number of the program
    /// whose ingress processed it.
    pub(crate) fn poll_handover(&mut self) -> Option<Handover> {
        let mut handover = self.switch.as_mut()?.poll_handover()?;
        handover.tag = self.programs;
        Some(handover)
    }

    /// A packet arrives from another pipeline. A packet of an earlier program is lost with that
    /// program. What it made the switch send is there after [`ManagedSwitch::handle_timeout`].
    pub(crate) fn receive_handover(&mut self, handover: Handover) {
        self.now = self.now.max(handover.at);
        match &mut self.switch {
            Some(switch) if handover.tag == self.programs => {
                switch.handle_handover(self.now, handover);
            }
            _ => self.before.dropped_egress += 1,
        }
    }

    /// Memory for another pipeline, if this one has more than it needs.
    pub(crate) fn poll_surplus(&mut self) -> Option<Surplus> {
        self.switch.as_mut()?.poll_surplus()
    }

    /// Takes memory from another pipeline.
    pub(crate) fn take_surplus(&mut self, surplus: Surplus) {
        if let Some(switch) = &mut self.switch {
            switch.take_surplus(surplus);
        }
    }

    /// Advances to `now`.
    pub fn handle_timeout(&mut self, now: Time) {
        self.now = self.now.max(now);
        if let Some(switch) = &mut self.switch {
            switch.handle_timeout(self.now);
        }
        self.collect();
    }

    /// Takes the oldest packets that left by the CPU port, some thousands at most.
    pub fn take_packet_ins(&mut self) -> Vec<Vec<u8>> {
        self.packet_ins.take()
    }

    /// When [`ManagedSwitch::handle_timeout`] is needed next, if packets wait.
    pub fn poll_timeout(&self) -> Option<Time> {
        self.switch.as_ref().and_then(Switch::poll_timeout)
    }

    /// Takes what the switch began to send.
    pub(crate) fn collect(&mut self) {
        let Some(switch) = &mut self.switch else { return };
        while let Some(transmit) = switch.poll_transmit() {
            if Some(transmit.port) == self.config.cpu_port {
                if self.packet_ins.admits(self.now, transmit.packet.len()) {
                    self.packet_ins.push(transmit.packet.to_bytes());
                }
                switch.recycle(transmit.packet);
            } else {
                self.sent.push_back(transmit);
            }
        }
    }
}
