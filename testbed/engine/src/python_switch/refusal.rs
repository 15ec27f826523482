//! Refusals as Python's `TargetError`.

use narrows_switch::ControlError;
use pyo3::prelude::*;

/// Why the switch refused: a kind of `target.py`, and a message.
pub(super) struct Refusal {
    pub(super) kind: &'static str,
    pub(super) message: String,
}

impl Refusal {
    pub(super) fn new(kind: &'static str, message: impl Into<String>) -> Self {
        Refusal { kind, message: message.into() }
    }

    pub(super) fn no_such_port(port: u16) -> Self {
        Refusal::new("not-found", format!("port {port}: there is no such port"))
    }
}

impl From<ControlError> for Refusal {
    fn from(error: ControlError) -> Self {
        let kind = match &error {
            ControlError::Unknown { .. } | ControlError::NotFound(_) => "not-found",
            ControlError::Exists(_) | ControlError::Present { .. } => "already-exists",
            ControlError::Full { .. } | ControlError::NoRoom { .. } => "resource-exhausted",
            ControlError::InUse { .. } => "failed-precondition",
            ControlError::Constant { .. } => "permission-denied",
            ControlError::Index { .. } => "out-of-range",
            ControlError::Ambiguous { .. }
            | ControlError::Value { .. }
            | ControlError::Missing { .. } => "invalid-argument",
        };
        Refusal::new(kind, error.to_string())
    }
}

impl From<Refusal> for PyErr {
    fn from(refusal: Refusal) -> PyErr {
        let raised = Python::attach(|py| {
            let class = py.import("switch.server.target")?.getattr("TargetError")?;
            class.call1((refusal.kind, refusal.message)).map(PyErr::from_value)
        });
        raised.unwrap_or_else(|error| error)
    }
}
