//! `narrows._engine.Live`: a switch on DPDK ports, its data path on a thread of its own.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle, ScopedJoinHandle};
use std::time::{Duration as Wait, Instant};

use narrows_common::{Duration, Time};
use narrows_dpdk::{Eal, EalConfig, Idle, IdleKind, Mempool, Offloads, Port, Start};
use pyo3::create_exception;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use serde::Deserialize;

use crate::mailbox::mailbox;
use crate::network::managed_switch::ManagedSwitch;
use crate::python::sockets::PySockets;
use crate::python::switch::PySwitch;
use crate::python::{PROGRESS_INTERVAL, Switches, concluded, take, tell};
use crate::real_time::cores::{Cores, Ended, Share};
use crate::real_time::{
    self, DataPath, Devices, RealTime, RemoteQueue, SwitchNode, Verdict, Wire, WireSummary,
    inter_core_rings,
};
use crate::{EngineError, Progress};

create_exception!(_engine, DeviceError, PyRuntimeError, "DPDK or one of its devices refused.");

/// How often the end of a run is looked for.
const WATCH_INTERVAL: Wait = Wait::from_millis(20);
/// How long a wire's other end may take to come.
const LINK_WAIT: Wait = Wait::from_secs(30);
/// How often links are looked at before a run.
const LOOK_INTERVAL: Wait = Wait::from_millis(100);
/// Room of an mbuf for a frame.
const FRAME_BYTES: u32 = 2048;

/// How DPDK is set up.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Setup {
    hugepages: bool,
    memory_mib: u32,
    pci: bool,
    /// Mbufs of the pool that all ports share.
    mbufs: u32,
    /// `poll`, `yield`, or by the number of cores.
    idle: Option<IdleName>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum IdleName {
    Poll,
    Yield,
}

impl Setup {
    pub(crate) fn read(json: &str) -> PyResult<Setup> {
        serde_json::from_str(json).map_err(|error| PyValueError::new_err(format!("live: {error}")))
    }

    pub(crate) fn start(&self) -> Result<(Eal, Mempool), narrows_dpdk::Error> {
        let config =
            EalConfig { hugepages: self.hugepages, memory_mib: self.memory_mib, pci: self.pci };
        let eal = Eal::start(&config)?;
        Ok((eal, Mempool::new(eal, self.mbufs, FRAME_BYTES)?))
    }

    /// How each of so many loops waits.
    pub(crate) fn idle(&self, loops: usize) -> Idle {
        Idle::new(match self.idle {
            Some(IdleName::Poll) => IdleKind::Poll,
            Some(IdleName::Yield) => IdleKind::Yield,
            None => IdleKind::choose(loops),
        })
    }
}

