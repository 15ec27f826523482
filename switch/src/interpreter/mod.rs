//! Runs a program's operations one by one. It does not depend on the architecture.

mod bridged;
mod calculation;
mod deparse;
mod extract;
mod fields;
mod headers;
mod log;
mod machine;
mod run;
mod select;
mod step;
mod tables;
mod wide;

pub(crate) use bridged::{Bridged, Extent};
pub(crate) use deparse::{deparse, rebuild_packet};
pub(crate) use machine::Machine;
pub(crate) use run::{FUEL, ResumePoint, interpret, out_of_fuel};
pub(crate) use select::select;
pub(crate) use step::{Flow, step};
pub(crate) use tables::apply;
