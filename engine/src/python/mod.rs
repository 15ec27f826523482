//! `narrows._engine`: the engine as Python sees it.

pub(crate) mod connection;
pub(crate) mod generate;
pub(crate) mod live;
pub(crate) mod sockets;
pub(crate) mod stf;
pub(crate) mod switch;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use narrows_common::Time;
use narrows_switch::Switch;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pyo3::{create_exception, wrap_pyfunction};
use serde::Serialize;

use crate::python::live::DeviceError;
use crate::python::switch::PySwitch;
use crate::{EngineError, Progress};

create_exception!(_engine, PlanError, PyValueError, "The plan, or something it names, is wrong.");
create_exception!(_engine, RunError, PyRuntimeError, "A run failed.");
create_exception!(_engine, Cancelled, PyRuntimeError, "The caller stopped the run.");

/// Switches that are set up, by their names.
pub(crate) type Switches = BTreeMap<String, Py<PySwitch>>;

/// How often the progress callback is called, in wall-clock time.
pub(crate) const PROGRESS_INTERVAL: Duration = Duration::from_millis(200);

/// Runs a plan (JSON text) and writes its tables and summary.json into `out_dir`.
///
/// `progress`, where given, is called a few times a second with a dict of `time_ps`, `events`,
/// `packets` and `completed_flows`, and stops the run by returning False.
///
/// `switches`, where given, has a `Switch` for some or all of the plan's switches by name, with
/// program and state; the run takes it, and writes nothing of the plan's to it.
///
/// Returns the summary. Raises PlanError, RunError or Cancelled.
#[pyfunction]
#[pyo3(signature = (plan_json, out_dir, progress=None, switches=None))]
fn run<'py>(
    py: Python<'py>,
    plan_json: String,
    out_dir: PathBuf,
    progress: Option<Py<PyAny>>,
    switches: Option<Switches>,
) -> PyResult<Bound<'py, PyAny>> {
    let ready = take(switches)?;
    let mut raised: Option<PyErr> = None;
    let outcome = py.detach(|| {
        let mut next = Instant::now() + PROGRESS_INTERVAL;
        let mut report = |state: &Progress| {
            if Instant::now() < next {
                return true;
            }
            next = Instant::now() + PROGRESS_INTERVAL;
            let said = |py: Python<'_>| match tell(py, progress.as_ref(), state)? {
                Some(said) => said.is_truthy(py),
                None => Ok(true),
            };
            match Python::attach(said) {
                Ok(go_on) => go_on,
                Err(error) => {
                    raised = Some(error);
                    false
                }
            }
        };
        crate::run_with(&plan_json, &out_dir, ready, &mut report)
    });
    concluded(py, outcome, raised)
}

/// The switches as they have been set up.
pub(crate) fn take(switches: Option<Switches>) -> PyResult<BTreeMap<String, Switch>> {
    let mut ready = BTreeMap::new();
    for (name, switch) in switches.unwrap_or_default() {
        let taken = switch.get().place().with(|pipelines| Ok(pipelines.first().switch.take()));
        let Some(made) = taken? else {
            return Err(PlanError::new_err(format!("switch '{name}': it has no program")));
        };
        ready.insert(name, made);
    }
    Ok(ready)
}

/// How a run ended, `raised` being what its progress raised.
pub(crate) fn concluded<'py>(
    py: Python<'py>,
    outcome: Result<impl Serialize, EngineError>,
    raised: Option<PyErr>,
) -> PyResult<Bound<'py, PyAny>> {
    match (outcome, raised) {
        (_, Some(error)) => Err(error),
        (Ok(summary), None) => Ok(pythonize::pythonize(py, &summary)?),
        (Err(error), None) => Err(match error {
            EngineError::Plan(_) => PlanError::new_err(error.to_string()),
            EngineError::Cancelled => Cancelled::new_err(error.to_string()),
            EngineError::Dpdk(_) => DeviceError::new_err(error.to_string()),
            _ => RunError::new_err(error.to_string()),
        }),
    }
}

