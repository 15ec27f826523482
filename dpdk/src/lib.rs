//! DPDK as safe types: the environment ([`Eal`]), memory ([`Mempool`], [`Mbuf`]), [`Port`]s by
//! their device string, and the [`Clock`] of the time-stamp counter.
//!
//! The only room with `unsafe`, and one of the few that may read a clock. What DPDK has as inline
//! functions comes by `shim/shim.c`. Without libdpdk at build time all of it compiles, and
//! [`Eal::start`] answers [`Error::Absent`]. Checked with Debian's 22.11.
//!
//! EAL starts once a process and stays until its end: with `--in-memory` it leaves no file behind,
//! however the process ends, and whatever points into its memory stays good.

mod clock;
mod eal;
mod error;
mod idle;
mod mbuf;
mod port;
mod sys;

pub use clock::{Clock, Start};
pub use eal::{Eal, EalConfig};
pub use error::Error;
pub use idle::{Idle, IdleKind, Standing};
pub use mbuf::{Mbuf, Mempool};
pub use port::{Offloads, Port, PortCounts, Queue};

/// True when this build found libdpdk.
pub const AVAILABLE: bool = cfg!(has_dpdk);

/// Packets of a burst.
pub const BURST: usize = 32;
