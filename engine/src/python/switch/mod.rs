//! `narrows._engine.Switch`: one switch as the servers' `Target` (switch/server/target.py) and
//! as the driver of its ports see it.
//!
//! An operation is done where the switch is (see [`SwitchHandle`]), never while Python runs.

mod convert;
mod profiles;
mod refusal;
mod state;

use std::collections::BTreeMap;

use narrows_common::{Packet, Rate, Time};
use narrows_switch::{
    CloneSession, ControlOperation, Count, DefaultAction, Engine, Match, Program, QueueLimit,
    Replica, Switch, TableEntry,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::network::managed_switch::handle::SwitchHandle;
use crate::network::managed_switch::pipelines::{Pipelines, pipelines};
use crate::network::managed_switch::{Config, ManagedSwitch, Refusal};
use convert::{meter, read, shown};

/// Entries that are read while packets wait.
const ENTRIES_AT_ONCE: usize = 1024;

/// A transmission: port, start and end in picoseconds, bytes.
type Sent<'py> = (u16, u64, u64, Bound<'py, PyBytes>);

/// A switch with ports, without a program until `load`.
#[pyclass(name = "Switch", frozen)]
pub(crate) struct PySwitch {
    place: SwitchHandle,
}

impl PySwitch {
    /// Does `operation` where the switch's pipelines are, and without the interpreter.
    fn with_all<T: Send + 'static>(
        &self,
        py: Python<'_>,
        operation: impl FnOnce(&mut Pipelines<'_>) -> Result<T, Refusal> + Send + 'static,
    ) -> PyResult<T> {
        Ok(py.detach(|| self.place.with(operation))?)
    }

    /// The same for one pipeline, to read what is the same in all.
    fn with<T: Send + 'static>(
        &self,
        py: Python<'_>,
        operation: impl FnOnce(&mut ManagedSwitch) -> Result<T, Refusal> + Send + 'static,
    ) -> PyResult<T> {
        self.with_all(py, |pipelines| operation(pipelines.first()))
    }

    /// The same in every pipeline, to write; the first one's answer.
    fn with_each<T: Send + 'static>(
        &self,
        py: Python<'_>,
        operation: impl FnMut(&mut ManagedSwitch) -> Result<T, Refusal> + Send + 'static,
    ) -> PyResult<T> {
        self.with_all(py, |pipelines| pipelines.each(operation))
    }

    /// Where the switch is.
    pub(crate) fn place(&self) -> &SwitchHandle {
        &self.place
    }
}

type Row<'py> = (Bound<'py, PyDict>, u64, u64);

#[pymethods]
impl PySwitch {
    /// `config_json`: a `Config` of `managed_switch`.
    #[new]
    fn new(config_json: &str, seed: u64) -> PyResult<Self> {
        let config: Config = serde_json::from_str(config_json)
            .map_err(|error| PyValueError::new_err(format!("switch: {error}")))?;
        Ok(PySwitch { place: SwitchHandle::new(pipelines(&config, seed)) })
    }

    /// A packet arrives at a port.
    fn handle_packet(&self, py: Python<'_>, port: u16, packet: &[u8], now_ps: u64) -> PyResult<()> {
        py.detach(|| {
            let packet = Packet::from_bytes(packet);
            self.place.with_unpaused(move |pipelines| {
                pipelines.handle_packet(Time::from_ps(now_ps), port, packet);
                Ok(())
            })
        })?;
        Ok(())
    }

