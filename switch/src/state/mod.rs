//! What packets and a controller change of a switch.

pub(crate) mod counter;
pub(crate) mod meter;
pub(crate) mod profile;
pub(crate) mod register;
pub(crate) mod table;
pub(crate) mod value_set;
