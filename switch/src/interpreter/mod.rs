//! Runs a program's operations one after the other. It knows no architecture.

pub(crate) mod calculation;
pub(crate) mod deparse;
pub(crate) mod fields;
pub(crate) mod machine;
pub(crate) mod run;
pub(crate) mod wide;
