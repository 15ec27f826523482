//! Flows of datagrams, and TFRC.

#[path = "../net/mod.rs"]
mod net;

mod datagrams;
mod tfrc;
