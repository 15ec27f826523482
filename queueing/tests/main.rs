//! The tests of `queueing/` from outside, in one binary: it links once, and its tests share all
//! cores.
#![allow(missing_docs)]

mod codel;
mod dualpi2;
mod dualpi2_tables;
mod fair;
mod impairments;
mod ns3;
mod properties;
mod queues;
mod red;
mod support;
mod timer;
