//! The software P4 target: what `p4c-bm2-ss` compiles, executed, around an exact traffic manager.
//!
//! ```text
//! handle_packet -> parser -> ingress -> [queue of the output port] -> egress -> deparser
//!                                         handle_timeout                   poll_transmit
//! ```
//!
//! [`Program::from_json`] resolves every name once and lowers the program to operations on
//! numbered slots (`op`, `load`); `exec` runs them and knows no architecture; `v1model` is the
//! architecture; `tm` the queues and lines; `control` what a controller may do.

mod bits;
mod control;
mod deparse;
mod exec;
mod externs;
mod json;
mod load;
mod machine;
mod native;
mod op;
mod pass;
mod pipe;
mod program;
pub mod stf;
mod switch;
mod table;
mod tm;
mod v1model;
mod wide;

pub use control::{
    ControlError, CountedEntry, DefaultAction, Match, ProfileGroup, ProfileMember, TableEntry,
};
pub use externs::counter::Count;
pub use externs::meter::{Colour, MeterConfig};
pub use load::LoadError;
pub use pipe::Handover;
pub use program::Program;
pub use switch::{
    CloneSession, ConfigError, Digest, Engine, Replica, Statistics, Switch, SwitchConfig,
    TimestampUnit, Transmit,
};
pub use tm::{Counts, Discipline, PortConfig, PortStatistics, QueueLimit};
