//! Runs a program's operations one after the other. It knows no architecture.

mod bridged;
mod calculation;
mod deparse;
mod extract;
mod fields;
mod headers;
mod machine;
mod run;
mod wide;

pub(crate) use bridged::{Bridged, Extent};
pub(crate) use deparse::{deparse, rebuild_packet};
pub(crate) use machine::Machine;
pub(crate) use run::{FUEL, Flow, ResumePoint, apply, interpret, out_of_fuel, select, step};
