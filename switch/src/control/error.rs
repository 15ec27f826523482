//! Why the control plane is refused.

/// Why the control plane was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ControlError {
    /// No object of that name.
    #[error("there is no {kind} '{name}'")]
    Unknown {
        /// Table, action of a table, register, ...
        kind: String,
        /// What was given.
        name: String,
    },
    /// Several objects end in that name.
    #[error("{kind} '{name}' is ambiguous: {found}")]
    Ambiguous {
        /// What it should be.
        kind: String,
        /// What was given.
        name: String,
        /// What it could mean.
        found: String,
    },
    /// A value of the wrong kind or size.
    #[error("{object}: '{value}': expected {expected}")]
    Value {
        /// Table and field, action and parameter, ...
        object: String,
        /// What was given.
        value: String,
        /// What was expected.
        expected: String,
    },
    /// A field or parameter that is needed is not given.
    #[error("{object}: '{name}' is missing")]
    Missing {
        /// Table or action.
        object: String,
        /// Field or parameter.
        name: String,
    },
    /// An entry with the same matches is there already.
    #[error("table '{0}': such an entry exists already")]
    Exists(String),
    /// The table's size is used up.
    #[error("table '{table}': full: its size is {size}")]
    Full {
        /// Which table.
        table: String,
        /// How many entries it holds.
        size: u64,
    },
    /// No entry with these matches.
    #[error("table '{0}': there is no such entry")]
    NotFound(String),
    /// Its number is taken.
    #[error("{what} exists already")]
    Present {
        /// Member or group, and its action profile.
        what: String,
    },
    /// Something else refers to it.
    #[error("{what} is in use")]
    InUse {
        /// Member or group, and its action profile.
        what: String,
    },
    /// Its size is used up.
    #[error("{what}: full: its size is {size}")]
    NoRoom {
        /// Which action profile.
        what: String,
        /// How much it holds.
        size: u64,
    },
    /// The program has fixed it.
    #[error("table '{table}': {what} is constant in the program")]
    Constant {
        /// Which table.
        table: String,
        /// Entries or default action.
        what: &'static str,
    },
    /// Beyond an array's end.
    #[error("{kind} '{name}': index {index}: expected below {size}")]
    Index {
        /// Register, counter or meter.
        kind: &'static str,
        /// Its name.
        name: String,
        /// What was given.
        index: u64,
        /// How many cells it has.
        size: u64,
    },
}
