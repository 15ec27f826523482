//! `testbed._engine.Live`: a switch on DPDK ports, its data path on a thread of its own.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration as Wait, Instant};

use narrows_common::Duration;
use narrows_dpdk::{Clock, Eal, EalConfig, Idle, IdleKind, Mempool, Port};
use pyo3::create_exception;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use serde::Deserialize;

use crate::Progress;
use crate::controlled::Controlled;
use crate::python::{PROGRESS_INTERVAL, Switches, call, concluded, take};
use crate::python_sockets::PySockets;
use crate::python_switch::{Command, PySwitch};
use crate::realtime::{self, Instrument, Path, SwitchNode, Wire};

create_exception!(_engine, DeviceError, PyRuntimeError, "DPDK or one of its devices refused.");

/// Commands that may wait for the data path.
const COMMANDS: usize = 64;
/// How often the end of a run is looked for.
const WATCH_INTERVAL: Wait = Wait::from_millis(20);
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

    pub(crate) fn idle(&self) -> Idle {
        Idle::new(match self.idle {
            Some(IdleName::Poll) => IdleKind::Poll,
            Some(IdleName::Yield) => IdleKind::Yield,
            None => IdleKind::choose(),
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
/// The data path has a thread of its own; Python and its lock never hold it up.
#[pyfunction]
#[pyo3(signature = (plan_json, out_dir, setup_json, progress=None, switches=None, sockets=None))]
pub(crate) fn run_real_time<'py>(
    py: Python<'py>,
    plan_json: String,
    out_dir: PathBuf,
    setup_json: &str,
    progress: Option<Py<PyAny>>,
    switches: Option<Switches>,
    sockets: Option<Bound<'py, PySockets>>,
) -> PyResult<Bound<'py, PyAny>> {
    let sockets = sockets.map(|sockets| sockets.get().0.clone()).unwrap_or_default();
    let (setup, ready) = (Setup::read(setup_json)?, take(switches)?);
    let (state, stop) = (Mutex::new(Progress::default()), AtomicBool::new(false));
    let mut raised = None;
    let outcome = py.detach(|| {
        thread::scope(|scope| {
            let path = scope.spawn(|| {
                let (eal, pool) = setup.start()?;
                let mut report = |now: &Progress| {
                    // Who reads it is not waited for.
                    if let Ok(mut state) = state.try_lock() {
                        *state = *now;
                    }
                    !stop.load(Ordering::Relaxed)
                };
                let dpdk = (eal, pool, setup.idle());
                realtime::run(&plan_json, &out_dir, ready, sockets, dpdk, &mut report)
            });
            let mut next = Instant::now();
            while !path.is_finished() {
                thread::sleep(WATCH_INTERVAL);
                if Instant::now() < next || raised.is_some() {
                    continue;
                }
                next = Instant::now() + PROGRESS_INTERVAL;
                let now = *state.lock().unwrap_or_else(PoisonError::into_inner);
                match Python::attach(|py| call(py, progress.as_ref(), &now)) {
                    Ok(true) => {}
                    Ok(false) => stop.store(true, Ordering::Relaxed),
                    Err(error) => {
                        raised = Some(error);
                        stop.store(true, Ordering::Relaxed);
                    }
                }
            }
            path.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    });
    concluded(py, outcome, raised)
}

type Ended = (Box<Controlled>, Instrument);

/// A switch on DPDK ports from its making until `stop`.
#[pyclass(name = "Live", frozen)]
pub(crate) struct PyLive {
    switch: Py<PySwitch>,
    stop: Arc<AtomicBool>,
    thread: Mutex<Option<JoinHandle<Ended>>>,
}

#[pymethods]
impl PyLive {
    /// `ports`: number, device string and the cable's delay in picoseconds of each. Raises
    /// DeviceError, naming the device.
    #[new]
    fn new(
        py: Python<'_>,
        switch: Py<PySwitch>,
        ports: Vec<(u16, String, u64)>,
        setup_json: &str,
    ) -> PyResult<Self> {
        let setup = Setup::read(setup_json)?;
        let refused = |error: narrows_dpdk::Error| DeviceError::new_err(error.to_string());
        let path = py.detach(|| open(&setup, &ports)).map_err(refused)?;
        let (sender, commands) = sync_channel(COMMANDS);
        let Some(controlled) = switch.get().place().send_away(sender) else {
            return Err(DeviceError::new_err("the switch is on a data path already"));
        };
        let delays: Vec<(u16, Duration)> =
            ports.iter().map(|&(port, _, delay)| (port, Duration::from_ps(delay))).collect();
        let node = SwitchNode::new(controlled, &delays);
        let stop = Arc::new(AtomicBool::new(false));
        let thread = {
            let stop = stop.clone();
            thread::Builder::new()
                .name("data path".to_owned())
                .spawn(move || run(path, node, &commands, &stop))?
        };
        Ok(PyLive { switch, stop, thread: Mutex::new(Some(thread)) })
    }

    /// True until `stop`, or until the data path has ended by itself, which is a bug.
    fn is_running(&self) -> bool {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        thread.as_ref().is_some_and(|thread| !thread.is_finished())
    }

    /// Ends the data path and closes the ports; the switch is then here again. Returns the
    /// instrument's error. A second call returns None.
    fn stop<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(thread) = thread else { return Ok(None) };
        self.stop.store(true, Ordering::Relaxed);
        let Ok((controlled, instrument)) = py.detach(|| thread.join()) else {
            return Err(DeviceError::new_err("the data path has panicked"));
        };
        self.switch.get().place().bring_back(controlled);
        Ok(Some(pythonize::pythonize(py, &instrument)?))
    }
}

fn open(setup: &Setup, ports: &[(u16, String, u64)]) -> Result<(Eal, Path), narrows_dpdk::Error> {
    let (eal, pool) = setup.start()?;
    let wires = ports.iter().map(|(number, device, _)| {
        let port = Port::open(eal, device, pool)?;
        Ok(Wire::new(format!("port {number}"), port, pool))
    });
    let wires = wires.collect::<Result<Vec<Wire>, narrows_dpdk::Error>>()?;
    Ok((eal, Path::new(Clock::start(eal), setup.idle(), wires)))
}

/// The data path's thread: commands between turns, never a lock.
fn run(
    (eal, mut path): (Eal, Path),
    mut node: SwitchNode,
    commands: &Receiver<Command>,
    stop: &AtomicBool,
) -> Ended {
    path.begin(eal);
    while !stop.load(Ordering::Relaxed) {
        while let Ok(command) = commands.try_recv() {
            command(node.controlled());
        }
        path.turn(&mut node);
    }
    // What was asked before the end is answered.
    while let Ok(command) = commands.try_recv() {
        command(node.controlled());
    }
    let instrument = path.instrument();
    (node.into_controlled(), instrument)
}

impl Drop for PyLive {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}
