//! `narrows._engine.Switch`: one switch, for the servers as their `Target`
//! (switch/server/target.py) and for the driver of its ports.
//!
//! An operation runs where the switch is (see [`SwitchHandle`]), never while it holds Python's
//! lock.

pub(super) mod convert;
mod entries;
mod load;
mod object;
mod profiles;
mod refusal;
mod state;

use narrows_common::{Packet, Rate, Time};
use narrows_queueing::{DisciplineConfig, QueueLimit};
use narrows_switch::{
    CloneSession, ControlOperation, Count, DefaultAction, Match, Program, Replica, TableEntry,
};
use pyo3::types::{PyBytes, PyDict};
use pyo3::{exceptions::PyValueError, prelude::*};
use std::collections::BTreeMap;

use crate::network::managed_switch::{
    config::Config, handle::SwitchHandle, operation::Operation, pipelines::pipelines,
    refusal::Refusal,
};
use crate::plan::EntryOperation;
use crate::python::catalogue;
use convert::{from_python, meter};
use entries::{CountedEntry, EntriesPart};
pub(crate) use object::PySwitch;

/// A transmission: port, start and end in picoseconds, bytes.
type Sent<'py> = (u16, u64, u64, Bound<'py, PyBytes>);

#[pymethods]
impl PySwitch {
    /// `config_json`: a `Config` of `managed_switch/config.rs`.
    #[new]
    fn new(config_json: &str, seed: u64) -> PyResult<Self> {
        let config: Config = serde_json::from_str(config_json)
            .map_err(|error| PyValueError::new_err(format!("switch: {error}")))?;
        Ok(PySwitch { handle: SwitchHandle::new(pipelines(&config, seed)) })
    }

    /// A packet arrives at a port.
    fn handle_packet(&self, py: Python<'_>, port: u16, packet: &[u8], now_ps: u64) -> PyResult<()> {
        py.detach(|| {
            let packet = Box::new(Packet::from_bytes(packet));
            self.handle.with_unpaused(move |pipelines| {
                pipelines.handle_packet(Time::from_ps(now_ps), port, packet);
                Ok(())
            })
        })?;
        Ok(())
    }

