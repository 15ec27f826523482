//! `narrows._engine.stf`: STF tests on the software switch.

use std::collections::BTreeMap;
use std::sync::Arc;

use narrows_switch::Program;
use narrows_switch::stf::{self, StfError};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Runs an STF test on a program (bmv2 JSON) in virtual time.
///
/// Returns readable differences from the expected packets; an empty list if there are none. Raises
/// ValueError if the program is rejected or a statement can't be executed.
#[pyfunction]
#[pyo3(name = "stf")]
pub(super) fn run_stf(py: Python<'_>, program_json: &str, test: &str) -> PyResult<Vec<String>> {
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

/// The packets that leave by each port in an STF test, regardless of its expectations.
///
/// Raises ValueError if the program is rejected or a statement can't be executed.
#[pyfunction]
pub(super) fn stf_sent<'py>(
    py: Python<'py>,
    program_json: &str,
    test: &str,
) -> PyResult<BTreeMap<u16, Vec<Bound<'py, PyBytes>>>> {
    let sent = py.detach(|| {
        let program = Program::from_json(program_json).map_err(|error| error.to_string())?;
        stf::sent(Arc::new(program), test).map_err(|errors| {
            let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
            lines.join("\n")
        })
    });
    let sent = sent.map_err(PyValueError::new_err)?;
    let bytes = |packets: Vec<Vec<u8>>| packets.iter().map(|p| PyBytes::new(py, p)).collect();
    Ok(sent.into_iter().map(|(port, packets)| (port, bytes(packets))).collect())
}
