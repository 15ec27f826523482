//! Real time: the engines run by the clock of the time-stamp counter, their packets on DPDK ports.
//!
//! The engines are the same as in virtual time: a [`Node`] takes packets and says exactly which
//! packet leaves when. A [`DataPath`] polls ports and clock, and sends each packet as soon as
//! possible after its scheduled time. A late poll delays a packet but never the schedule: departure
//! times follow from arrival times. [`crate::Instrument`] reports how late packets left.
//!
//! ```text
//! port ─▶ handle_packet(now) ─┐                       ┌─▶ wire: waits for its instant ─▶ port
//!                            Node ── poll_transmit ───┤
//! clock ─▶ handle_timeout(now)┘                       └─▶ ...
//! ```

pub mod cores;
mod data_path;
mod device_clock;
mod generator;
mod inlet;
mod inter_core_rings;
mod meters;
mod network_node;
mod node;
mod open_wires;
pub mod several_switches;
mod switch_node;
mod wire;

pub use data_path::DataPath;
pub use generator::{Generated, Generator, Stream, generate};
pub use inlet::RemoteQueue;
pub use inter_core_rings::{InterCoreRings, inter_core_rings};
pub use network_node::{RealTime, Verdict, run};
pub use node::Node;
pub use switch_node::SwitchNode;
pub use wire::Wire;

pub use crate::network::wire_map::{Departure, Devices};