    /// Advances to `now_ps`. Returns the transmissions that began, except those at the CPU port.
    fn run_until<'py>(&self, py: Python<'py>, now_ps: u64) -> PyResult<Vec<Sent<'py>>> {
        let sent = py.detach(|| {
            self.handle.with_unpaused(move |pipelines| {
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

    /// When to call `run_until` next, or None if no packets wait.
    fn poll_timeout_ps(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        self.with_all(py, |pipelines| Ok(pipelines.poll_timeout().map(Time::as_ps)))
    }

    fn now_ps(&self, py: Python<'_>) -> PyResult<u64> {
        self.with_all(py, |pipelines| Ok(pipelines.now().as_ps()))
    }

    /// Starts or stops collecting the program's log messages.
    fn collect_log(&self, py: Python<'_>, collect: bool) -> PyResult<()> {
        self.with_each(py, move |pipeline| {
            pipeline.set_log_collection(collect);
            Ok(())
        })
    }

    /// The messages collected since the last call.
    fn take_log(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.with_all(py, |pipelines| Ok(pipelines.take_log()))
    }

    fn pause(&self, py: Python<'_>) -> PyResult<()> {
        self.with_each(py, |pipeline| {
            pipeline.paused += 1;
            Ok(())
        })
    }

    fn resume(&self, py: Python<'_>) -> PyResult<()> {
        self.with_each(py, |pipeline| {
            pipeline.paused = pipeline.paused.saturating_sub(1);
            Ok(())
        })?;
        self.handle.notify_resumed();
        Ok(())
    }

    fn check(&self, py: Python<'_>, program_json: &str) -> PyResult<()> {
        let loaded = py.detach(|| Program::from_json(program_json));
        loaded.map(drop).map_err(|error| Refusal::from(error).into())
    }

    fn load(&self, py: Python<'_>, program_json: &str) -> PyResult<()> {
        self.load_program(py, program_json)
    }

    fn statistics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.statistics_of(py)
    }

    fn ports(&self, py: Python<'_>) -> PyResult<Vec<u16>> {
        Ok(self.queues_of(py)?.into_keys().collect())
    }

    fn queues(&self, py: Python<'_>) -> PyResult<BTreeMap<u16, u8>> {
        self.queues_of(py)
    }

    fn port_state<'py>(&self, py: Python<'py>, port: u16) -> PyResult<Bound<'py, PyDict>> {
        self.port_state_of(py, port)
    }

    fn set_rate(&self, py: Python<'_>, port: u16, rate_bps: u64) -> PyResult<()> {
        let rate = Rate::from_bps(rate_bps);
        self.execute(py, Operation::Port(ControlOperation::SetRate { port, rate }))
    }

    fn set_queue_limit(&self, py: Python<'_>, port: u16, limit: &Bound<'_, PyAny>) -> PyResult<()> {
        let limit: QueueLimit = from_python(limit)?;
        self.execute(py, Operation::Port(ControlOperation::SetQueueLimit { port, limit }))
    }

    fn set_discipline(
        &self,
        py: Python<'_>,
        port: u16,
        discipline: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let discipline: DisciplineConfig = from_python(discipline)?;
        self.execute(py, Operation::Port(ControlOperation::SetDiscipline { port, discipline }))
    }

    fn set_share(&self, py: Python<'_>, port: u16, share: &Bound<'_, PyAny>) -> PyResult<()> {
        self.set_share_of(py, port, from_python(share)?)
    }

    fn disciplines<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        catalogue::disciplines(py)
    }

    fn drop_reasons<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        catalogue::drop_reasons(py)
    }

    fn mark_reasons<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        catalogue::mark_reasons(py)
    }

    fn insert_entry(&self, py: Python<'_>, entry: &Bound<'_, PyAny>) -> PyResult<()> {
        self.write_entry(py, EntryOperation::Insert, entry)
    }

    fn modify_entry(&self, py: Python<'_>, entry: &Bound<'_, PyAny>) -> PyResult<()> {
        self.write_entry(py, EntryOperation::Modify, entry)
    }

    fn delete_entry(&self, py: Python<'_>, entry: &Bound<'_, PyAny>) -> PyResult<()> {
        self.write_entry(py, EntryOperation::Delete, entry)
    }

    fn entry<'py>(
        &self,
        py: Python<'py>,
        entry: &Bound<'py, PyAny>,
    ) -> PyResult<Option<CountedEntry<'py>>> {
        self.find_entry(py, entry)
    }

    fn entries_from<'py>(
        &self,
        py: Python<'py>,
        table: String,
        first: u32,
    ) -> PyResult<EntriesPart<'py>> {
        self.part_of_entries(py, table, first)
    }

    fn set_entry_count(
        &self,
        py: Python<'_>,
        entry: &Bound<'_, PyAny>,
        packets: u64,
        octets: u64,
    ) -> PyResult<()> {
        let entry: TableEntry = from_python(entry)?;
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
        self.default_action_of(py, table)
    }

    fn set_default_action(&self, py: Python<'_>, default: &Bound<'_, PyAny>) -> PyResult<()> {
        let default: DefaultAction = from_python(default)?;
        self.write(py, move |switch| switch.set_default_action(&default))
    }

    fn reset_default_action(&self, py: Python<'_>, table: String) -> PyResult<()> {
        self.write(py, move |switch| switch.reset_default_action(&table))
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
        self.with_each(py, move |pipeline| {
            let now = pipeline.now;
            Ok(pipeline.switch()?.configure_meter(now, &name, index, config)?)
        })
    }

    fn configure_entry_meter(
        &self,
        py: Python<'_>,
        entry: &Bound<'_, PyAny>,
        config: Option<BTreeMap<String, u64>>,
    ) -> PyResult<()> {
        let entry: TableEntry = from_python(entry)?;
        let config = meter(config)?;
        self.with_each(py, move |pipeline| {
            let now = pipeline.now;
            Ok(pipeline.switch()?.configure_entry_meter(now, &entry, config)?)
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
        self.write(py, move |switch| switch.write_register(&name, index, &value))
    }

    fn set_clone_session(&self, py: Python<'_>, session: &Bound<'_, PyAny>) -> PyResult<()> {
        let session: CloneSession = from_python(session)?;
        self.write(py, move |switch| {
            switch.set_clone_session(session.clone());
            Ok(())
        })
    }

    fn set_multicast_group(
        &self,
        py: Python<'_>,
        group: u32,
        replicas: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let replicas: Vec<Replica> = from_python(replicas)?;
        self.write(py, move |switch| {
            switch.set_multicast_group(group, &replicas);
            Ok(())
        })
    }

    fn set_value_set(
        &self,
        py: Python<'_>,
        name: String,
        members: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let members: Vec<Vec<Option<Match>>> = from_python(members)?;
        self.write(py, move |switch| switch.set_value_set(&name, &members))
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
        let packets = self.with(py, |pipeline| Ok(pipeline.take_packet_ins()))?;
        Ok(packets.iter().map(|packet| PyBytes::new(py, packet)).collect())
    }

    fn packet_out(&self, py: Python<'_>, packet: &[u8]) -> PyResult<()> {
        self.inject(py, packet)
    }
}
