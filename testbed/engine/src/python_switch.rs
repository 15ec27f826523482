//! `testbed._engine.Switch`: one switch as the servers' `Target` (switch/server/target.py) and
//! as the driver of its ports see it.
//!
//! A lock guards it, held for one packet or one operation at a time, never while Python runs.

mod convert;
mod profiles;

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use narrows_common::{Packet, Rate, Rng, Time};
use narrows_switch::{
    CloneSession, ControlError, Count, Counts, DefaultAction, PortConfig, PortStatistics, Program,
    QueueLimit, Replica, Statistics, Switch, SwitchConfig, TableEntry, TimestampUnit, Transmit,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde::Deserialize;

use convert::{meter, read, shown};

/// What a switch is made of besides its program.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    ports: Vec<PortConfig>,
    timestamp_unit: TimestampUnit,
    /// The port whose packets are the controllers'.
    #[serde(default)]
    cpu_port: Option<u16>,
    /// As `SwitchConfig` has them, for a switch that a run takes.
    #[serde(default)]
    flow_field: Option<String>,
    #[serde(default)]
    record_queue: bool,
    /// What its random numbers are drawn for, with the seed.
    #[serde(default = "switch_name")]
    name: String,
}

fn switch_name() -> String {
    "switch".to_owned()
}

/// Why the switch refused: a kind of `target.py`, and a message.
struct Refusal {
    kind: &'static str,
    message: String,
}

impl Refusal {
    fn new(kind: &'static str, message: impl Into<String>) -> Self {
        Refusal { kind, message: message.into() }
    }

    fn no_such_port(port: u16) -> Self {
        Refusal::new("not-found", format!("port {port}: there is no such port"))
    }
}

impl From<ControlError> for Refusal {
    fn from(error: ControlError) -> Self {
        let kind = match &error {
            ControlError::Unknown { .. } | ControlError::NotFound(_) => "not-found",
            ControlError::Exists(_) | ControlError::Present { .. } => "already-exists",
            ControlError::Full { .. } | ControlError::NoRoom { .. } => "resource-exhausted",
            ControlError::InUse { .. } => "failed-precondition",
            ControlError::Constant { .. } => "permission-denied",
            ControlError::Index { .. } => "out-of-range",
            ControlError::Ambiguous { .. }
            | ControlError::Value { .. }
            | ControlError::Missing { .. } => "invalid-argument",
        };
        Refusal::new(kind, error.to_string())
    }
}

impl From<Refusal> for PyErr {
    fn from(refusal: Refusal) -> PyErr {
        let raised = Python::attach(|py| {
            let class = py.import("switch.server.target")?.getattr("TargetError")?;
            class.call1((refusal.kind, refusal.message)).map(PyErr::from_value)
        });
        raised.unwrap_or_else(|error| error)
    }
}

struct Inner {
    config: Config,
    seed: u64,
    now: Time,
    switch: Option<Switch>,
    paused: usize,
    received: BTreeMap<u16, (u64, u64)>,
    no_program: u64,
    /// What ports and switch did under programs before.
    ports_before: BTreeMap<u16, PortStatistics>,
    waited_before: BTreeMap<u16, (u128, u128)>,
    before: Statistics,
    sent: VecDeque<Transmit>,
    packet_ins: Vec<Vec<u8>>,
    collect_log: bool,
}

impl Inner {
    fn switch(&mut self) -> Result<&mut Switch, Refusal> {
        let none = || Refusal::new("failed-precondition", "the switch has no program yet");
        self.switch.as_mut().ok_or_else(none)
    }

    fn port(&mut self, port: u16) -> Result<&mut PortConfig, Refusal> {
        let found = self.config.ports.iter_mut().find(|known| known.port == port);
        found.ok_or_else(|| Refusal::no_such_port(port))
    }

    fn build(&self, program_json: &str) -> Result<Switch, Refusal> {
        let refuse = |message: String| Refusal::new("invalid-argument", message);
        let program = Program::from_json(program_json).map_err(|e| refuse(e.to_string()))?;
        let config = SwitchConfig {
            ports: self.config.ports.clone(),
            timestamp_unit: self.config.timestamp_unit,
            flow_field: self.config.flow_field.clone(),
            record_queue: self.config.record_queue,
        };
        let rng = Rng::for_component(self.seed, &self.config.name);
        Switch::new(Arc::new(program), config, rng).map_err(|error| refuse(error.to_string()))
    }

