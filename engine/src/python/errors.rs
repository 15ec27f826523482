//! The extension's exceptions.

use pyo3::create_exception;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use serde::Serialize;

use crate::error::EngineError;

create_exception!(_engine, PlanError, PyValueError, "The plan, or something it names, is wrong.");
create_exception!(_engine, DeviceError, PyRuntimeError, "DPDK or one of its devices refused.");
create_exception!(_engine, RunError, PyRuntimeError, "A run failed.");
create_exception!(_engine, Cancelled, PyRuntimeError, "The caller stopped the run.");

/// The result of a run, or its exception. An exception of the progress callback takes precedence.
pub(super) fn run_result<'py>(
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
