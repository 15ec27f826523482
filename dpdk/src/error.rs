//! DPDK's errors, with DPDK's own messages.

use thiserror::Error;

/// Why DPDK did not do what was requested.
#[derive(Debug, Error)]
pub enum Error {
    /// libdpdk cannot be loaded.
    #[error("{0} (narrows doctor says how to get it)")]
    Absent(&'static str),
    /// EAL can be started once per process.
    #[error("DPDK has been started in this process with other options")]
    Started,
    /// EAL did not start.
    #[error("DPDK does not start: {reason}{log}")]
    Start {
        /// The system's message.
        reason: String,
        /// EAL's log, each line after a line break.
        log: String,
    },
    /// Not enough memory for packets.
    #[error(
        "memory for {count} packets of {data_bytes} bytes: {reason} (more hugepages, or --mbufs)"
    )]
    Memory {
        /// The number of mbufs.
        count: u32,
        /// The size of each.
        data_bytes: u32,
        /// The system's message.
        reason: String,
    },
    /// No driver accepts the device string, or its device does not exist.
    #[error("device '{device}': {reason}{log}")]
    Device {
        /// The device string.
        device: String,
        /// The system's message.
        reason: String,
        /// The driver's log, each line after a line break.
        log: String,
    },
    /// A text that a C string can't hold.
    #[error("'{0}': a zero byte")]
    Text(String),
}

/// The system's message for a negative errno.
pub(crate) fn reason(code: i32) -> String {
    std::io::Error::from_raw_os_error(-code).to_string()
}