    fn load(&mut self, program_json: &str) -> Result<(), Refusal> {
        let mut switch = self.build(program_json)?;
        switch.collect_log(self.collect_log);
        if self.switch.is_some() {
            self.before = self.statistics();
            for port in self.config.ports.clone() {
                let mut done = self.port_statistics(port.port)?;
                done.dequeued += done.waiting_packets;
                done.dropped_egress += done.waiting_packets;
                self.ports_before.insert(port.port, done);
                let waited = self.waited(port.port);
                self.waited_before.insert(port.port, waited);
            }
        }
        self.switch = Some(switch);
        Ok(())
    }

    fn statistics(&self) -> Statistics {
        let now = self.switch.as_ref().map(Switch::statistics).unwrap_or_default();
        let before = self.before;
        Statistics {
            received: before.received + now.received,
            parser_errors: before.parser_errors + now.parser_errors,
            checksum_errors: before.checksum_errors + now.checksum_errors,
            dropped_ingress: before.dropped_ingress + now.dropped_ingress,
            dropped_egress: before.dropped_egress + now.dropped_egress,
            no_such_port: before.no_such_port + now.no_such_port,
            no_such_group: before.no_such_group + now.no_such_group,
            aborted: before.aborted + now.aborted,
            endless: before.endless + now.endless,
        }
    }

    fn port_statistics(&self, port: u16) -> Result<PortStatistics, Refusal> {
        let now = match &self.switch {
            Some(switch) => {
                switch.port_statistics(port).map_err(|_| Refusal::no_such_port(port))?
            }
            None => PortStatistics::default(),
        };
        let before = self.ports_before.get(&port).copied().unwrap_or_default();
        Ok(PortStatistics {
            enqueued: before.enqueued + now.enqueued,
            dequeued: before.dequeued + now.dequeued,
            dropped_queue_full: before.dropped_queue_full + now.dropped_queue_full,
            dropped_egress: before.dropped_egress + now.dropped_egress,
            transmitted: before.transmitted + now.transmitted,
            transmitted_bytes: before.transmitted_bytes + now.transmitted_bytes,
            depth_max_packets: before.depth_max_packets.max(now.depth_max_packets),
            depth_max_bytes: before.depth_max_bytes.max(now.depth_max_bytes),
            ..now
        })
    }

    /// Packet- and byte-picoseconds waited at a port since the switch began.
    fn waited(&self, port: u16) -> (u128, u128) {
        let now = self.switch.as_ref().and_then(|switch| switch.port_waited(self.now, port).ok());
        let (now, before) = (now.unwrap_or_default(), self.waited_before.get(&port));
        let before = before.copied().unwrap_or_default();
        (before.0 + now.0, before.1 + now.1)
    }

    /// Mean packets and bytes that waited at a port since the switch's clock was zero.
    fn mean_depth(&self, port: u16) -> (f64, f64) {
        let (packet_ps, byte_ps) = self.waited(port);
        let time_ps = self.now.as_ps().max(1) as f64;
        (packet_ps as f64 / time_ps, byte_ps as f64 / time_ps)
    }

    fn handle_packet(&mut self, port: u16, bytes: &[u8], now: Time) {
        self.now = self.now.max(now);
        let received = self.received.entry(port).or_default();
        received.0 += 1;
        received.1 += bytes.len() as u64;
        match &mut self.switch {
            Some(switch) => switch.handle_packet(self.now, port, Packet::from_bytes(bytes)),
            None => self.no_program += 1,
        }
        self.collect();
    }

    fn collect(&mut self) {
        let Some(switch) = &mut self.switch else { return };
        while let Some(transmit) = switch.poll_transmit() {
            if Some(transmit.port) == self.config.cpu_port {
                self.packet_ins.push(transmit.packet.to_bytes());
                switch.recycle(transmit.packet);
            } else {
                self.sent.push_back(transmit);
            }
        }
    }
}