/// libdpdk's version, or None where this was built without it.
#[pyfunction]
pub(crate) fn dpdk_version() -> Option<String> {
    Eal::version()
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
pub(crate) fn run_real_time<'py>(
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
    let (setup, ready) = (Setup::read(setup_json)?, take(switches)?);
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
    concluded(py, outcome, raised)
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Tells a run's progress until it has ended.
pub(crate) fn watch<T>(
    path: &ScopedJoinHandle<'_, T>,
    state: &Mutex<(Progress, Verdict)>,
    progress: Option<&Py<PyAny>>,
) -> PyResult<()> {
    let mut next = Instant::now();
    while !path.is_finished() {
        thread::sleep(WATCH_INTERVAL);
        if Instant::now() < next {
            continue;
        }
        next = Instant::now() + PROGRESS_INTERVAL;
        let now = lock(state).0;
        let verdict = Python::attach(|py| -> PyResult<Verdict> {
            let Some(said) = tell(py, progress, &now)? else { return Ok(Verdict::GoOn) };
            Ok(match said.extract::<bool>(py) {
                Ok(true) => Verdict::GoOn,
                Ok(false) => Verdict::Cancel,
                Err(_) => Verdict::End(Time::from_ps(said.extract(py)?)),
            })
        })?;
        lock(state).1 = verdict;
    }
    Ok(())
}

/// Returns when every wire has a link.
pub(crate) fn wait_for_links(
    path: &mut DataPath,
    state: &Mutex<(Progress, Verdict)>,
) -> Result<(), EngineError> {
    let end = Instant::now() + LINK_WAIT;
    while let Some(wire) = path.look() {
        if lock(state).1 == Verdict::Cancel {
            return Err(EngineError::Cancelled);
        }
        if Instant::now() >= end {
            return Err(EngineError::Meet(format!(
                "{}: device '{}' had no link for {} s: its other end is not there",
                wire.name(),
                wire.device(),
                LINK_WAIT.as_secs()
            )));
        }
        thread::sleep(LOOK_INTERVAL);
    }
    Ok(())
}

/// A switch on DPDK ports from its making until `stop`.
#[pyclass(name = "Live", frozen)]
pub(crate) struct PyLive {
    switch: Py<PySwitch>,
    stop: Arc<AtomicBool>,
    thread: Mutex<Option<JoinHandle<Ended>>>,
    /// Whether the device stamps what comes, port by port.
    stamps: Vec<bool>,
    /// The wires' names, port by port.
    wires: Vec<String>,
}

#[pymethods]
impl PyLive {
    /// `ports`: number, device string and the cable's delay in picoseconds of each, with so many
    /// receive `queues`. Every pipeline of the switch has a thread, and the ports that are its own. Raises
    /// DeviceError, naming the device.
    #[new]
    #[pyo3(signature = (switch, ports, setup_json, queues=1))]
    fn new(
        py: Python<'_>,
        switch: Py<PySwitch>,
        ports: Vec<(u16, String, u64)>,
        setup_json: &str,
        queues: u16,
    ) -> PyResult<Self> {
        let setup = Setup::read(setup_json)?;
        let refused = |error: narrows_dpdk::Error| DeviceError::new_err(error.to_string());
        let (eal, wires) = py.detach(|| open(&setup, &ports, queues)).map_err(refused)?;
        let stamps = wires.iter().map(|wire| wire.offloads().stamps).collect();
        let names = wires.iter().map(|wire| wire.name().to_owned()).collect();
        let (post, commands) = mailbox();
        let Some(pipelines) = switch.get().place().send_away(post) else {
            return Err(DeviceError::new_err("the switch is on a data path already"));
        };
        let cores = deal_out(pipelines, &ports, wires);
        let stop = Arc::new(AtomicBool::new(false));
        let thread = {
            let stop = stop.clone();
            let run = move || Cores::new(eal, &setup.idle(cores.len()), cores).run(commands, &stop);
            thread::Builder::new().name("data path".to_owned()).spawn(run)?
        };
        Ok(PyLive { switch, stop, thread: Mutex::new(Some(thread)), stamps, wires: names })
    }

    /// Of each port, whether its device stamps packets with the instant of their arrival.
    fn stamps(&self) -> Vec<bool> {
        self.stamps.clone()
    }

    /// True until `stop`, or until the data path has ended by itself, which is a bug.
    fn is_running(&self) -> bool {
        lock(&self.thread).as_ref().is_some_and(|thread| !thread.is_finished())
    }

    /// Ends the data path and closes the ports; the switch is then here again. Returns the
    /// instrument's error. A second call returns None.
    fn stop<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let thread = lock(&self.thread).take();
        let Some(thread) = thread else { return Ok(None) };
        self.stop.store(true, Ordering::Relaxed);
        let Ok((pipelines, mut instrument)) = py.detach(|| thread.join()) else {
            return Err(DeviceError::new_err("the data path has panicked"));
        };
        self.switch.get().place().bring_back(pipelines);
        let place = |wire: &WireSummary| self.wires.iter().position(|name| *name == wire.name);
        instrument.wires.sort_by_key(place);
        Ok(Some(pythonize::pythonize(py, &instrument)?))
    }
}

fn open(
    setup: &Setup,
    ports: &[(u16, String, u64)],
    queues: u16,
) -> Result<(Eal, Vec<Wire>), narrows_dpdk::Error> {
    let (eal, pool) = setup.start()?;
    let wires = ports.iter().map(|(number, device, _)| {
        let wanted = Offloads { stamps: true, ..Offloads::default() };
        let port = Port::open_with(eal, device, pool, wanted, queues)?;
        Ok(Wire::new(format!("port {number}"), port, pool))
    });
    Ok((eal, wires.collect::<Result<_, narrows_dpdk::Error>>()?))
}

/// Each pipeline with the wires of its ports, which are in the order of `ports`. Of a port's receive queues
/// the first is its pipeline's, the next one the next pipeline's, and so on.
fn deal_out(
    pipelines: Vec<ManagedSwitch>,
    ports: &[(u16, String, u64)],
    wires: Vec<Wire>,
) -> Vec<Share> {
    #[derive(Default)]
    struct Part {
        ports: Vec<(u16, Duration)>,
        wires: Vec<Wire>,
        remote_ports: Vec<u16>,
        remote_queues: Vec<RemoteQueue>,
    }
    let mut parts: Vec<Part> = pipelines.iter().map(|_| Part::default()).collect();
    for (&(port, _, delay), mut wire) in ports.iter().zip(wires) {
        let pipeline = usize::from(pipelines[0].config.pipeline_of(port));
        for (side, number) in wire.take_remote_queues().into_iter().zip(1..) {
            let part = &mut parts[(pipeline + number) % pipelines.len()];
            part.remote_ports.push(port);
            part.remote_queues.push(side);
        }
        parts[pipeline].ports.push((port, Duration::from_ps(delay)));
        parts[pipeline].wires.push(wire);
    }
    let each = inter_core_rings(pipelines.len()).into_iter().zip(pipelines).zip(parts);
    each.map(|((rings, pipeline), part)| {
        let node = SwitchNode::new(Box::new(pipeline), &part.ports);
        let node = node.with_remote_queues(&part.remote_ports).with_rings(rings);
        (node, part.wires, part.remote_queues)
    })
    .collect()
}

impl Drop for PyLive {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}
