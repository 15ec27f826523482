//! Refusals as Python's `TargetError`.

use pyo3::prelude::*;

use crate::network::managed_switch::refusal::Refusal;

impl From<Refusal> for PyErr {
    fn from(refusal: Refusal) -> PyErr {
        let raised = Python::attach(|py| {
            let class = py.import("narrows.switch.server.target")?.getattr("TargetError")?;
            class.call1((refusal.kind, refusal.message)).map(PyErr::from_value)
        });
        raised.unwrap_or_else(|error| error)
    }
}
