//! The software P4 target: executes programs compiled by `p4c-bm2-ss` around an exact traffic
//! manager.
//!
//! ```text
//! handle_packet -> parser -> ingress -> [queue of the output port] -> egress -> deparser
//!                                         handle_timeout                   poll_transmit
//! ```
//!
//! [`Program::from_json`] resolves every name once and lowers the program to operations on numbered
//! slots. The modules are layers; each depends only on those to its left:
//!
//! ```text
//! ir <- load
//! ir <- state <- interpreter <- jit <- v1model <- switch, pipelines <- control <- stf
//! ```

mod config;
mod control;
mod interpreter;
mod ir;
mod jit;
mod load;
mod look_ups;
mod pipelines;
mod program;
mod state;
pub mod stf;
mod switch;
mod v1model;

pub use config::{ConfigError, Engine, SwitchConfig};
pub use control::{
    ControlError, ControlOperation, CountedEntry, DefaultAction, Match, ProfileGroup,
    ProfileMember, TableEntry,
};
pub use load::LoadError;
pub use look_ups::LookUps;
pub use pipelines::Surplus;
pub use program::Program;
pub use state::{CloneSession, Colour, Count, MeterConfig, MulticastGroup, Replica};
pub use switch::Switch;
pub use v1model::{Digest, Handover, Statistics, TimestampUnit, Transmit};
