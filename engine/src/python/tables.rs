//! Tables of Python's side, with the checksums of the engine's: `narrows._engine.write_table` and
//! `write_columns`.

use std::path::PathBuf;

use bytes::Bytes;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use crate::record::checked_copy::write_checked;
use crate::record::plain_table::{self, Values};

/// Writes the rows of `parquet` (a file's content) to `path`, with a CRC-32 in each page's header.
/// Raises OSError if it is no such table, has
/// lists, or can't be written.
#[pyfunction]
pub(super) fn write_table(py: Python<'_>, parquet: PyBackedBytes, path: PathBuf) -> PyResult<()> {
    py.detach(|| write_checked(Bytes::from_owner(parquet), &path))
        .map_err(|error| PyOSError::new_err(format!("{}: {error}", path.display())))
}

/// Writes a table to `path`, with a CRC-32 in each page's header. Each column is its name, its type
/// ("flag", "integer", "float", "text") and its values, None for a null. Raises OSError if
/// it can't be written or a column is shorter than the first, TypeError or OverflowError for a
/// value of another type.
#[pyfunction]
pub(super) fn write_columns(
    py: Python<'_>,
    columns: Vec<(String, String, Bound<'_, PyAny>)>,
    path: PathBuf,
) -> PyResult<()> {
    let columns: Vec<(String, Values)> = columns
        .into_iter()
        .map(|(name, kind, values)| Ok((name, values_of(&kind, &values)?)))
        .collect::<PyResult<_>>()?;
    py.detach(|| plain_table::write_columns(columns, &path))
        .map_err(|error| PyOSError::new_err(format!("{}: {error}", path.display())))
}

fn values_of(kind: &str, values: &Bound<'_, PyAny>) -> PyResult<Values> {
    match kind {
        "flag" => values.extract().map(Values::Flags),
        "integer" => values.extract().map(Values::Integers),
        "float" => values.extract().map(Values::Floats),
        "text" => values.extract().map(Values::Texts),
        other => Err(PyValueError::new_err(format!("there is no type '{other}'"))),
    }
}
