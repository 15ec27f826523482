//! Runs STF tests (p4c, `tools/stf`): entries, packets in, packets expected out.
//!
//! All that p4c's grammar has, and simple_switch_CLI's commands that its bmv2 driver passes on.
//! Packets come at intervals of 1 ms on ports without a rate, so everything that a packet causes
//! has left before the next. Ports that a test expects nothing of are not looked at, as in p4c's
//! own driver; unlike there, `check_counter`, `no_packet`, `remove` and `wait` (a second) are
//! honoured. The larger priority wins.

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
