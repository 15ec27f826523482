//! `narrows._engine.run` and `run_real_time`: a plan's run on a thread without Python's lock.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use narrows_dpdk::Start;
use narrows_switch::Switch;
use pyo3::prelude::*;

use super::errors::{PlanError, run_result};
use super::progress::{PROGRESS_INTERVAL, call_progress, lock, watch};
use super::setup::{Setup, wait_for_links};
use super::sockets::PySockets;
use super::switch::PySwitch;
use crate::error::EngineError;
use crate::network::Progress;
use crate::real_time::{self, DataPath, Devices, RealTime, Verdict};
use crate::virtual_time;

/// Switches that are set up, by their names.
pub(super) type Switches = BTreeMap<String, Py<PySwitch>>;

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
pub(super) fn run<'py>(
    py: Python<'py>,
    plan_json: String,
    out_dir: PathBuf,
    progress: Option<Py<PyAny>>,
    switches: Option<Switches>,
) -> PyResult<Bound<'py, PyAny>> {
    let ready = take_switches(switches)?;
    let mut raised: Option<PyErr> = None;
    let outcome = py.detach(|| {
        let mut next = Instant::now() + PROGRESS_INTERVAL;
        let mut report = |state: &Progress| {
            if Instant::now() < next {
                return true;
            }
            next = Instant::now() + PROGRESS_INTERVAL;
            let call = |py: Python<'_>| match call_progress(py, progress.as_ref(), state)? {
                Some(returned) => returned.is_truthy(py),
                None => Ok(true),
            };
            match Python::attach(call) {
                Ok(go_on) => go_on,
                Err(error) => {
                    raised = Some(error);
                    false
                }
            }
        };
        virtual_time::run(&plan_json, &out_dir, ready, &mut report)
    });
    run_result(py, outcome, raised)
}

/// The switches as they have been set up.
pub(super) fn take_switches(switches: Option<Switches>) -> PyResult<BTreeMap<String, Switch>> {
    let mut ready = BTreeMap::new();
    for (name, switch) in switches.unwrap_or_default() {
        let taken = switch.get().handle().with(|pipelines| Ok(pipelines.first().switch.take()));
        let Some(made) = taken? else {
            return Err(PlanError::new_err(format!("switch '{name}': it has no program")));
        };
        ready.insert(name, made);
    }
    Ok(ready)
}

/// Runs a plan in real time on DPDK ports; otherwise as `run`, and raises DeviceError too. Hosts
/// with `sockets` have ports of their own, and who drives these sockets.
///
/// The data path has a thread of its own; Python and its lock never hold it up. `progress` may
/// also return a time in picoseconds: the run ended then. With `devices`, device strings by the
/// names of wires, only what these wires end at is in this process. `meet`, where given, is called
/// with the clock's rate when every wire has a link, and returns when the clock begins, as
/// `CLOCK_MONOTONIC_RAW` shows it in nanoseconds, and its rate; or None for at once.
#[pyfunction]
#[pyo3(signature = (plan_json, out_dir, setup_json, progress=None, switches=None, sockets=None, devices=None, meet=None))]
#[expect(clippy::too_many_arguments, reason = "by name, from Python")]
pub(super) fn run_real_time<'py>(
    py: Python<'py>,
    plan_json: String,
    out_dir: PathBuf,
    setup_json: &str,
    progress: Option<Py<PyAny>>,
    switches: Option<Switches>,
    sockets: Option<Bound<'py, PySockets>>,
    devices: Option<Devices>,
    meet: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let sockets = sockets.map(|sockets| sockets.get().0.clone()).unwrap_or_default();
    let (setup, ready) = (Setup::read(setup_json)?, take_switches(switches)?);
    let devices = devices.unwrap_or_default();
    let state = Mutex::new((Progress::default(), Verdict::GoOn));
    let raised = Mutex::new(None);
    let outcome = py.detach(|| {
        thread::scope(|scope| {
            let path = scope.spawn(|| {
                let (eal, pool) = setup.start()?;
                let mut report = |now: &Progress| {
                    // Who reads it is not waited for.
                    state.try_lock().map_or(Verdict::GoOn, |mut state| {
                        state.0 = *now;
                        state.1
                    })
                };
                let mut meet = |path: &mut DataPath| {
                    wait_for_links(path, &state)?;
                    let Some(meet) = &meet else { return Ok(None) };
                    let met = Python::attach(|py| {
                        let met = meet.call1(py, (path.clock_rate(),))?;
                        met.extract::<Option<(u64, u64)>>(py)
                    });
                    let met = met.map_err(|error| {
                        *lock(&raised) = Some(error);
                        EngineError::Cancelled
                    })?;
                    Ok(met.map(|(at_ns, rate)| Start { at_ns, rate }))
                };
                let (devices, idle) = (&devices, setup.idle(1));
                let (meet, progress) = (&mut meet, &mut report);
                let real = RealTime { eal, pool, idle, devices, meet, progress };
                real_time::run(&plan_json, &out_dir, ready, sockets, real)
            });
            watch(&path, &state, progress.as_ref()).unwrap_or_else(|error| {
                lock(&state).1 = Verdict::Cancel;
                *lock(&raised) = Some(error);
            });
            path.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    });
    let raised = lock(&raised).take();
    run_result(py, outcome, raised)
}
