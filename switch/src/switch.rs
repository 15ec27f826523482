//! The switch: ports, queues and the program between them. Sans-IO: time and packets come in,
//! transmissions and the time of the next event go out.

use crate::interpreter::machine::Machine;
use crate::ir::program::Program;
use crate::pipelines::Handover;
use crate::tm::{Item, PortConfig, PortStatistics, QueueLimit, TrafficManager};
use crate::v1model::Again;
use narrows_common::record::QueueRecord;
use narrows_common::{Packet, Rate, Rng, Time};
use serde::Deserialize;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// The unit of timestamps and queueing delays that the program sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimestampUnit {
    /// Nanoseconds since the run started.
    Ns,
    /// Microseconds, as bmv2 has it.
    Us,
}

/// What runs the program; the results are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Engine {
    /// Machine code, and the interpreter for what there is none for.
    #[default]
    Native,
    /// The interpreter alone.
    Interpreter,
}

/// What a switch is made of besides its program.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SwitchConfig {
    /// Its output ports.
    pub ports: Vec<PortConfig>,
    /// The unit of the program's timestamps.
    pub timestamp_unit: TimestampUnit,
    /// A metadata field that names the packet's flow after ingress, such as `meta.flow_id`.
    #[serde(default)]
    pub flow_field: Option<String>,
    /// Whether queue events are recorded.
    #[serde(default)]
    pub record_queue: bool,
    /// What runs the program.
    #[serde(default)]
    pub engine: Engine,
    /// Which pipeline of a switch of several this is; a switch that is whole is its pipeline 0.
    #[serde(default)]
    pub pipeline: u16,
}

/// Why a switch can't be made, or changed, as asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// Two ports of one number.
    #[error("port {0}: configured twice")]
    PortTwice(u16),
    /// The program's number for "drop".
    #[error("port {0}: expected a number below 511, which means \"drop\"")]
    PortReserved(u16),
    /// A rate of zero.
    #[error("port {0}: rate_bps is 0: expected a rate above zero")]
    ZeroRate(u16),
    /// No queue at all, or more than the program's priorities.
    #[error("port {port}: queues is {queues}: expected 1 to 8")]
    Queues {
        /// Which port.
        port: u16,
        /// What was asked for.
        queues: u8,
    },
    /// A port that does not exist.
    #[error("port {0}: there is no such port")]
    NoSuchPort(u16),
    /// No field, or several, of that name.
    #[error("flow_field '{name}': expected one metadata field, found {found}")]
    FlowField {
        /// What was asked for.
        name: String,
        /// How many there are.
        found: usize,
    },
}

/// A transmission that began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// From which port.
    pub port: u16,
    /// When its first bit left.
    pub start: Time,
    /// When its last bit left.
    pub end: Time,
    /// The packet, as the program left it.
    pub packet: Packet,
}

/// A copy of a packet: to which port, and with which replication id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Replica {
    /// Output port.
    pub port: u16,
    /// `standard_metadata.egress_rid`.
    #[serde(default)]
    pub rid: u16,
}

/// A clone (mirror) session.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CloneSession {
    /// Its number in the program.
    pub id: u32,
    /// Where clones go.
    pub replicas: Vec<Replica>,
    /// Cuts clones to this many bytes, before their egress; headers stay whole.
    #[serde(default)]
    pub truncate_bytes: Option<u32>,
}

/// A digest: values of the fields of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digest {
    /// The name of the list, which is that of the P4 structure.
    pub list: String,
    /// The fields' values in hexadecimal.
    pub values: Vec<String>,
}

/// What a switch has done, ports aside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Packets that arrived.
    pub received: u64,
    /// Packets whose parser ended with an error; most of them go on nonetheless.
    pub parser_errors: u64,
    /// Packets with a wrong checksum; they go on too.
    pub checksum_errors: u64,
    /// Packets that ingress dropped.
    pub dropped_ingress: u64,
    /// Packets that egress dropped.
    pub dropped_egress: u64,
    /// Packets for a port that does not exist.
    pub no_such_port: u64,
    /// Packets for a multicast group that does not exist.
    pub no_such_group: u64,
    /// Packets stopped by an assertion or an endless loop of the program.
    pub aborted: u64,
    /// Packets dropped since they came round too often at one instant.
    pub endless: u64,
}

