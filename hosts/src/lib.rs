//! The hosts: a sans-IO TCP, one file per congestion-control variant, and datagrams of UDP; real
//! bytes in and out.
//!
//! [`Host`] is what a world drives: `handle_packet`, `handle_timeout`, `poll_transmit`,
//! `poll_timeout`. [`cc::VARIANTS`], [`tcp::recovery::RECOVERIES`] and [`profile::PROFILES`] list
//! what a flow may choose, [`udp::SENDERS`] what sends datagrams, [`AGENTS`] and [`SINKS`] what it may
//! call by ns-2's names.

pub mod access;
pub mod ack_reconstruction;
pub mod addr;
pub mod cc;
mod checksum;
pub mod config;
mod flow;
pub mod host;
pub mod ip;
mod messages;
pub mod ns2;
pub mod profile;
pub mod report;
pub mod sockets;
pub mod stamp;
pub mod tcp;
pub mod udp;
pub mod user;

pub use access::{AccessLink, Counts};
pub use addr::{Endpoint, Mac};
pub use cc::VARIANTS;
pub use config::{AccessConfig, FlowConfig, FlowError, HostConfig, Recording, Settings};
pub use host::{Host, flow_rng};
pub use messages::MessageCounters;
pub use ns2::{AGENTS, SINKS};
pub use profile::PROFILES;
pub use report::FlowReport;
pub use sockets::SocketHost;
pub use tcp::recovery::RECOVERIES;
