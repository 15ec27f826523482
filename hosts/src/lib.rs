//! The hosts: a sans-IO TCP, one file per congestion-control variant, and datagrams of UDP; real
//! bytes in and out.
//!
//! [`Host`] is what a world drives: `handle_packet`, `handle_timeout`, `poll_transmit`,
//! `poll_timeout`. [`cc::VARIANTS`], [`recovery::RECOVERIES`] and [`compat::profiles::PROFILES`] list
//! what a flow may choose, [`udp::SENDERS`] what sends datagrams, [`AGENTS`] and [`SINKS`] what it may
//! call by ns-2's names.

pub mod app;
pub mod cc;
pub mod compat;
pub mod config;
pub mod host;
pub mod recovery;
pub mod report;
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
