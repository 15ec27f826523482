//! Traces: one connection, the peer scripted.

#[path = "../net/mod.rs"]
mod net;
#[path = "../script/mod.rs"]
mod script;

mod flow_control;
mod loss;
mod open_and_close;
