//! `narrows._engine.run` and `run_real_time`: execute a plan on a thread without Python's lock.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use narrows_common::Time;
use narrows_dpdk::Start;
use narrows_switch::Switch;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;

use super::errors::{PlanError, run_result};
use super::progress::{PROGRESS_INTERVAL, call_progress, lock, watch as watch_progress};
use super::setup::{Setup, wait_for_links};
use super::sockets::PySockets;
use super::switch::PySwitch;
use super::watch::{PyWatch, WatchServer};
use crate::error::EngineError;
use crate::network::control::Watcher;
use crate::network::{Network, Progress};
use crate::real_time::{self, DataPath, Devices, RealTime, Verdict};
use crate::virtual_time;

/// Configured switches by name.
pub(super) type Switches = BTreeMap<String, Py<PySwitch>>;

/// Runs a plan (JSON text) and writes its tables and summary.json into `out_dir`.
///
/// If given, `progress` is called a few times a second with a dict of `time_ps`, `events`,
/// `packets` and `completed_flows`. It stops the run by returning False.
///
/// If given, `switches` maps some or all switch names of the plan to a `Switch` with program and
/// state. The run takes that switch and writes none of the plan's state to it.
///
/// If given, `cores` is the path of Verilator's library of the hardware bottleneck (fpga/model):
/// each port with a rate then has such a core in place of its queue and serializer.
///
/// If given, `watch` sees the run and changes its ports.
///
/// The run uses at most so many `threads`; the results are the same. It uses one if it ends with
/// its last flow, has `cores` or a `watch`, or has no link with a delay between its nodes.
///
/// Returns the summary. Raises PlanError, RunError or Cancelled.
#[pyfunction]
#[pyo3(signature = (plan_json, out_dir, progress=None, switches=None, cores=None, watch=None, threads=1))]
#[expect(clippy::too_many_arguments, reason = "by name, from Python")]
pub(super) fn run<'py>(
    py: Python<'py>,
    plan_json: PyBackedStr,
    out_dir: PathBuf,
    progress: Option<Py<PyAny>>,
    switches: Option<Switches>,
    cores: Option<PathBuf>,
    watch: Option<Bound<'py, PyWatch>>,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let ready = take_switches(switches)?;
    let mut server = watch.and_then(|watch| watch.get().begin());
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
        let mut watcher = server.as_mut().map(watcher_of);
        let watcher = watcher.as_mut().map(|watcher| watcher as Watcher<'_>);
        let cores = cores.as_deref();
        virtual_time::run(&plan_json, &out_dir, ready, cores, threads, &mut report, watcher)
    });
    run_result(py, outcome, raised)
}

/// What the run calls to be seen and changed.
fn watcher_of(server: &mut WatchServer) -> impl FnMut(Time, &mut Network) {
    |now, network| server.turn(now, network)
}

/// Takes the configured switches out of their Python objects.
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

/// Runs a plan in real time on DPDK ports. Otherwise like `run`; also raises DeviceError. Hosts
/// with `sockets` have their own ports and a driver for these sockets.
///
/// The data path has its own thread; Python and its lock never delay it. `progress` may also return
/// a time in picoseconds, at which the run then ends. `devices` maps wire names to device strings;
/// with it, only the nodes at these wires are in this process. If given, `meet` is called with the
/// clock's rate once every wire has a link. It returns the clock's start as a `CLOCK_MONOTONIC_RAW`
/// time in nanoseconds, and its rate; or None to start immediately.
#[pyfunction]
#[pyo3(signature = (plan_json, out_dir, setup_json, progress=None, switches=None, sockets=None, devices=None, meet=None, watch=None))]
#[expect(clippy::too_many_arguments, reason = "by name, from Python")]
pub(super) fn run_real_time<'py>(
    py: Python<'py>,
    plan_json: PyBackedStr,
    out_dir: PathBuf,
    setup_json: &str,
    progress: Option<Py<PyAny>>,
    switches: Option<Switches>,
    sockets: Option<Bound<'py, PySockets>>,
    devices: Option<Devices>,
    meet: Option<Py<PyAny>>,
    watch: Option<Bound<'py, PyWatch>>,
) -> PyResult<Bound<'py, PyAny>> {
    let sockets = sockets.map(|sockets| sockets.get().0.clone()).unwrap_or_default();
    let (setup, ready) = (Setup::read(setup_json)?, take_switches(switches)?);
    let devices = devices.unwrap_or_default();
    let mut server = watch.and_then(|watch| watch.get().begin());
    let state = Mutex::new((Progress::default(), Verdict::GoOn));
    let raised = Mutex::new(None);
    let outcome = py.detach(|| {
        thread::scope(|scope| {
            let path = scope.spawn(|| {
                let (eal, pool) = setup.start()?;
                let mut report = |now: &Progress| {
                    // The data path does not wait for the thread that reads the state.
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
                let mut watcher = server.as_mut().map(watcher_of);
                let watcher = watcher.as_mut().map(|watcher| watcher as Watcher<'_>);
                let real = RealTime { eal, pool, idle, devices, meet, progress, watcher };
                real_time::run(&plan_json, &out_dir, ready, sockets, real)
            });
            watch_progress(&path, &state, progress.as_ref()).unwrap_or_else(|error| {
                lock(&state).1 = Verdict::Cancel;
                *lock(&raised) = Some(error);
            });
            path.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    });
    let raised = lock(&raised).take();
    run_result(py, outcome, raised)
}