    /// Goes on to `now_ps`. Returns the transmissions that began, the CPU port's aside.
    fn run_until<'py>(&self, py: Python<'py>, now_ps: u64) -> PyResult<Vec<Sent<'py>>> {
        let sent = py.detach(|| {
            self.place.with_unpaused(move |pipelines| {
                pipelines.handle_timeout(Time::from_ps(now_ps));
                Ok(pipelines.take_sent())
            })
        })?;
        let shown = sent.into_iter().map(|transmit| {
            let bytes = PyBytes::new(py, &transmit.packet.to_bytes());
            (transmit.port, transmit.start.as_ps(), transmit.end.as_ps(), bytes)
        });
        Ok(shown.collect())
    }

    /// When it wants `run_until` next, if packets wait.
    fn poll_timeout_ps(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        self.with_all(py, |pipelines| Ok(pipelines.poll_timeout().map(Time::as_ps)))
    }

    fn now_ps(&self, py: Python<'_>) -> PyResult<u64> {
        self.with_all(py, |pipelines| Ok(pipelines.now().as_ps()))
    }

    /// Begins or ends the collection of the program's log messages.
    fn collect_log(&self, py: Python<'_>, collect: bool) -> PyResult<()> {
        self.with_each(py, move |inner| {
            inner.collect_log = collect;
            if let Some(switch) = &mut inner.switch {
                switch.collect_log(collect);
            }
            Ok(())
        })
    }

    /// The messages collected since the last call.
    fn take_log(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.with_all(py, |pipelines| Ok(pipelines.take_log()))
    }

    fn pause(&self, py: Python<'_>) -> PyResult<()> {
        self.with_each(py, |inner| {
            inner.paused += 1;
            Ok(())
        })
    }

    fn resume(&self, py: Python<'_>) -> PyResult<()> {
        self.with_each(py, |inner| {
            inner.paused = inner.paused.saturating_sub(1);
            Ok(())
        })?;
        self.place.wake();
        Ok(())
    }

    fn check(&self, py: Python<'_>, program_json: &str) -> PyResult<()> {
        let loaded = py.detach(|| Program::from_json(program_json));
        let refused = |error: narrows_switch::LoadError| {
            Refusal::new("invalid-argument", error.to_string()).into()
        };
        loaded.map(drop).map_err(refused)
    }

    fn load(&self, py: Python<'_>, program_json: &str) -> PyResult<()> {
        // Packets go on under the old program meanwhile.
        let configs = self.with_all(py, |pipelines| Ok(pipelines.configs()))?;
        let program = py.detach(|| Config::read(program_json))?;
        let build = |(config, seed): &(Config, u64)| config.build_of(&program, *seed);
        let switches: Vec<Switch> =
            py.detach(|| configs.iter().map(build).collect::<Result<_, Refusal>>())?;
        if let (Engine::Native, Some(reason)) = (configs[0].0.switch.engine, program.not_native()) {
            let log = py.import("logging")?.call_method1("getLogger", ("narrows.switch",))?;
            log.call_method1("warning", ("the interpreter runs this program: %s", reason))?;
        }
        self.with_all(py, move |pipelines| pipelines.install(switches))
    }

    fn statistics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.statistics_of(py)
    }

    fn ports(&self, py: Python<'_>) -> PyResult<Vec<u16>> {
        self.with(py, |inner| {
            let mut ports: Vec<u16> =
                inner.config.switch.ports.iter().map(|port| port.port).collect();
            ports.sort_unstable();
            Ok(ports)
        })
    }

    fn port_state<'py>(&self, py: Python<'py>, port: u16) -> PyResult<Bound<'py, PyDict>> {
        self.port_state_of(py, port)
    }

    fn set_rate(&self, py: Python<'_>, port: u16, rate_bps: u64) -> PyResult<()> {
        self.with_each(py, move |inner| {
            let config = inner.port(port)?;
            if rate_bps == 0 {
                let message = format!("port {port}: rate 0: expected a rate above zero");
                return Err(Refusal::new("invalid-argument", message));
            }
            config.rate_bps = Some(rate_bps);
            let rate = Rate::from_bps(rate_bps);
            let operation = ControlOperation::SetRate { port, rate };
            let now = inner.now;
            if let Some(switch) = &mut inner.switch {
                let set = switch.control(now, operation);
                set.map_err(|error| Refusal::new("invalid-argument", error.to_string()))?;
            }
            Ok(())
        })
    }

    fn set_queue_limit(&self, py: Python<'_>, port: u16, limit: &Bound<'_, PyAny>) -> PyResult<()> {
        let limit: QueueLimit = read(limit)?;
        self.with_each(py, move |inner| {
            inner.port(port)?.queue = limit;
            let now = inner.now;
            if let Some(switch) = &mut inner.switch {
                let set = switch.control(now, ControlOperation::SetQueueLimit { port, limit });
                set.map_err(|error| Refusal::new("invalid-argument", error.to_string()))?;
            }
            Ok(())
        })
    }

    fn insert_entry(&self, py: Python<'_>, entry: &Bound<'_, PyAny>) -> PyResult<()> {
        let entry: TableEntry = read(entry)?;
        self.with_each(py, move |inner| Ok(inner.switch()?.insert_entry(&entry)?))
    }

    fn modify_entry(&self, py: Python<'_>, entry: &Bound<'_, PyAny>) -> PyResult<()> {
        let entry: TableEntry = read(entry)?;
        self.with_each(py, move |inner| Ok(inner.switch()?.modify_entry(&entry)?))
    }

    fn delete_entry(&self, py: Python<'_>, entry: &Bound<'_, PyAny>) -> PyResult<()> {
        let entry: TableEntry = read(entry)?;
        self.with_each(py, move |inner| Ok(inner.switch()?.delete_entry(&entry)?))
    }

    fn entry<'py>(&self, py: Python<'py>, entry: &Bound<'py, PyAny>) -> PyResult<Option<Row<'py>>> {
        let entry: TableEntry = read(entry)?;
        let found = self.with_all(py, move |pipelines| pipelines.entry(&entry))?;
        let row = found.map(|(entry, count)| Ok((shown(py, &entry)?, count.packets, count.bytes)));
        row.transpose()
    }

    fn entries<'py>(&self, py: Python<'py>, table: String) -> PyResult<Vec<Row<'py>>> {
        let (mut rows, mut place) = (vec![], Some(0));
        while let Some(from) = place {
            // Packets go on in between.
            let table = table.clone();
            let (found, next) = self.with_all(py, move |pipelines| {
                pipelines.entries_from(&table, from, ENTRIES_AT_ONCE)
            })?;
            for (entry, count) in &found {
                rows.push((shown(py, entry)?, count.packets, count.bytes));
            }
            place = next;
        }
        Ok(rows)
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
        self.with_all(py, move |pipelines| {
            pipelines.set_count(count, |switch, count| switch.set_entry_count(&entry, count))
        })
    }

    fn default_action<'py>(
        &self,
        py: Python<'py>,
        table: String,
    ) -> PyResult<Option<Bound<'py, PyDict>>> {
        let found = self.with(py, move |inner| Ok(inner.switch()?.default_action(&table)?))?;
        let Some(DefaultAction { action, params, .. }) = found else { return Ok(None) };
        let dict = PyDict::new(py);
        dict.set_item("action", action)?;
        dict.set_item("params", params)?;
        Ok(Some(dict))
    }

    fn set_default_action(&self, py: Python<'_>, default: &Bound<'_, PyAny>) -> PyResult<()> {
        let default: DefaultAction = read(default)?;
        self.with_each(py, move |inner| Ok(inner.switch()?.set_default_action(&default)?))
    }

    fn reset_default_action(&self, py: Python<'_>, table: String) -> PyResult<()> {
        self.with_each(py, move |inner| Ok(inner.switch()?.reset_default_action(&table)?))
    }

    fn default_count(&self, py: Python<'_>, table: String) -> PyResult<(u64, u64)> {
        let counts = self.with_all(py, move |pipelines| {
            pipelines.counts(|switch| Ok(vec![switch.default_count(&table)?]))
        })?;
        Ok((counts[0].packets, counts[0].bytes))
    }

    fn set_default_count(
        &self,
        py: Python<'_>,
        table: String,
        packets: u64,
        octets: u64,
    ) -> PyResult<()> {
        let count = Count { packets, bytes: octets };
        self.with_all(py, move |pipelines| {
            pipelines.set_count(count, |switch, count| switch.set_default_count(&table, count))
        })
    }

    fn read_counters(
        &self,
        py: Python<'_>,
        name: String,
        first: u64,
        count: u64,
    ) -> PyResult<Vec<(u64, u64)>> {
        let cells = self.with_all(py, move |pipelines| {
            pipelines.counts(|switch| switch.read_counters(&name, first, count))
        })?;
        Ok(cells.into_iter().map(|cell| (cell.packets, cell.bytes)).collect())
    }

    fn write_counter(
        &self,
        py: Python<'_>,
        name: String,
        index: u64,
        packets: u64,
        octets: u64,
    ) -> PyResult<()> {
        let count = Count { packets, bytes: octets };
        self.with_all(py, move |pipelines| {
            pipelines.set_count(count, |switch, count| switch.write_counter(&name, index, count))
        })
    }

    fn configure_meter(
        &self,
        py: Python<'_>,
        name: String,
        index: u64,
        config: Option<BTreeMap<String, u64>>,
    ) -> PyResult<()> {
        let config = meter(config)?;
        self.with_each(py, move |inner| {
            let now = inner.now;
            Ok(inner.switch()?.configure_meter(now, &name, index, config)?)
        })
    }

    fn configure_entry_meter(
        &self,
        py: Python<'_>,
        entry: &Bound<'_, PyAny>,
        config: Option<BTreeMap<String, u64>>,
    ) -> PyResult<()> {
        let entry: TableEntry = read(entry)?;
        let config = meter(config)?;
        self.with_each(py, move |inner| {
            let now = inner.now;
            Ok(inner.switch()?.configure_entry_meter(now, &entry, config)?)
        })
    }

    fn read_registers(
        &self,
        py: Python<'_>,
        name: String,
        first: u64,
        count: u64,
    ) -> PyResult<Vec<String>> {
        self.with_all(py, move |pipelines| pipelines.registers(&name, first, count))
    }

    fn write_register(
        &self,
        py: Python<'_>,
        name: String,
        index: u64,
        value: String,
    ) -> PyResult<()> {
        self.with_each(py, move |inner| Ok(inner.switch()?.write_register(&name, index, &value)?))
    }

    fn set_clone_session(&self, py: Python<'_>, session: &Bound<'_, PyAny>) -> PyResult<()> {
        let session: CloneSession = read(session)?;
        self.with_each(py, move |inner| {
            inner.switch()?.set_clone_session(session.clone());
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
        self.with_each(py, move |inner| {
            inner.switch()?.set_multicast_group(group, &replicas);
            Ok(())
        })
    }

    fn set_value_set(
        &self,
        py: Python<'_>,
        name: String,
        members: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let members: Vec<Vec<Option<Match>>> = read(members)?;
        self.with_each(py, move |inner| Ok(inner.switch()?.set_value_set(&name, &members)?))
    }

    fn write_profile(
        &self,
        py: Python<'_>,
        operation: String,
        kind: &str,
        given: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        self.write_profile_of(py, operation, kind, given)
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

    fn take_digests(&self, py: Python<'_>) -> PyResult<Vec<(String, Vec<String>)>> {
        let digests = self.with_all(py, |pipelines| Ok(pipelines.take_digests()))?;
        Ok(digests.into_iter().map(|digest| (digest.list, digest.values)).collect())
    }

    fn take_packet_ins<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let packets = self.with(py, |inner| Ok(core::mem::take(&mut inner.packet_ins)))?;
        Ok(packets.iter().map(|packet| PyBytes::new(py, packet)).collect())
    }

    fn packet_out(&self, py: Python<'_>, packet: &[u8]) -> PyResult<()> {
        py.detach(|| {
            let packet = Packet::from_bytes(packet);
            self.place.with_unpaused(move |pipelines| {
                let none = "the switch has no CPU port (--cpu-port)";
                let port = pipelines.first().config.cpu_port;
                let port = port.ok_or_else(|| Refusal::new("failed-precondition", none))?;
                pipelines.packet_out(port, packet);
                Ok(())
            })
        })?;
        Ok(())
    }
}
