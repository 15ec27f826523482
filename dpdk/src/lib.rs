//! DPDK as safe types: the environment ([`Eal`]), memory ([`Mempool`], [`Mbuf`]), [`Port`]s by
//! device string, and the time-stamp counter's [`Clock`].
//!
//! The only crate with `unsafe` besides the JIT's border, and one of the few that may read a clock.
//! `shim/` wraps DPDK's inline functions; it is a shared library that is embedded, and loaded at
//! run time with libdpdk. Without libdpdk then, or at build time, [`Eal::start`] returns
//! [`Error::Absent`]. Tested with Debian's 22.11.
//!
//! EAL starts once per process and stays until its end. With `--in-memory` it leaves no file
//! behind, however the process ends, and pointers into its memory stay valid.

#[cfg(target_os = "linux")]
mod capabilities;
mod clock;
mod eal;
mod error;
mod fanout;
mod idle;
mod load;
mod mbuf;
mod packet_sockets;
mod port;
mod process;
mod sys;

#[cfg(target_os = "linux")]
pub use capabilities::keep_capabilities;
pub use clock::{Clock, Start};
pub use eal::{Eal, EalConfig};
pub use error::Error;
pub use idle::{Idle, IdleKind, Standing};
pub use mbuf::{Mbuf, Mempool};
pub use port::{BURST, Offloads, Port, PortCounts, Queue};
pub use process::exit_now;

/// True if libdpdk can be loaded.
pub fn is_available() -> bool {
    sys::ready().is_ok()
}