impl core::ops::Add for Statistics {
    type Output = Statistics;

    fn add(self, other: Statistics) -> Statistics {
        Statistics {
            received: self.received + other.received,
            parser_errors: self.parser_errors + other.parser_errors,
            checksum_errors: self.checksum_errors + other.checksum_errors,
            dropped_ingress: self.dropped_ingress + other.dropped_ingress,
            dropped_egress: self.dropped_egress + other.dropped_egress,
            no_such_port: self.no_such_port + other.no_such_port,
            no_such_group: self.no_such_group + other.no_such_group,
            aborted: self.aborted + other.aborted,
            endless: self.endless + other.endless,
        }
    }
}

/// A packet on its way to a queue.
#[derive(Debug)]
pub(crate) struct Offer {
    pub port: usize,
    pub priority: u64,
    pub frame_bytes: u64,
    pub item: Box<Item>,
}

/// What is to be done at one instant, in order.
#[derive(Debug)]
pub(crate) enum Work {
    Offer(Offer),
    Again(Again),
}

/// A switch.
pub struct Switch {
    pub(crate) program: Arc<Program>,
    pub(crate) machine: Machine,
    pub(crate) tm: TrafficManager,
    pub(crate) sessions: BTreeMap<u32, Arc<CloneSession>>,
    pub(crate) groups: BTreeMap<u32, Arc<[Replica]>>,
    pub(crate) work: VecDeque<Work>,
    pub(crate) transmits: VecDeque<Transmit>,
    pub(crate) digests: VecDeque<Digest>,
    pub(crate) handovers: VecDeque<Handover>,
    pub(crate) unit: TimestampUnit,
    pub(crate) flow_slot: Option<crate::ir::op::Slot>,
    pub(crate) statistics: Statistics,
    packets: Vec<Packet>,
    #[expect(clippy::vec_box, reason = "an item keeps its place")]
    items: Vec<Box<Item>>,
}

/// Spare packets, and spare items, kept at most.
const SPARE_MAX: usize = 4096;

impl Switch {
    /// A switch with empty tables, apart from the entries that the program brings.
    ///
    /// # Errors
    /// When `config` does not fit itself or the program.
    pub fn new(
        program: Arc<Program>,
        config: SwitchConfig,
        rng: Rng,
    ) -> Result<Switch, ConfigError> {
        let mut numbers = std::collections::BTreeSet::new();
        for port in &config.ports {
            if u64::from(port.port) == crate::ir::architecture::DROP_PORT {
                return Err(ConfigError::PortReserved(port.port));
            }
            if !numbers.insert(port.port) {
                return Err(ConfigError::PortTwice(port.port));
            }
            if port.rate_bps == Some(0) {
                return Err(ConfigError::ZeroRate(port.port));
            }
            if !(1..=8).contains(&port.queues) {
                return Err(ConfigError::Queues { port: port.port, queues: port.queues });
            }
        }
        let flow_slot = match &config.flow_field {
            Some(name) => Some(program.metadata_slot(name)?),
            None => None,
        };
        let mut machine = Machine::new(&program, config.engine, rng);
        if config.pipeline > 0 {
            machine.registers.keep_written();
        }
        Ok(Switch {
            machine,
            program,
            tm: TrafficManager::new(&config.ports, config.pipeline, config.record_queue),
            sessions: BTreeMap::new(),
            groups: BTreeMap::new(),
            work: VecDeque::new(),
            transmits: VecDeque::new(),
            digests: VecDeque::new(),
            handovers: VecDeque::new(),
            unit: config.timestamp_unit,
            flow_slot,
            statistics: Statistics::default(),
            packets: vec![],
            items: vec![],
        })
    }

