//! The software P4 target: what `p4c-bm2-ss` compiles, executed, around an exact traffic manager.
//!
//! ```text
//! handle_packet -> parser -> ingress -> [queue of the output port] -> egress -> deparser
//!                                         handle_timeout                   poll_transmit
//! ```
//!
//! [`Program::from_json`] resolves every name once and lowers the program to operations on
//! numbered slots. Its modules are layers; each knows only those on its left:
//!
//! ```text
//! ir <- load
//! ir <- state <- interpreter <- jit <- v1model <- switch, pipelines <- control <- stf
//! ```

mod control;
mod interpreter;
mod ir;
mod jit;
mod load;
mod pipelines;
mod state;
pub mod stf;
mod switch;
mod tm;
mod v1model;

pub use control::{
    ControlError, CountedEntry, DefaultAction, Match, ProfileGroup, ProfileMember, TableEntry,
};
pub use ir::program::Program;
pub use load::LoadError;
pub use pipelines::Handover;
pub use state::counter::Count;
pub use state::meter::{Colour, MeterConfig};
pub use switch::{
    CloneSession, ConfigError, Digest, Engine, Replica, Statistics, Switch, SwitchConfig,
    TimestampUnit, Transmit,
};
pub use tm::{Counts, Discipline, PortConfig, PortStatistics, QueueLimit};
