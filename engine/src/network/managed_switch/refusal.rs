//! Why a switch refuses a controller's operation.

use narrows_switch::{ConfigError, ControlError, LoadError};

/// Why the switch refused.
#[derive(Debug)]
pub struct Refusal {
    /// An error kind of `switch/server/target.py`.
    pub kind: &'static str,
    /// The reason, with the object's name.
    pub message: String,
}

impl Refusal {
    /// A refusal.
    pub fn new(kind: &'static str, message: impl Into<String>) -> Self {
        Refusal { kind, message: message.into() }
    }

    pub(crate) fn no_such_port(port: u16) -> Self {
        Refusal::new("not-found", format!("port {port}: there is no such port"))
    }
}

impl From<LoadError> for Refusal {
    fn from(error: LoadError) -> Self {
        Refusal::new("invalid-argument", error.to_string())
    }
}

impl From<ConfigError> for Refusal {
    fn from(error: ConfigError) -> Self {
        Refusal::new("invalid-argument", error.to_string())
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
