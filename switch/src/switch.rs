//! The switch: ports, queues and the program between them. Sans-IO: time and packets are inputs;
//! transmissions and the time of the next event are outputs.

use crate::config::{ConfigError, Engine, SwitchConfig};
use crate::jit::TablesInUse;
use crate::program::Program;
use crate::v1model::{Digest, Handover, Statistics, Transmit, V1Model};
use narrows_common::{Packet, Rng, Time};
use narrows_queueing::{PortCore, PortError, PortStatistics, QueueRecord, TrafficManager};
use std::sync::Arc;

/// A switch, or one pipeline of it.
pub struct Switch {
    program: Arc<Program>,
    pub(crate) model: V1Model,
    /// True until the first packet: machine code is made when the tables in use are known.
    awaits_code: bool,
}

impl Switch {
    /// Creates a switch with empty tables, except the program's own entries.
    ///
    /// # Errors
    /// If `config` is inconsistent or does not fit the program.
    pub fn new(
        program: Arc<Program>,
        config: SwitchConfig,
        rng: Rng,
    ) -> Result<Switch, ConfigError> {
        config.check()?;
        let flow_slot = config.flow_slot(&program.ir)?;
        let tm = TrafficManager::new(
            &config.ports,
            config.pipeline,
            config.record_queue,
            rng.clone().u64(),
        )?;
        let ir = program.ir.clone();
        let mut model = V1Model::new(ir, tm, config.timestamp_unit, flow_slot, rng);
        if config.pipeline > 0 {
            model.machine.state.registers.keep_written();
        }
        Ok(Switch { program, model, awaits_code: config.engine == Engine::Native })
    }

    /// Compiles the program for all tables now, in real time: so neither a packet nor a
    /// controller's operation waits for it later. Otherwise the first packet does, for the tables
    /// that are in use by then, and the first operation that uses another table.
    pub fn compile(&mut self) {
        if core::mem::take(&mut self.awaits_code) {
            self.model.run_by(self.program.whole_machine_code());
        }
    }

    /// Compiles the program for the tables in use.
    #[cold]
    fn compile_in_use(&mut self) {
        self.awaits_code = false;
        let in_use = TablesInUse::of(&self.model.machine.state.tables);
        self.model.run_by(self.program.machine_code(in_use));
    }

    /// A controller has changed a table, which machine code may not look up so far.
    pub(crate) fn table_changed(&mut self, table: usize) {
        if self.model.machine.state.tables[table].is_in_use() && self.model.phases.lacks(table) {
            self.model.run_by(self.program.whole_machine_code());
        }
    }

    /// Gives each port with a rate a decision core in place of its queue and serializer. No packet
    /// has arrived yet.
    ///
    /// # Errors
    /// If a port has what a core has not.
    pub fn use_cores(
        &mut self,
        make: &mut dyn FnMut() -> Box<dyn PortCore>,
    ) -> Result<(), ConfigError> {
        Ok(self.model.tm.use_cores(make)?)
    }

    /// A packet arrives at a port. Ingress runs at once; the packet is queued, sent or dropped.
    pub fn handle_packet(&mut self, now: Time, port: u16, packet: Box<Packet>) {
        if self.awaits_code {
            self.compile_in_use();
        }
        self.model.handle_packet(now, port, packet);
    }

    /// Ports that become free by `now` send their next packets. Spurious calls are no-ops; after a
    /// late call packets still leave at their exact times.
    pub fn handle_timeout(&mut self, now: Time) {
        self.model.handle_timeout(now);
    }

    /// A packet arrives from another pipeline with the same program and ports. It is queued, sent
    /// or dropped as if ingress had run here.
    pub fn handle_handover(&mut self, now: Time, handover: Handover) {
        if self.awaits_code {
            self.compile_in_use();
        }
        self.model.handle_handover(now, handover);
    }

    /// The next transmission that began, in start order.
    #[inline]
    pub fn poll_transmit(&mut self) -> Option<Transmit> {
        self.model.transmits.pop_front()
    }

    /// When to call [`Switch::handle_timeout`] next: a port with queued packets becomes free.
    #[inline]
    pub fn poll_timeout(&self) -> Option<Time> {
        self.model.tm.next_due()
    }

    /// The next digest for the control plane.
    pub fn poll_digest(&mut self) -> Option<Digest> {
        self.model.digests.pop_front()
    }

    /// The next packet for another pipeline.
    pub fn poll_handover(&mut self) -> Option<Handover> {
        self.model.handovers.pop_front()
    }

    pub(crate) fn port(&self, port: u16) -> Result<usize, ConfigError> {
        self.model.tm.find(u64::from(port)).ok_or(PortError::None(port).into())
    }

    /// The ledger's rows since the caller last took them out.
    pub fn queue_records(&mut self) -> &mut Vec<QueueRecord> {
        self.model.tm.records()
    }

    /// A port's counts.
    ///
    /// # Errors
    /// If the port does not exist.
    pub fn port_statistics(&self, port: u16) -> Result<PortStatistics, ConfigError> {
        Ok(self.model.tm.statistics(self.port(port)?))
    }

    /// The counts of each of a port's queues, the first served first.
    ///
    /// # Errors
    /// If the port does not exist.
    pub fn queue_statistics(&self, port: u16) -> Result<Vec<PortStatistics>, ConfigError> {
        let (tm, port) = (&self.model.tm, self.port(port)?);
        Ok((0..tm.queues(port)).map(|queue| tm.queue_statistics(port, queue)).collect())
    }

    /// The time integral of the length of each of a port's queues until `now`, in
    /// packet-picoseconds and byte-picoseconds. Its growth over a span, divided by the span, is the
    /// mean queue length in that span (Little's law).
    ///
    /// # Errors
    /// If the port does not exist.
    pub fn queues_waited(&self, now: Time, port: u16) -> Result<Vec<(u128, u128)>, ConfigError> {
        let (tm, port) = (&self.model.tm, self.port(port)?);
        Ok((0..tm.queues(port)).map(|queue| tm.queue_waited(port, queue, now)).collect())
    }

    /// The switch's counts, without those of its ports.
    pub fn statistics(&self) -> Statistics {
        self.model.statistics
    }

    /// The program it runs.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// Starts or stops collecting the program's log messages.
    pub fn collect_log(&mut self, collect: bool) {
        self.model.machine.log = collect.then(Vec::new);
    }

    /// The messages collected since the last call.
    pub fn take_log(&mut self) -> Vec<String> {
        self.model.machine.log.as_mut().map(core::mem::take).unwrap_or_default()
    }

    /// Keeps a packet's memory for reuse.
    #[inline]
    pub fn recycle(&mut self, packet: Box<Packet>) {
        self.model.spare.recycle(packet);
    }

    /// The empty packet of one that was dropped, beyond those that the switch needs for its copies.
    #[inline]
    pub fn poll_spare(&mut self) -> Option<Box<Packet>> {
        self.model.spare.poll()
    }

    /// An empty packet, with recycled memory if available.
    pub fn take_packet(&mut self) -> Box<Packet> {
        self.model.spare.take_packet()
    }
}