    /// A packet arrives. Ingress runs at once; the packet is queued, sent or dropped.
    pub fn handle_packet(&mut self, now: Time, port: u16, packet: Packet) {
        self.handle_timeout(now);
        self.statistics.received += 1;
        let item = self.take_item(packet);
        self.ingress(now, port, item);
        self.settle(now);
    }

    /// Ports whose line has become free by `now` go on to their next packets. Spurious calls
    /// are no-ops, and late ones make up for it: packets leave when they should have left.
    pub fn handle_timeout(&mut self, now: Time) {
        while let Some((at, port)) = self.tm.take_due(now) {
            self.drain(at, port);
            self.settle(at);
        }
    }

    /// Takes packets from a port until its line is busy or nothing waits.
    fn drain(&mut self, at: Time, port: usize) {
        while let Some(dequeued) = self.tm.dequeue_idle(at, port) {
            self.egress(dequeued);
        }
    }

    /// Does what has come up at this instant.
    #[inline]
    pub(crate) fn settle(&mut self, at: Time) {
        if !self.work.is_empty() {
            self.settle_work(at);
        }
    }

    #[inline(never)]
    fn settle_work(&mut self, at: Time) {
        while let Some(work) = self.work.pop_front() {
            match work {
                Work::Again(again) => self.ingress_again(at, again),
                Work::Offer(offer) => self.offer(at, offer),
            }
        }
    }

    /// Queues a packet or drops it, and takes from the port what can leave at once.
    pub(crate) fn offer(&mut self, at: Time, offer: Offer) {
        if let Some(pipeline) = self.tm.ports[offer.port].elsewhere {
            self.handovers.push_back(Handover { pipeline, at, offer });
            return;
        }
        let Offer { port, priority, frame_bytes, item } = offer;
        match self.tm.offer(at, port, priority, frame_bytes, item) {
            Some(dropped) => self.discard(dropped),
            None => {
                while let Some(superseded) = self.tm.thrown_out.pop() {
                    self.discard(superseded);
                }
                // What is due goes on then.
                if !self.tm.ports[port].armed {
                    self.drain(at, port);
                }
            }
        }
    }

    /// The next transmission that began, in the order of their starts.
    #[inline]
    pub fn poll_transmit(&mut self) -> Option<Transmit> {
        self.transmits.pop_front()
    }

    /// When [`Switch::handle_timeout`] is needed next: a line becomes free with packets waiting.
    pub fn poll_timeout(&self) -> Option<Time> {
        self.tm.next_due()
    }

    /// The next digest for the control plane.
    pub fn poll_digest(&mut self) -> Option<Digest> {
        self.digests.pop_front()
    }

    /// Sets a port's rate from `now` on; the packet in transmission ends as it began.
    ///
    /// # Errors
    /// When there is no such port, or the rate is zero.
    pub fn set_rate(&mut self, now: Time, port: u16, rate: Rate) -> Result<(), ConfigError> {
        self.handle_timeout(now);
        let found = self.port(port)?;
        if rate.as_bps() == 0 {
            return Err(ConfigError::ZeroRate(port));
        }
        self.tm.set_rate(found, rate);
        Ok(())
    }

    /// Sets the limit of a port's queues; packets that wait already stay.
    ///
    /// # Errors
    /// When there is no such port.
    pub fn set_queue_limit(
        &mut self,
        now: Time,
        port: u16,
        limit: QueueLimit,
    ) -> Result<(), ConfigError> {
        self.handle_timeout(now);
        let found = self.port(port)?;
        self.tm.set_limit(found, limit);
        Ok(())
    }

    fn port(&self, port: u16) -> Result<usize, ConfigError> {
        self.tm.find(u64::from(port)).ok_or(ConfigError::NoSuchPort(port))
    }

    /// The ledger's rows so far; the caller takes them out.
    pub fn queue_records(&mut self) -> &mut Vec<QueueRecord> {
        &mut self.tm.records
    }

