//! Traces: one connection with a scripted peer.

#[path = "../net/mod.rs"]
mod net;
#[path = "../script/mod.rs"]
mod script;

mod flow_control;
mod loss;
mod open_and_close;
