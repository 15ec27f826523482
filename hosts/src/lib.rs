//! The hosts: a sans-IO TCP with one file per congestion-control variant, and UDP datagrams. Input
//! and output are real packets.
//!
//! The caller drives [`Host`] by `handle_packet`, `handle_timeout`, `poll_transmit` and
//! `poll_timeout`. [`cc::VARIANTS`], [`recovery::RECOVERIES`] and [`compat::profiles::PROFILES`]
//! list what a flow can select, and [`udp::SENDERS`] the senders of datagrams. [`AGENTS`] and
//! [`SINKS`] list ns-2's names for these.

pub mod api;
pub mod app;
pub mod cc;
pub mod compat;
pub mod config;
pub mod host;
pub mod outstanding;
pub mod recovery;
pub mod report;
pub mod rtt;
pub mod sockets;
pub mod tcp;
pub mod udp;
pub mod wire;

pub use cc::VARIANTS;
pub use compat::ns2::agents::{AGENTS, SINKS};
pub use compat::profiles::PROFILES;
pub use config::{FlowConfig, FlowError, HostConfig, Recording, Settings};
pub use host::{Host, flow_rng};
pub use recovery::RECOVERIES;
pub use report::{FlowReport, MessageCounters};
pub use sockets::SocketHost;
pub use wire::addr::{Endpoint, Mac};