    /// What a port has done.
    ///
    /// # Errors
    /// When there is no such port.
    pub fn port_statistics(&self, port: u16) -> Result<PortStatistics, ConfigError> {
        Ok(self.tm.statistics(self.port(port)?))
    }

    /// How long packets have waited at a port until `now`, in packet-picoseconds and
    /// byte-picoseconds. What it grows by in a span of time, divided by the span, is the mean
    /// depth of its queues over it (Little's law).
    ///
    /// # Errors
    /// When there is no such port.
    pub fn port_waited(&self, now: Time, port: u16) -> Result<(u128, u128), ConfigError> {
        Ok(self.tm.waited(self.port(port)?, now))
    }

    /// What the switch has done, ports aside.
    pub fn statistics(&self) -> Statistics {
        self.statistics
    }

    /// The program it runs.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// Begins or ends the collection of the program's log messages.
    pub fn collect_log(&mut self, collect: bool) {
        self.machine.log = collect.then(Vec::new);
    }

    /// The messages collected since the last call.
    pub fn take_log(&mut self) -> Vec<String> {
        self.machine.log.as_mut().map(core::mem::take).unwrap_or_default()
    }

    /// Takes a packet back whose memory can serve again.
    #[inline]
    pub fn recycle(&mut self, mut packet: Packet) {
        if self.packets.len() < SPARE_MAX {
            packet.clear();
            self.packets.push(packet);
        }
    }

    /// An empty packet, one that was recycled if there is one.
    pub fn take_packet(&mut self) -> Packet {
        self.packets.pop().unwrap_or_default()
    }

    /// A packet to go through the switch.
    #[inline]
    pub(crate) fn take_item(&mut self, packet: Packet) -> Box<Item> {
        let mut item = self.items.pop().unwrap_or_default();
        item.packet = packet;
        item.rounds = 0;
        item
    }

    /// A copy of a packet's first `len` bytes, to go through the switch.
    pub(crate) fn copy(&mut self, packet: &Packet, len: usize) -> Box<Item> {
        let mut copy = self.take_packet();
        copy.copy_front(packet, len);
        self.take_item(copy)
    }

    /// An item whose packet has been taken.
    #[inline]
    pub(crate) fn give_item(&mut self, item: Box<Item>) {
        if self.items.len() < SPARE_MAX {
            self.items.push(item);
        }
    }

    /// A packet goes no further.
    pub(crate) fn discard(&mut self, mut item: Box<Item>) {
        self.recycle(core::mem::take(&mut item.packet));
        self.give_item(item);
    }
}

impl Program {
    /// The slot of a metadata field by the end of its name: p4c calls `meta.flow_id`
    /// `scalars.userMetadata.flow_id` or `scalars.metadata_t.flow_id`.
    fn metadata_slot(&self, name: &str) -> Result<crate::ir::op::Slot, ConfigError> {
        let is_metadata =
            |header: &str| self.headers.iter().any(|known| known.metadata && known.name == header);
        let ends = |full: &str, tail: &str| {
            full.strip_suffix(tail).is_some_and(|front| front.is_empty() || front.ends_with('.'))
        };
        let last = name.rsplit('.').next().unwrap_or(name);
        let find = |tail: &str| -> Vec<crate::ir::op::Slot> {
            let fields = self.fields.iter().filter(|((header, field), (_, width))| {
                *width <= 64 && is_metadata(header) && ends(&format!("{header}.{field}"), tail)
            });
            fields.map(|(_, (slot, _))| *slot).collect()
        };
        // The whole name first; what the program calls `meta` is not in the JSON.
        for tail in [name, last] {
            match find(tail).as_slice() {
                [] => {}
                [slot] => return Ok(*slot),
                several => {
                    let found = several.len();
                    return Err(ConfigError::FlowField { name: name.to_owned(), found });
                }
            }
        }
        Err(ConfigError::FlowField { name: name.to_owned(), found: 0 })
    }
}
