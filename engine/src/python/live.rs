//! `narrows._engine.Live`: switches on DPDK ports whose data path has its own threads.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use narrows_common::Duration;
use narrows_dpdk::{Eal, Mempool, Offloads, Port};
use pyo3::prelude::*;

use super::errors::DeviceError;
use super::progress::lock;
use super::setup::Setup;
use super::switch::PySwitch;
use crate::mailbox::mailbox;
use crate::network::managed_switch::ManagedSwitch;
use crate::real_time::cores::{Cores, Share};
use crate::real_time::several_switches::run_several;
use crate::real_time::{RemoteQueue, SwitchNode, Wire, inter_core_rings};
use crate::record::instrument::{Instrument, WireSummary};

/// The pipelines of each switch, and the instrument.
type Ended = (Vec<Vec<ManagedSwitch>>, Instrument);
/// The number of a port, its device string, and its cable's delay in picoseconds.
type PortDevice = (u16, String, u64);
/// A switch's name, the switch, and its ports.
type NamedSwitch = (String, Py<PySwitch>, Vec<PortDevice>);

/// Switches on DPDK ports, from construction until `stop`.
#[pyclass(name = "Live", frozen)]
pub(crate) struct PyLive {
    switches: Vec<Py<PySwitch>>,
    stop: Arc<AtomicBool>,
    thread: Mutex<Option<JoinHandle<Ended>>>,
    /// For each port, whether the device timestamps received packets.
    stamps: Vec<bool>,
    /// The wires' names, in the order of the ports.
    wires: Vec<String>,
}

#[pymethods]
impl PyLive {
    /// `ports` lists each port's number, device string and cable delay in picoseconds, each opened
    /// with `queues` receive queues. Every pipeline of the switch has a thread and its own ports.
    /// Raises DeviceError, which names the device.
    #[new]
    #[pyo3(signature = (switch, ports, setup_json, queues=1))]
    fn new(
        py: Python<'_>,
        switch: Py<PySwitch>,
        ports: Vec<PortDevice>,
        setup_json: &str,
        queues: u16,
    ) -> PyResult<Self> {
        let setup = Setup::read(setup_json)?;
        let refused = |error: narrows_dpdk::Error| DeviceError::new_err(error.to_string());
        let (eal, wires) = py.detach(|| open(&setup, &ports, queues)).map_err(refused)?;
        let stamps = wires.iter().map(|wire| wire.offloads().stamps).collect();
        let names = wires.iter().map(|wire| wire.name().to_owned()).collect();
        let (sender, commands) = mailbox();
        let Some(pipelines) = switch.get().handle().move_to_data_path(sender) else {
            return Err(DeviceError::new_err("the switch is on a data path already"));
        };
        let cores = deal_out(pipelines, &ports, wires);
        let stop = Arc::new(AtomicBool::new(false));
        let thread = {
            let stop = stop.clone();
            let run = move || {
                let idle = setup.idle(cores.len());
                let (pipelines, instrument) = Cores::new(eal, &idle, cores).run(commands, &stop);
                (vec![pipelines], instrument)
            };
            thread::Builder::new().name("data path".to_owned()).spawn(run)?
        };
        let switches = vec![switch];
        Ok(PyLive { switches, stop, thread: Mutex::new(Some(thread)), stamps, wires: names })
    }

