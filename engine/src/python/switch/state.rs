//! The counts of the switch and its ports, as the dicts of switch/server/target.py.

use std::collections::BTreeMap;

use narrows_common::Time;
use narrows_queueing::{PortConfig, QueueLimit, QueueShare};
use narrows_switch::ControlOperation;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict, PyList};

use super::object::PySwitch;
use crate::network::managed_switch::operation::Operation;
use crate::network::managed_switch::queue_counts::QueueCounts;
use crate::network::managed_switch::refusal::Refusal;

impl PySwitch {
    pub(super) fn statistics_of<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let ((done, no_program), lost) = self
            .with_all(py, |pipelines| Ok((pipelines.statistics(), pipelines.packet_ins_lost())))?;
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
        dict.set_item("digests_lost", done.digests_lost)?;
        dict.set_item("packet_ins_policed", lost.policed)?;
        dict.set_item("packet_ins_no_room", lost.no_room)?;
        dict.set_item("no_program", no_program)?;
        Ok(dict)
    }

    /// The number of queues of each port, by its number.
    pub(super) fn queues_of(&self, py: Python<'_>) -> PyResult<BTreeMap<u16, u8>> {
        self.with(py, |pipeline| {
            let ports = pipeline.config.switch.ports.iter();
            Ok(ports.map(|port| (port.port, port.queues)).collect())
        })
    }

    pub(super) fn set_share_of(
        &self,
        py: Python<'_>,
        port: u16,
        share: QueueShare,
    ) -> PyResult<()> {
        self.execute(py, Operation::Port(ControlOperation::SetShare { port, share }))
    }

    pub(super) fn port_state_of<'py>(
        &self,
        py: Python<'py>,
        port: u16,
    ) -> PyResult<Bound<'py, PyDict>> {
        let (config, (record, parameters), received, now, queues) =
            self.with_all(py, move |pipelines| {
                let received = pipelines.received(port);
                let pipeline = pipelines.of_port(port);
                let config = pipeline.port(port)?.clone();
                let discipline = config.discipline.resolve().map_err(|error| {
                    Refusal::new("invalid-argument", format!("port {port}: {error}"))
                })?;
                let queues = pipeline.queue_counts(port)?;
                Ok((config, discipline, received, pipeline.now, queues))
            })?;
        let limit = PyDict::new(py);
        match config.queue {
            QueueLimit::Packets(most) => limit.set_item("packets", most)?,
            QueueLimit::Bytes(most) => limit.set_item("bytes", most)?,
            QueueLimit::TimePs(most) => limit.set_item("time_ps", most)?,
        }
        let discipline = PyDict::new(py);
        discipline.set_item("name", record.name)?;
        discipline.set_item("parameters", parameters.iter().into_py_dict(py)?)?;
        let whole = queues.iter().copied().fold(QueueCounts::default(), QueueCounts::and);
        let dict = counts(py, &whole, now)?;
        dict.set_item("port", port)?;
        dict.set_item("rate_bps", config.rate_bps)?;
        dict.set_item("queue", limit)?;
        dict.set_item("discipline", discipline)?;
        dict.set_item("classes", classes(py, &config)?)?;
        dict.set_item("counts", config.counts.name())?;
        dict.set_item("received", received.0)?;
        dict.set_item("received_bytes", received.1)?;
        let each = queues.iter().map(|queue| counts(py, queue, now));
        dict.set_item("queues", each.collect::<PyResult<Vec<_>>>()?)?;
        Ok(dict)
    }
}

/// The counts of a port or of one of its queues, from the start to `now`.
fn counts<'py>(py: Python<'py>, queue: &QueueCounts, now: Time) -> PyResult<Bound<'py, PyDict>> {
    let (done, mean) = (queue.done, queue.mean_depth(now));
    let dict = PyDict::new(py);
    dict.set_item("enqueued", done.enqueued)?;
    dict.set_item("dequeued", done.dequeued)?;
    let drops = PyDict::new(py);
    for (reason, count) in done.drops.iter() {
        drops.set_item(reason.name(), count)?;
    }
    dict.set_item("drops", drops)?;
    dict.set_item("dropped_bytes", done.dropped_bytes)?;
    let marks = PyDict::new(py);
    for (reason, count) in done.marks.iter() {
        marks.set_item(reason.name(), count)?;
    }
    dict.set_item("marks", marks)?;
    dict.set_item("transmitted", done.transmitted)?;
    dict.set_item("transmitted_bytes", done.transmitted_bytes)?;
    dict.set_item("waiting_packets", done.waiting_packets)?;
    dict.set_item("waiting_bytes", done.waiting_bytes)?;
    dict.set_item("depth_max_packets", done.depth_max_packets)?;
    dict.set_item("depth_max_bytes", done.depth_max_bytes)?;
    dict.set_item("depth_mean_packets", mean.0)?;
    dict.set_item("depth_mean_bytes", mean.1)?;
    Ok(dict)
}

/// What a port's queues have of their own: weights and rates.
fn classes<'py>(py: Python<'py>, config: &PortConfig) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for class in &config.classes {
        let dict = PyDict::new(py);
        dict.set_item("weight", class.weight)?;
        dict.set_item("rate_bps", class.rate_bps)?;
        list.append(dict)?;
    }
    Ok(list)
}
