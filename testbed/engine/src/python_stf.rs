//! `testbed._engine.stf`: STF tests on the software switch.

use std::sync::Arc;

use narrows_switch::Program;
use narrows_switch::stf::{self, StfError};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Runs an STF test on a program (bmv2 JSON) in virtual time.
///
/// Returns what differs, readable, and nothing when all is as the test expects. Raises
/// ValueError for a program that is refused and for statements that can't be carried out.
#[pyfunction]
#[pyo3(name = "stf")]
pub(crate) fn run_stf(py: Python<'_>, program_json: &str, test: &str) -> PyResult<Vec<String>> {
    py.detach(|| {
        let wrong = |error: String| PyValueError::new_err(error);
        let program = Program::from_json(program_json).map_err(|error| wrong(error.to_string()))?;
        let Err(errors) = stf::run(Arc::new(program), test) else { return Ok(vec![]) };
        match errors.iter().find(|error| matches!(error, StfError::Statement { .. })) {
            Some(error) => Err(wrong(error.to_string())),
            None => Ok(errors.iter().map(ToString::to_string).collect()),
        }
    })
}