    /// Several switches of one pipeline each, with one thread for all of them. `switches` lists the
    /// name, the switch and the ports of each. Raises DeviceError, which names the device.
    #[staticmethod]
    fn several(py: Python<'_>, switches: Vec<NamedSwitch>, setup_json: &str) -> PyResult<Self> {
        let setup = Setup::read(setup_json)?;
        let refused = |error: narrows_dpdk::Error| DeviceError::new_err(error.to_string());
        let mut eal = None;
        let (mut shares, mut handles) = (vec![], vec![]);
        let (mut stamps, mut names) = (vec![], vec![]);
        let opened = py.detach(|| setup.start()).map_err(refused)?;
        for (name, switch, ports) in switches {
            let named = |port: u16| format!("{name} port {port}");
            let wires = py.detach(|| open_ports(opened, &ports, 1, named)).map_err(refused)?;
            eal = Some(opened.0);
            stamps.extend(wires.iter().map(|wire| wire.offloads().stamps));
            names.extend(wires.iter().map(|wire| wire.name().to_owned()));
            shares.push((switch.clone_ref(py), ports, wires));
            handles.push(switch);
        }
        let Some(eal) = eal else { return Err(DeviceError::new_err("expected a switch")) };
        let mut running = vec![];
        for (switch, ports, wires) in shares {
            let (sender, commands) = mailbox();
            let Some(mut pipelines) = switch.get().handle().move_to_data_path(sender) else {
                return Err(DeviceError::new_err("the switch is on a data path already"));
            };
            let ports: Vec<_> =
                ports.iter().map(|&(port, _, delay)| (port, Duration::from_ps(delay))).collect();
            let pipeline = pipelines.remove(0);
            running.push((SwitchNode::new(Box::new(pipeline), &ports), wires, commands));
        }
        let stop = Arc::new(AtomicBool::new(false));
        let thread = {
            let stop = stop.clone();
            let run = move || {
                let (switches, instrument) = run_several(eal, setup.idle(1), running, &stop);
                (switches.into_iter().map(|switch| vec![switch]).collect(), instrument)
            };
            thread::Builder::new().name("data path".to_owned()).spawn(run)?
        };
        let thread = Mutex::new(Some(thread));
        Ok(PyLive { switches: handles, stop, thread, stamps, wires: names })
    }

    /// For each port, whether its device timestamps packets on arrival.
    fn stamps(&self) -> Vec<bool> {
        self.stamps.clone()
    }

    /// True until `stop`, or until the data path ends on its own, which is a bug.
    fn is_running(&self) -> bool {
        lock(&self.thread).as_ref().is_some_and(|thread| !thread.is_finished())
    }

    /// Stops the data path, closes the ports and returns the switch to its handle. Returns the
    /// instrument's error; a second call returns None.
    fn stop<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let thread = lock(&self.thread).take();
        let Some(thread) = thread else { return Ok(None) };
        self.stop.store(true, Ordering::Relaxed);
        let Ok((ended, mut instrument)) = py.detach(|| thread.join()) else {
            return Err(DeviceError::new_err("the data path has panicked"));
        };
        for (switch, pipelines) in self.switches.iter().zip(ended) {
            switch.get().handle().take_back(pipelines);
        }
        let position = |wire: &WireSummary| self.wires.iter().position(|name| *name == wire.name);
        instrument.wires.sort_by_key(position);
        Ok(Some(pythonize::pythonize(py, &instrument)?))
    }
}

/// Has every thread of this process give up all capabilities but those in `kept`, bit by number.
/// Raises OSError.
#[pyfunction]
pub(crate) fn keep_capabilities(py: Python<'_>, kept: u64) -> PyResult<()> {
    #[cfg(target_os = "linux")]
    py.detach(|| narrows_dpdk::keep_capabilities(kept))?;
    #[cfg(not(target_os = "linux"))]
    let _ = (py, kept);
    Ok(())
}

fn open(
    setup: &Setup,
    ports: &[PortDevice],
    queues: u16,
) -> Result<(Eal, Vec<Wire>), narrows_dpdk::Error> {
    let opened = setup.start()?;
    let wires = open_ports(opened, ports, queues, |port| format!("port {port}"))?;
    Ok((opened.0, wires))
}

/// The wires of a switch's ports, named by number.
fn open_ports(
    (eal, pool): (Eal, Mempool),
    ports: &[PortDevice],
    queues: u16,
    named: impl Fn(u16) -> String,
) -> Result<Vec<Wire>, narrows_dpdk::Error> {
    let wires = ports.iter().map(|(number, device, _)| {
        let wanted = Offloads { stamps: true, ..Offloads::default() };
        let port = Port::open_with(eal, device, pool, wanted, queues)?;
        Ok(Wire::new(named(*number), port, pool))
    });
    wires.collect()
}

/// Each pipeline with the wires of its ports, in the order of `ports`. The first receive queue of a
/// port belongs to its own pipeline, the second to the next pipeline, and so on.
fn deal_out(pipelines: Vec<ManagedSwitch>, ports: &[PortDevice], wires: Vec<Wire>) -> Vec<Share> {
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
