//! Values between Python and the switch's control plane.

use std::collections::BTreeMap;

use narrows_switch::{Match, MeterConfig, TableEntry};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Deserialize;

use crate::network::managed_switch::refusal::Refusal;

pub(in crate::python) fn from_python<'py, T: for<'a> Deserialize<'a>>(
    value: &Bound<'py, PyAny>,
) -> PyResult<T> {
    pythonize::depythonize(value)
        .map_err(|error| Refusal::new("invalid-argument", error.to_string()).into())
}

pub(super) fn entry_to_python<'py>(
    py: Python<'py>,
    entry: &TableEntry,
) -> PyResult<Bound<'py, PyDict>> {
    let matches = PyDict::new(py);
    for (name, part) in &entry.matches {
        let key = PyDict::new(py);
        match part {
            Match::Exact(value) => key.set_item("exact", value)?,
            Match::Lpm(value, length) => key.set_item("lpm", (value, length))?,
            Match::Ternary(value, mask) => key.set_item("ternary", (value, mask))?,
            Match::Range(from, to) => key.set_item("range", (from, to))?,
            Match::Optional(value) => key.set_item("optional", value)?,
        }
        matches.set_item(name, key)?;
    }
    let dict = PyDict::new(py);
    dict.set_item("table", &entry.table)?;
    dict.set_item("matches", matches)?;
    dict.set_item("priority", entry.priority)?;
    dict.set_item("action", &entry.action)?;
    dict.set_item("params", &entry.params)?;
    Ok(dict)
}

pub(super) fn meter(config: Option<BTreeMap<String, u64>>) -> Result<Option<MeterConfig>, Refusal> {
    let Some(config) = config else { return Ok(None) };
    let part = |name: &str| {
        let missing = || Refusal::new("invalid-argument", format!("meter: '{name}' is missing"));
        config.get(name).copied().ok_or_else(missing)
    };
    let (cir, cburst) = (part("cir")?, part("cburst")?);
    Ok(Some(match config.get("eburst") {
        Some(&eburst) => MeterConfig::SingleRate { cir, cburst, eburst },
        None => MeterConfig::TwoRate { cir, cburst, pir: part("pir")?, pburst: part("pburst")? },
    }))
}