/// Calls a progress callback, where there is one; returns what it said.
pub(crate) fn tell(
    py: Python<'_>,
    progress: Option<&Py<PyAny>>,
    state: &Progress,
) -> PyResult<Option<Py<PyAny>>> {
    py.check_signals()?;
    let Some(progress) = progress else { return Ok(None) };
    let dict = PyDict::new(py);
    dict.set_item("time_ps", state.now.as_ps())?;
    dict.set_item("events", state.events)?;
    dict.set_item("packets", state.packets)?;
    dict.set_item("completed_flows", state.completed_flows)?;
    progress.call1(py, (dict,)).map(Some)
}

/// Every congestion-control variant: name, title, reference, class, needs, parameters.
#[pyfunction]
fn variants(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    Ok(pythonize::pythonize(py, narrows_hosts::VARIANTS)?)
}

/// Every sender of datagrams, in the words of a variant.
#[pyfunction]
fn senders(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    Ok(pythonize::pythonize(py, narrows_hosts::udp::SENDERS)?)
}

/// Every loss recovery.
#[pyfunction]
fn recoveries(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    Ok(pythonize::pythonize(py, narrows_hosts::RECOVERIES)?)
}

/// Every profile: what its sources differ in.
#[pyfunction]
fn profiles(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    Ok(pythonize::pythonize(py, narrows_hosts::PROFILES)?)
}

/// Every source of ns-2 that can be named, and what it stands for.
#[pyfunction]
fn agents(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    Ok(pythonize::pythonize(py, narrows_hosts::AGENTS)?)
}

/// Every sink of ns-2 that can be named.
#[pyfunction]
fn sinks(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    Ok(pythonize::pythonize(py, narrows_hosts::SINKS)?)
}

/// Every application model.
#[pyfunction]
fn applications(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    Ok(pythonize::pythonize(py, narrows_traffic::WORKLOADS)?)
}

/// What the applications of a plan (JSON text) write until a time, as their hosts would: tuples of
/// flow, picoseconds and bytes, flow by flow, of each flow the first `most`. Raises PlanError.
#[pyfunction]
#[pyo3(signature = (plan_json, until_ps, most=usize::MAX))]
fn application_messages(
    py: Python<'_>,
    plan_json: &str,
    until_ps: u64,
    most: usize,
) -> PyResult<Vec<(u32, u64, u32)>> {
    let messages = py.detach(|| {
        let plan = crate::read_plan(plan_json)?;
        crate::application_messages(&plan, Time::from_ps(until_ps), most)
    });
    let messages = messages.map_err(|error| PlanError::new_err(error.to_string()))?;
    Ok(messages.into_iter().map(|(flow, at, length)| (flow, at.as_ps(), length)).collect())
}

/// The engine's version.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

#[pymodule]
fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(run, module)?)?;
    module.add_function(wrap_pyfunction!(variants, module)?)?;
    module.add_function(wrap_pyfunction!(senders, module)?)?;
    module.add_function(wrap_pyfunction!(recoveries, module)?)?;
    module.add_function(wrap_pyfunction!(profiles, module)?)?;
    module.add_function(wrap_pyfunction!(applications, module)?)?;
    module.add_function(wrap_pyfunction!(agents, module)?)?;
    module.add_function(wrap_pyfunction!(sinks, module)?)?;
    module.add_function(wrap_pyfunction!(version, module)?)?;
    module.add_function(wrap_pyfunction!(application_messages, module)?)?;
    module.add_function(wrap_pyfunction!(crate::python::stf::run_stf, module)?)?;
    module.add_function(wrap_pyfunction!(crate::python::stf::stf_sent, module)?)?;
    module.add_class::<crate::python::switch::PySwitch>()?;
    module.add_class::<crate::python::connection::PyConnection>()?;
    module.add_class::<crate::python::live::PyLive>()?;
    module.add_class::<crate::python::sockets::PySockets>()?;
    module.add_function(wrap_pyfunction!(crate::python::live::dpdk_version, module)?)?;
    module.add_function(wrap_pyfunction!(crate::python::live::run_real_time, module)?)?;
    module.add_function(wrap_pyfunction!(crate::python::generate::generate, module)?)?;
    let py = module.py();
    module.add("PlanError", py.get_type::<PlanError>())?;
    module.add("DeviceError", py.get_type::<DeviceError>())?;
    module.add("RunError", py.get_type::<RunError>())?;
    module.add("Cancelled", py.get_type::<Cancelled>())
}
