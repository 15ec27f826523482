//! `narrows._engine.Watch`: sees a run while it goes on, and changes its ports.

use std::sync::Mutex;
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::{Duration, Instant};

use narrows_common::{Rate, Time};
use narrows_queueing::QueueLimit;
use narrows_switch::ControlOperation;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::errors::{PlanError, RunError};
use super::progress::lock;
use super::switch::convert::from_python;
use crate::mailbox::{MailboxReceiver, MailboxSender, mailbox};
use crate::network::Network;
use crate::network::control::{PortView, View};

/// What a watcher does with a run between two events.
type Command = Box<dyn FnOnce(Time, &mut Network) + Send>;

/// How long to wait for a run that has not begun, or goes on without an event.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long a paced run sleeps before it looks for commands.
const NAP: Duration = Duration::from_millis(5);

/// A watcher of one run.
#[pyclass(name = "Watch", module = "narrows._engine", frozen)]
pub(crate) struct PyWatch {
    commands: MailboxSender<Command>,
    given: Mutex<Option<MailboxReceiver<Command>>>,
    pace: Option<f64>,
}

#[pymethods]
impl PyWatch {
    /// With `pace`, a run in virtual time takes its time divided by `pace`.
    #[new]
    #[pyo3(signature = (pace=None))]
    fn new(pace: Option<f64>) -> Self {
        let (commands, given) = mailbox();
        PyWatch { commands, given: Mutex::new(Some(given)), pace }
    }

    /// The run now: a dict of `time_ps`, `ports` and `windows_bytes`. None if the run has not begun
    /// or has ended.
    fn view<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let seen = py.detach(|| self.ask(|now, network| network.view(now)));
        seen.map(|view| as_dict(py, &view)).transpose()
    }

    /// Sets the rate of a switch's port. Raises PlanError if the switch refuses, RunError if the
    /// run has not begun or has ended.
    fn set_rate(&self, py: Python<'_>, switch: String, port: u16, rate_bps: u64) -> PyResult<()> {
        let rate = Rate::from_bps(rate_bps);
        self.control(py, switch, ControlOperation::SetRate { port, rate })
    }

    /// Sets the limit of a port's queues: a dict with one of `packets`, `bytes` and `time_ps`.
    /// Raises like `set_rate`.
    fn set_queue_limit(
        &self,
        py: Python<'_>,
        switch: String,
        port: u16,
        limit: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let limit: QueueLimit = from_python(limit)?;
        self.control(py, switch, ControlOperation::SetQueueLimit { port, limit })
    }
}

impl PyWatch {
    /// The end that the run holds; `None` for a second run.
    pub(super) fn begin(&self) -> Option<WatchServer> {
        let commands = lock(&self.given).take()?;
        Some(WatchServer { commands, pace: self.pace, began: None })
    }

    fn ask<T: Send + 'static>(
        &self,
        work: impl FnOnce(Time, &mut Network) -> T + Send + 'static,
    ) -> Option<T> {
        let (reply, answer) = sync_channel(1);
        let command: Command = Box::new(move |now, network| {
            // The thread that asked may have lost patience.
            let _ = reply.send(work(now, network));
        });
        self.commands.send(command).ok()?;
        answer.recv_timeout(PATIENCE).ok()
    }

    fn control(&self, py: Python<'_>, switch: String, change: ControlOperation) -> PyResult<()> {
        let done =
            py.detach(|| self.ask(move |now, network| network.control(now, &switch, change)));
        match done {
            Some(Ok(())) => Ok(()),
            Some(Err(refusal)) => Err(PlanError::new_err(refusal.message)),
            None => Err(RunError::new_err("the run has not begun, or has ended")),
        }
    }
}

/// The run's end of a watch.
pub(super) struct WatchServer {
    commands: MailboxReceiver<Command>,
    pace: Option<f64>,
    began: Option<Instant>,
}

impl WatchServer {
    /// Executes the watcher's commands at this instant of the run, and waits until it is time.
    pub fn turn(&mut self, now: Time, network: &mut Network) {
        let began = *self.began.get_or_insert_with(Instant::now);
        loop {
            while let Some(command) = self.commands.try_receive() {
                command(now, network);
            }
            let Some(pace) = self.pace else { return };
            let due = Duration::from_secs_f64(now.as_secs_f64() / pace);
            let ahead = due.saturating_sub(began.elapsed());
            if ahead.is_zero() {
                return;
            }
            thread::sleep(ahead.min(NAP));
        }
    }
}

fn as_dict<'py>(py: Python<'py>, view: &View) -> PyResult<Bound<'py, PyDict>> {
    let ports = view.ports.iter().map(|port| port_dict(py, port)).collect::<PyResult<Vec<_>>>()?;
    let dict = PyDict::new(py);
    dict.set_item("time_ps", view.now.as_ps())?;
    dict.set_item("ports", ports)?;
    dict.set_item("windows_bytes", view.windows_bytes.clone())?;
    Ok(dict)
}

fn port_dict<'py>(py: Python<'py>, port: &PortView) -> PyResult<Bound<'py, PyDict>> {
    let limit = PyDict::new(py);
    match port.limit {
        QueueLimit::Packets(most) => limit.set_item("packets", most)?,
        QueueLimit::Bytes(most) => limit.set_item("bytes", most)?,
        QueueLimit::TimePs(most) => limit.set_item("time_ps", most)?,
    }
    let dict = PyDict::new(py);
    dict.set_item("switch", &port.switch)?;
    dict.set_item("port", port.port)?;
    dict.set_item("rate_bps", port.rate_bps)?;
    dict.set_item("queue", limit)?;
    dict.set_item("transmitted_bytes", port.transmitted_bytes)?;
    dict.set_item("dropped", port.dropped)?;
    dict.set_item("marked", port.marked)?;
    dict.set_item("waiting_packets", port.waiting_packets)?;
    dict.set_item("waiting_bytes", port.waiting_bytes)?;
    Ok(dict)
}
