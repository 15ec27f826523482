//! Compares our senders with recordings of ns-2.

#[path = "../net/mod.rs"]
mod net;

mod asym;
mod idle;
mod senders;
