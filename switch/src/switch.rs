//! The switch: ports, queues and the program between them. Sans-IO: time and packets come in,
//! transmissions and the time of the next event go out.

use crate::config::{ConfigError, Engine, SwitchConfig};
use crate::program::Program;
use crate::v1model::{Digest, Handover, Statistics, Transmit, V1Model};
use narrows_common::{Packet, Rng, Time};
use narrows_queueing::{PortError, PortStatistics, QueueRecord, TrafficManager};
use std::sync::Arc;

/// A switch, or one pipeline of it.
pub struct Switch {
    program: Arc<Program>,
    pub(crate) model: V1Model,
}

impl Switch {
    /// A switch with empty tables, apart from the entries that the program brings.
    ///
    /// # Errors
    /// If `config` does not fit itself or the program.
    pub fn new(
        program: Arc<Program>,
        config: SwitchConfig,
        rng: Rng,
    ) -> Result<Switch, ConfigError> {
        config.check()?;
        let flow_slot = config.flow_slot(&program.ir)?;
        // Made now, so that no packet waits for it.
        let code = match config.engine {
            Engine::Native => program.machine_code(),
            Engine::Interpreter => None,
        };
        let tm = TrafficManager::new(
            &config.ports,
            config.pipeline,
            config.record_queue,
            rng.clone().u64(),
        )?;
        let ir = program.ir.clone();
        let mut model = V1Model::new(ir, code, tm, config.timestamp_unit, flow_slot, rng);
        if config.pipeline > 0 {
            model.machine.state.registers.keep_written();
        }
        Ok(Switch { program, model })
    }

    /// A packet arrives. Ingress runs at once; the packet is queued, sent or dropped.
    pub fn handle_packet(&mut self, now: Time, port: u16, packet: Packet) {
        self.model.handle_packet(now, port, packet);
    }

    /// Ports that can send again by `now` send their next packets. Spurious calls are no-ops; after
    /// a late call packets still leave at their exact times.
    pub fn handle_timeout(&mut self, now: Time) {
        self.model.handle_timeout(now);
    }

    /// A packet comes from another pipeline, of the same program and ports. It is queued, sent or
    /// dropped as if ingress had been here.
    pub fn handle_handover(&mut self, now: Time, handover: Handover) {
        self.model.handle_handover(now, handover);
    }

    /// The next transmission that began, in the order of their starts.
    #[inline]
    pub fn poll_transmit(&mut self) -> Option<Transmit> {
        self.model.transmits.pop_front()
    }

    /// When [`Switch::handle_timeout`] is needed next: a port can go on with packets that wait.
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

    /// The ledger's rows so far; the caller takes them out.
    pub fn queue_records(&mut self) -> &mut Vec<QueueRecord> {
        self.model.tm.records()
    }

    /// What a port has done.
    ///
    /// # Errors
    /// If the port does not exist.
    pub fn port_statistics(&self, port: u16) -> Result<PortStatistics, ConfigError> {
        Ok(self.model.tm.statistics(self.port(port)?))
    }

    /// How long packets have waited at a port until `now`, in packet-picoseconds and
    /// byte-picoseconds. What it grows by in a span of time, divided by the span, is the mean
    /// depth of its queues over it (Little's law).
    ///
    /// # Errors
    /// If the port does not exist.
    pub fn port_waited(&self, now: Time, port: u16) -> Result<(u128, u128), ConfigError> {
        Ok(self.model.tm.waited(self.port(port)?, now))
    }

    /// What the switch has done, ports aside.
    pub fn statistics(&self) -> Statistics {
        self.model.statistics
    }

    /// The program it runs.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// Begins or ends the collection of the program's log messages.
    pub fn collect_log(&mut self, collect: bool) {
        self.model.machine.log = collect.then(Vec::new);
    }

    /// The messages collected since the last call.
    pub fn take_log(&mut self) -> Vec<String> {
        self.model.machine.log.as_mut().map(core::mem::take).unwrap_or_default()
    }

    /// Keeps a packet's memory for another packet.
    #[inline]
    pub fn recycle(&mut self, packet: Packet) {
        self.model.spare.recycle(packet);
    }

    /// An empty packet, one that was recycled if there is one.
    pub fn take_packet(&mut self) -> Packet {
        self.model.spare.take_packet()
    }
}
