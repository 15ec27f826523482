//! Runs STF tests (p4c, `tools/stf`): table entries, packets to send, packets expected.
//!
//! Supports p4c's whole grammar, and the simple_switch_CLI commands that p4c's bmv2 driver passes
//! on. Packets arrive every 1 ms on ports without a rate, so everything that a packet causes has
//! left before the next one. As in p4c's driver, ports without an expectation are ignored. Unlike
//! there, `check_counter`, `no_packet`, `remove` and `wait` (one second) have an effect. The larger
//! priority wins.

mod commands;
mod error;
mod expectation;
mod profiles;
mod run;
mod runner;
mod statements;
mod tables;
mod words;

pub use error::StfError;
pub use run::{run, sent};
