//! Why the control plane's request was refused.

/// Why the control plane's request was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ControlError {
    /// No object has this name.
    #[error("there is no {kind} '{name}'")]
    Unknown {
        /// The object's kind: table, action of a table, register, ...
        kind: String,
        /// The name given.
        name: String,
    },
    /// Several objects match this name.
    #[error("{kind} '{name}' is ambiguous: {found}")]
    Ambiguous {
        /// The object's kind.
        kind: String,
        /// The name given.
        name: String,
        /// The names that match.
        found: String,
    },
    /// A value of the wrong kind or size.
    #[error("{object}: '{value}': expected {expected}")]
    Value {
        /// Table and field, action and parameter, ...
        object: String,
        /// The value given.
        value: String,
        /// What was expected.
        expected: String,
    },
    /// A required field or parameter is missing.
    #[error("{object}: '{name}' is missing")]
    Missing {
        /// Table or action.
        object: String,
        /// Field or parameter.
        name: String,
    },
    /// An entry with the same matches exists.
    #[error("table '{0}': such an entry exists already")]
    Exists(String),
    /// The table is full.
    #[error("table '{table}': full: its size is {size}")]
    Full {
        /// The table's name.
        table: String,
        /// The most entries it holds.
        size: u64,
    },
    /// No entry has these matches.
    #[error("table '{0}': there is no such entry")]
    NotFound(String),
    /// The number is taken.
    #[error("{what} exists already")]
    Present {
        /// Member or group, and its action profile.
        what: String,
    },
    /// Another object refers to it.
    #[error("{what} is in use")]
    InUse {
        /// Member or group, and its action profile.
        what: String,
    },
    /// The action profile is full.
    #[error("{what}: full: its size is {size}")]
    NoRoom {
        /// The action profile's name.
        what: String,
        /// The most it holds.
        size: u64,
    },
    /// The program declares it constant.
    #[error("table '{table}': {what} is constant in the program")]
    Constant {
        /// The table's name.
        table: String,
        /// Entries or default action.
        what: &'static str,
    },
    /// The index is past the end of an array.
    #[error("{kind} '{name}': index {index}: expected below {size}")]
    Index {
        /// Register, counter or meter.
        kind: &'static str,
        /// Its name.
        name: String,
        /// The index given.
        index: u64,
        /// The number of cells.
        size: u64,
    },
}
