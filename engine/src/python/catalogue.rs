//! Catalogues of the engine: variants, recoveries, profiles, workloads. Also the messages that the
//! applications of a plan write.

use narrows_common::Time;
use narrows_dpdk::Eal;
use pyo3::prelude::*;

use super::errors::PlanError;
use crate::network::application_messages::application_messages as messages_of;
use crate::network::build::read_plan;

/// libdpdk's version, or None if the engine was built without it.
#[pyfunction]
pub(super) fn dpdk_version() -> Option<String> {
    Eal::version()
}

/// Every congestion-control variant: name, title, reference, class, needs, parameters.
#[pyfunction]
pub(super) fn variants(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    Ok(pythonize::pythonize(py, narrows_hosts::VARIANTS)?)
}

/// Every sender of datagrams, with the fields of a variant.
#[pyfunction]
pub(super) fn senders(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    Ok(pythonize::pythonize(py, narrows_hosts::udp::SENDERS)?)
}

/// Every loss recovery.
#[pyfunction]
pub(super) fn recoveries(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    Ok(pythonize::pythonize(py, narrows_hosts::RECOVERIES)?)
}

/// Every profile, with the settings that differ from the default.
#[pyfunction]
pub(super) fn profiles(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    Ok(pythonize::pythonize(py, narrows_hosts::PROFILES)?)
}

/// Every ns-2 source that can be named, and the settings that it stands for.
#[pyfunction]
pub(super) fn agents(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    Ok(pythonize::pythonize(py, narrows_hosts::AGENTS)?)
}

/// Every ns-2 sink that can be named.
#[pyfunction]
pub(super) fn sinks(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    Ok(pythonize::pythonize(py, narrows_hosts::SINKS)?)
}

/// Every queue discipline: name, title, reference, parameters, drop reasons of its own.
#[pyfunction]
pub(super) fn disciplines(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    Ok(pythonize::pythonize(py, narrows_queueing::DISCIPLINES)?)
}

/// Every reason for which a port drops packets: name, meaning.
#[pyfunction]
pub(super) fn drop_reasons(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    Ok(pythonize::pythonize(py, &narrows_queueing::DROP_REASONS[..])?)
}

/// Every reason for which a port marks packets: name, meaning.
#[pyfunction]
pub(super) fn mark_reasons(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    Ok(pythonize::pythonize(py, &narrows_queueing::MARK_REASONS[..])?)
}

/// Every workload.
#[pyfunction]
pub(super) fn workloads(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    Ok(pythonize::pythonize(py, narrows_traffic::WORKLOADS)?)
}

/// The messages that the applications of a plan (JSON text) write before a time, as their hosts
/// would: tuples of flow, picoseconds and bytes, flow by flow, at most `most` per flow. Raises
/// PlanError.
#[pyfunction]
#[pyo3(signature = (plan_json, until_ps, most=usize::MAX))]
pub(super) fn application_messages(
    py: Python<'_>,
    plan_json: &str,
    until_ps: u64,
    most: usize,
) -> PyResult<Vec<(u32, u64, u32)>> {
    let messages = py.detach(|| {
        let plan = read_plan(plan_json)?;
        messages_of(&plan, Time::from_ps(until_ps), most)
    });
    let messages = messages.map_err(|error| PlanError::new_err(error.to_string()))?;
    Ok(messages.into_iter().map(|(flow, at, length)| (flow, at.as_ps(), length)).collect())
}

/// The engine's version.
#[pyfunction]
pub(super) fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}