/// A transmission: port, start and end in picoseconds, bytes.
type Sent<'py> = (u16, u64, u64, Bound<'py, PyBytes>);

/// A switch with ports, without a program until `load`.
#[pyclass(name = "Switch", frozen)]
pub(crate) struct PySwitch {
    inner: Mutex<Inner>,
    resumed: Condvar,
}

impl PySwitch {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        // What panicked said so; the switch goes on.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The packets' way in: waits while the switch is paused.
    fn lock_unpaused(&self) -> MutexGuard<'_, Inner> {
        let mut inner = self.lock();
        while inner.paused > 0 {
            inner = self.resumed.wait(inner).unwrap_or_else(PoisonError::into_inner);
        }
        inner
    }

    /// Does `operation` under the lock and without the interpreter.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        operation: impl FnOnce(&mut Inner) -> Result<T, Refusal> + Send,
    ) -> PyResult<T> {
        Ok(py.detach(|| operation(&mut self.lock()))?)
    }
}

impl PySwitch {
    /// The switch as it has been set up, for a run; what is left has no program.
    pub(crate) fn take(&self) -> Option<Switch> {
        self.lock().switch.take()
    }
}

type Row<'py> = (Bound<'py, PyDict>, u64, u64);

#[pymethods]
impl PySwitch {
    /// `config_json`: `ports`, `timestamp_unit`, `cpu_port` (or null).
    #[new]
    fn new(config_json: &str, seed: u64) -> PyResult<Self> {
        let config: Config = serde_json::from_str(config_json)
            .map_err(|error| PyValueError::new_err(format!("switch: {error}")))?;
        let inner = Inner {
            config,
            seed,
            now: Time::ZERO,
            switch: None,
            paused: 0,
            received: BTreeMap::new(),
            no_program: 0,
            ports_before: BTreeMap::new(),
            waited_before: BTreeMap::new(),
            before: Statistics::default(),
            sent: VecDeque::new(),
            packet_ins: vec![],
            collect_log: false,
        };
        Ok(PySwitch { inner: Mutex::new(inner), resumed: Condvar::new() })
    }

    /// A packet arrives at a port.
    fn handle_packet(&self, py: Python<'_>, port: u16, packet: &[u8], now_ps: u64) {
        py.detach(|| {
            self.lock_unpaused().handle_packet(port, packet, Time::from_ps(now_ps));
        });
    }

