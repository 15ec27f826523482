//! Why a program is rejected.

/// Why a JSON program was rejected. `location` says where in the program.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// The text is not JSON, or lacks a part that bmv2's format requires.
    #[error("not a bmv2 JSON program: {0}")]
    Json(String),
    /// No object of the program has this name.
    #[error("{location}: there is no {kind} named '{name}'")]
    Unknown {
        /// The location in the program.
        location: String,
        /// The object's kind.
        kind: &'static str,
        /// The name given.
        name: String,
    },
    /// Valid, but not supported by this target.
    #[error("{location}: {what} '{name}' is not supported")]
    Unsupported {
        /// The location in the program.
        location: String,
        /// The kind of object or operation.
        what: String,
        /// Its name.
        name: String,
    },
    /// A value of the wrong shape.
    #[error("{location}: {what}: expected {expected}, found {found}")]
    Malformed {
        /// The location in the program.
        location: String,
        /// The value's name.
        what: String,
        /// What was expected.
        expected: String,
        /// The value found, shortened.
        found: String,
    },
    /// The program exceeds a limit of this target.
    #[error("{location}: too big: {what}")]
    TooBig {
        /// The location in the program.
        location: String,
        /// What exceeds its limit.
        what: String,
    },
}
