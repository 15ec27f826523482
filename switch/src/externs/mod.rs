//! State and functions behind v1model's externs.

pub(crate) mod counter;
pub(crate) mod hash;
pub(crate) mod input;
pub(crate) mod meter;
pub(crate) mod register;
