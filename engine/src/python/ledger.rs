//! `narrows._engine.Ledger`: the queue events of switches that run without a plan.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use narrows_common::Rate;
use pyo3::prelude::*;

use super::ending::{Closing, close_at_end};
use super::errors::{RunError, run_result};
use super::progress::lock;
use super::switch::PySwitch;
use crate::error::EngineError;
use crate::network::managed_switch::pipelines::Pipelines;
use crate::network::managed_switch::refusal::Refusal;
use crate::record::ledger::{Ledger, Taken};

/// The ledger of one or more switches, until `finish`.
#[pyclass(name = "Ledger", module = "narrows._engine", frozen)]
pub(crate) struct PyLedger(Arc<Open>);

/// A ledger and its switches.
struct Open {
    switches: Vec<(String, Py<PySwitch>)>,
    ledger: Mutex<Option<Ledger>>,
}

#[pymethods]
impl PyLedger {
    /// Writes queue.parquet into `out_dir`. `switches` are names and switches, each configured with
    /// `record_queue`. Raises RunError if the file can't be created.
    #[new]
    fn new(
        py: Python<'_>,
        out_dir: PathBuf,
        switches: Vec<(String, Py<PySwitch>)>,
    ) -> PyResult<Self> {
        let mut known = vec![];
        for (name, switch) in &switches {
            let ports = py.detach(|| {
                let of = |all: &mut Pipelines<'_>| Ok(all.first().config.switch.ports.clone());
                switch.get().handle().with(of)
            })?;
            known.push((name.clone(), ports));
        }
        let ledger = py.detach(|| Ledger::create(&out_dir, &known)).map_err(failed)?;
        let open = Arc::new(Open { switches, ledger: Mutex::new(Some(ledger)) });
        close_at_end(&open);
        Ok(PyLedger(open))
    }

    /// Takes the rows that the switches have recorded since the last call; to be called several
    /// times a second. Raises RunError if the table can't be written any more.
    fn take(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| {
            let mut ledger = lock(&self.0.ledger);
            let Some(ledger) = &mut *ledger else { return Ok(()) };
            self.0.take_into(ledger)
        })
    }

    /// Takes the last rows and closes the table. Returns a dict for each port: those of a run's
    /// bottleneck in summary.json. A second call returns None. Raises RunError.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.take(py)?;
        let Some(ledger) = py.detach(|| lock(&self.0.ledger).take()) else { return Ok(None) };
        run_result(py, py.detach(|| ledger.finish()), None).map(Some)
    }
}

impl Open {
    /// Takes the rows that the switches have recorded. Raises RunError.
    fn take_into(&self, ledger: &mut Ledger) -> PyResult<()> {
        for (number, (_, switch)) in self.switches.iter().enumerate() {
            let taken = switch.get().handle().with(taken)?;
            ledger.handle(number, taken).map_err(failed)?;
        }
        Ok(())
    }
}

impl Closing for Open {
    fn close(&self) {
        let Some(mut ledger) = lock(&self.ledger).take() else { return };
        // What can't be taken or written any more can't be told either: the process ends.
        let _ = self.take_into(&mut ledger);
        let _ = ledger.finish();
    }
}

fn failed(error: EngineError) -> PyErr {
    RunError::new_err(error.to_string())
}

/// What a switch has recorded, its counts and its rates, between two packets.
fn taken(pipelines: &mut Pipelines<'_>) -> Result<Taken, Refusal> {
    let records = pipelines.take_records();
    let numbers: Vec<u16> =
        pipelines.first().config.switch.ports.iter().map(|port| port.port).collect();
    let mut ports = vec![];
    for number in numbers {
        let pipeline = pipelines.of_port(number);
        let rate = pipeline.port(number)?.rate_bps.map(Rate::from_bps);
        ports.push((pipeline.port_statistics(number)?, rate));
    }
    Ok(Taken { now: pipelines.now(), records, ports })
}
