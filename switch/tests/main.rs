//! The tests of `switch/` from outside, in one binary: it links once, and its tests share all
//! cores.
#![allow(missing_docs)]

mod ack_filter;
mod bottleneck;
mod campaign;
mod common;
mod expressions;
mod golden_bmv2;
mod hostile;
mod lookup;
mod naive;
mod profiles;
mod rounds;
mod stf;
mod traffic_manager;
