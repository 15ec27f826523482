//! Traces: one connection with a scripted peer.

mod flow_control;
mod loss;
mod open_and_close;
