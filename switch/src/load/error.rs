//! Why a program is refused.

/// Why a JSON program was refused. `location` says where in the program.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// It is not JSON, or lacks what bmv2's format requires.
    #[error("not a bmv2 JSON program: {0}")]
    Json(String),
    /// A name that nothing in the program bears.
    #[error("{location}: there is no {kind} named '{name}'")]
    Unknown {
        /// Where.
        location: String,
        /// What it should be.
        kind: &'static str,
        /// The name found.
        name: String,
    },
    /// Well-formed, but not what this target can do.
    #[error("{location}: {what} '{name}' is not supported")]
    Unsupported {
        /// Where.
        location: String,
        /// What sort of thing.
        what: String,
        /// Its name.
        name: String,
    },
    /// A value of the wrong shape.
    #[error("{location}: {what}: expected {expected}, found {found}")]
    Malformed {
        /// Where.
        location: String,
        /// Which value.
        what: String,
        /// What was expected.
        expected: String,
        /// What was found, shortened.
        found: String,
    },
    /// It needs more than this target has.
    #[error("{location}: too big: {what}")]
    TooBig {
        /// Where.
        location: String,
        /// What there is too much of.
        what: String,
    },
}
