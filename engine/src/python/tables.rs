//! `narrows._engine.write_table`: tables of Python's side, with the checksums of the engine's.

use std::path::PathBuf;

use bytes::Bytes;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use crate::record::checked_copy::write_checked;

/// Writes the rows of `parquet` (a file's content) to `path`, with a CRC-32 in each page's header.
/// Raises OSError if it is no such table, has
/// lists, or can't be written.
#[pyfunction]
pub(super) fn write_table(py: Python<'_>, parquet: PyBackedBytes, path: PathBuf) -> PyResult<()> {
    py.detach(|| write_checked(Bytes::from_owner(parquet), &path))
        .map_err(|error| PyOSError::new_err(format!("{}: {error}", path.display())))
}
