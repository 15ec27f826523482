//! Our senders against what ns-2 recorded.

#[path = "../net/mod.rs"]
mod net;

mod asym;
mod idle;
mod senders;