    /// Goes on to `now_ps`. Returns the transmissions that began, the CPU port's aside.
    fn run_until<'py>(&self, py: Python<'py>, now_ps: u64) -> Vec<Sent<'py>> {
        let sent = py.detach(|| {
            let mut inner = self.lock_unpaused();
            inner.now = inner.now.max(Time::from_ps(now_ps));
            let now = inner.now;
            if let Some(switch) = &mut inner.switch {
                switch.handle_timeout(now);
            }
            inner.collect();
            core::mem::take(&mut inner.sent)
        });
        let shown = sent.into_iter().map(|transmit| {
            let bytes = PyBytes::new(py, &transmit.packet.to_bytes());
            (transmit.port, transmit.start.as_ps(), transmit.end.as_ps(), bytes)
        });
        shown.collect()
    }

    /// When it wants `run_until` next, if packets wait.
    fn poll_timeout_ps(&self) -> Option<u64> {
        self.lock().switch.as_ref().and_then(Switch::poll_timeout).map(Time::as_ps)
    }

    fn now_ps(&self) -> u64 {
        self.lock().now.as_ps()
    }

    /// Begins or ends the collection of the program's log messages.
    fn collect_log(&self, collect: bool) {
        let mut inner = self.lock();
        inner.collect_log = collect;
        if let Some(switch) = &mut inner.switch {
            switch.collect_log(collect);
        }
    }

    /// The messages collected since the last call.
    fn take_log(&self) -> Vec<String> {
        self.lock().switch.as_mut().map(Switch::take_log).unwrap_or_default()
    }

    fn pause(&self) {
        self.lock().paused += 1;
    }

    fn resume(&self) {
        let mut inner = self.lock();
        inner.paused = inner.paused.saturating_sub(1);
        self.resumed.notify_all();
    }

    fn check(&self, py: Python<'_>, program_json: &str) -> PyResult<()> {
        let loaded = py.detach(|| Program::from_json(program_json));
        let refused = |error: narrows_switch::LoadError| {
            Refusal::new("invalid-argument", error.to_string()).into()
        };
        loaded.map(drop).map_err(refused)
    }

    fn load(&self, py: Python<'_>, program_json: &str) -> PyResult<()> {
        self.with(py, |inner| inner.load(program_json))
    }

    fn statistics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (done, no_program) = py.detach(|| {
            let inner = self.lock();
            (inner.statistics(), inner.no_program)
        });
        let dict = PyDict::new(py);
        dict.set_item("received", done.received + no_program)?;
        dict.set_item("parser_errors", done.parser_errors)?;
        dict.set_item("checksum_errors", done.checksum_errors)?;
        dict.set_item("dropped_ingress", done.dropped_ingress)?;
        dict.set_item("dropped_egress", done.dropped_egress)?;
        dict.set_item("no_such_port", done.no_such_port)?;
        dict.set_item("no_such_group", done.no_such_group)?;
        dict.set_item("aborted", done.aborted)?;
        dict.set_item("endless", done.endless)?;
        dict.set_item("no_program", no_program)?;
        Ok(dict)
    }

    fn ports(&self) -> Vec<u16> {
        let mut ports: Vec<u16> = self.lock().config.ports.iter().map(|port| port.port).collect();
        ports.sort_unstable();
        ports
    }

    fn port_state<'py>(&self, py: Python<'py>, port: u16) -> PyResult<Bound<'py, PyDict>> {
        let (config, done, received, mean) = self.with(py, |inner| {
            let config = inner.port(port)?.clone();
            let received = inner.received.get(&port).copied().unwrap_or_default();
            Ok((config, inner.port_statistics(port)?, received, inner.mean_depth(port)))
        })?;
        let limit = PyDict::new(py);
        match config.queue {
            QueueLimit::Packets(most) => limit.set_item("packets", most)?,
            QueueLimit::Bytes(most) => limit.set_item("bytes", most)?,
            QueueLimit::TimePs(most) => limit.set_item("time_ps", most)?,
        }
        let counts = match config.counts {
            Counts::Ip => "ip",
            Counts::Frame => "frame",
            Counts::Wire => "wire",
        };
        let dict = PyDict::new(py);
        dict.set_item("port", port)?;
        dict.set_item("rate_bps", config.rate_bps)?;
        dict.set_item("queue", limit)?;
        dict.set_item("counts", counts)?;
        dict.set_item("enqueued", done.enqueued)?;
        dict.set_item("dequeued", done.dequeued)?;
        dict.set_item("dropped_queue_full", done.dropped_queue_full)?;
        dict.set_item("dropped_egress", done.dropped_egress)?;
        dict.set_item("transmitted", done.transmitted)?;
        dict.set_item("transmitted_bytes", done.transmitted_bytes)?;
        dict.set_item("received", received.0)?;
        dict.set_item("received_bytes", received.1)?;
        dict.set_item("waiting_packets", done.waiting_packets)?;
        dict.set_item("waiting_bytes", done.waiting_bytes)?;
        dict.set_item("depth_max_packets", done.depth_max_packets)?;
        dict.set_item("depth_max_bytes", done.depth_max_bytes)?;
        dict.set_item("depth_mean_packets", mean.0)?;
        dict.set_item("depth_mean_bytes", mean.1)?;
        Ok(dict)
    }

    fn set_rate(&self, py: Python<'_>, port: u16, rate_bps: u64) -> PyResult<()> {
        self.with(py, |inner| {
            let config = inner.port(port)?;
            if rate_bps == 0 {
                let message = format!("port {port}: rate 0: expected a rate above zero");
                return Err(Refusal::new("invalid-argument", message));
            }
            config.rate_bps = Some(rate_bps);
            let now = inner.now;
            if let Some(switch) = &mut inner.switch {
                let set = switch.set_rate(now, port, Rate::from_bps(rate_bps));
                set.map_err(|error| Refusal::new("invalid-argument", error.to_string()))?;
            }
            Ok(())
        })
    }

    fn set_queue_limit(&self, py: Python<'_>, port: u16, limit: &Bound<'_, PyAny>) -> PyResult<()> {
        let limit: QueueLimit = read(limit)?;
        self.with(py, |inner| {
            inner.port(port)?.queue = limit;
            let now = inner.now;
            if let Some(switch) = &mut inner.switch {
                let set = switch.set_queue_limit(now, port, limit);
                set.map_err(|error| Refusal::new("invalid-argument", error.to_string()))?;
            }
            Ok(())
        })
    }

    fn insert_entry(&self, py: Python<'_>, entry: &Bound<'_, PyAny>) -> PyResult<()> {
        let entry: TableEntry = read(entry)?;
        self.with(py, |inner| Ok(inner.switch()?.insert_entry(&entry)?))
    }

    fn modify_entry(&self, py: Python<'_>, entry: &Bound<'_, PyAny>) -> PyResult<()> {
        let entry: TableEntry = read(entry)?;
        self.with(py, |inner| Ok(inner.switch()?.modify_entry(&entry)?))
    }

    fn delete_entry(&self, py: Python<'_>, entry: &Bound<'_, PyAny>) -> PyResult<()> {
        let entry: TableEntry = read(entry)?;
        self.with(py, |inner| Ok(inner.switch()?.delete_entry(&entry)?))
    }

    fn entry<'py>(&self, py: Python<'py>, entry: &Bound<'py, PyAny>) -> PyResult<Option<Row<'py>>> {
        let entry: TableEntry = read(entry)?;
        let found = self.with(py, |inner| Ok(inner.switch()?.find_entry(&entry)?))?;
        let row = found.map(|(entry, count)| Ok((shown(py, &entry)?, count.packets, count.bytes)));
        row.transpose()
    }

    fn entries<'py>(&self, py: Python<'py>, table: &str) -> PyResult<Vec<Row<'py>>> {
        let found = self.with(py, |inner| Ok(inner.switch()?.entries(table)?))?;
        let row = |(entry, count): &(TableEntry, Count)| {
            Ok((shown(py, entry)?, count.packets, count.bytes))
        };
        found.iter().map(row).collect()
    }

    fn set_entry_count(
        &self,
        py: Python<'_>,
        entry: &Bound<'_, PyAny>,
        packets: u64,
        octets: u64,
    ) -> PyResult<()> {
        let entry: TableEntry = read(entry)?;
        let count = Count { packets, bytes: octets };
        self.with(py, |inner| Ok(inner.switch()?.set_entry_count(&entry, count)?))
    }

    fn default_action<'py>(
        &self,
        py: Python<'py>,
        table: &str,
    ) -> PyResult<Option<Bound<'py, PyDict>>> {
        let found = self.with(py, |inner| Ok(inner.switch()?.default_action(table)?))?;
        let Some(DefaultAction { action, params, .. }) = found else { return Ok(None) };
        let dict = PyDict::new(py);
        dict.set_item("action", action)?;
        dict.set_item("params", params)?;
        Ok(Some(dict))
    }

    fn set_default_action(&self, py: Python<'_>, default: &Bound<'_, PyAny>) -> PyResult<()> {
        let default: DefaultAction = read(default)?;
        self.with(py, |inner| Ok(inner.switch()?.set_default_action(&default)?))
    }

    fn reset_default_action(&self, py: Python<'_>, table: &str) -> PyResult<()> {
        self.with(py, |inner| Ok(inner.switch()?.reset_default_action(table)?))
    }

    fn read_counters(
        &self,
        py: Python<'_>,
        name: &str,
        first: u64,
        count: u64,
    ) -> PyResult<Vec<(u64, u64)>> {
        let cells =
            self.with(py, |inner| Ok(inner.switch()?.read_counters(name, first, count)?))?;
        Ok(cells.into_iter().map(|cell| (cell.packets, cell.bytes)).collect())
    }

    fn write_counter(
        &self,
        py: Python<'_>,
        name: &str,
        index: u64,
        packets: u64,
        octets: u64,
    ) -> PyResult<()> {
        let count = Count { packets, bytes: octets };
        self.with(py, |inner| Ok(inner.switch()?.write_counter(name, index, count)?))
    }

    fn configure_meter(
        &self,
        py: Python<'_>,
        name: &str,
        index: u64,
        config: Option<BTreeMap<String, u64>>,
    ) -> PyResult<()> {
        self.with(py, |inner| {
            let (now, config) = (inner.now, meter(config)?);
            Ok(inner.switch()?.configure_meter(now, name, index, config)?)
        })
    }

    fn configure_entry_meter(
        &self,
        py: Python<'_>,
        entry: &Bound<'_, PyAny>,
        config: Option<BTreeMap<String, u64>>,
    ) -> PyResult<()> {
        let entry: TableEntry = read(entry)?;
        self.with(py, |inner| {
            let (now, config) = (inner.now, meter(config)?);
            Ok(inner.switch()?.configure_entry_meter(now, &entry, config)?)
        })
    }

    fn read_registers(
        &self,
        py: Python<'_>,
        name: &str,
        first: u64,
        count: u64,
    ) -> PyResult<Vec<String>> {
        self.with(py, |inner| Ok(inner.switch()?.read_registers(name, first, count)?))
    }

    fn write_register(&self, py: Python<'_>, name: &str, index: u64, value: &str) -> PyResult<()> {
        self.with(py, |inner| Ok(inner.switch()?.write_register(name, index, value)?))
    }

    fn set_clone_session(&self, py: Python<'_>, session: &Bound<'_, PyAny>) -> PyResult<()> {
        let session: CloneSession = read(session)?;
        self.with(py, |inner| {
            inner.switch()?.set_clone_session(session);
            Ok(())
        })
    }

    fn set_multicast_group(
        &self,
        py: Python<'_>,
        group: u32,
        replicas: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let replicas: Vec<Replica> = read(replicas)?;
        self.with(py, |inner| {
            inner.switch()?.set_multicast_group(group, &replicas);
            Ok(())
        })
    }

    fn set_value_set(&self, py: Python<'_>, name: &str, members: Vec<Vec<String>>) -> PyResult<()> {
        self.with(py, |inner| Ok(inner.switch()?.set_value_set(name, &members)?))
    }

    fn write_profile(
        &self,
        py: Python<'_>,
        operation: &str,
        kind: &str,
        given: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        self.write_profile_of(py, operation, kind, given)
    }

    fn read_profile<'py>(
        &self,
        py: Python<'py>,
        kind: &str,
        profile: &str,
    ) -> PyResult<Vec<Bound<'py, PyDict>>> {
        self.read_profile_of(py, kind, profile)
    }

    fn set_idle_timeout(
        &self,
        py: Python<'_>,
        entry: &Bound<'_, PyAny>,
        timeout_ns: Option<u64>,
    ) -> PyResult<()> {
        self.set_idle_timeout_of(py, entry, timeout_ns)
    }

    fn idle_ns(&self, py: Python<'_>, entry: &Bound<'_, PyAny>) -> PyResult<(Option<u64>, u64)> {
        self.idle_ns_of(py, entry)
    }

    fn take_expired<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        self.expired(py)
    }

    fn take_digests(&self) -> Vec<(String, Vec<String>)> {
        let mut inner = self.lock();
        let Some(switch) = &mut inner.switch else { return vec![] };
        let digests = std::iter::from_fn(|| switch.poll_digest());
        digests.map(|digest| (digest.list, digest.values)).collect()
    }

    fn take_packet_ins<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyBytes>> {
        let packets = core::mem::take(&mut self.lock().packet_ins);
        packets.iter().map(|packet| PyBytes::new(py, packet)).collect()
    }

    fn packet_out(&self, py: Python<'_>, packet: &[u8]) -> PyResult<()> {
        let sent = py.detach(|| {
            let mut inner = self.lock_unpaused();
            let none = "the switch has no CPU port (--cpu-port)";
            let port = inner.config.cpu_port;
            let port = port.ok_or_else(|| Refusal::new("failed-precondition", none))?;
            let now = inner.now;
            inner.handle_packet(port, packet, now);
            Ok::<(), Refusal>(())
        });
        Ok(sent?)
    }
}
