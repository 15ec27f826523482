//! What can go wrong, with what DPDK said about it.

use thiserror::Error;

/// Why DPDK did not do what was asked.
#[derive(Debug, Error)]
pub enum Error {
    /// Built on a machine without libdpdk.
    #[error("libdpdk was not there when this was built (narrows doctor says how to get it)")]
    Absent,
    /// EAL can be started once a process.
    #[error("DPDK has been started in this process with other options")]
    Started,
    /// EAL refused to start.
    #[error("DPDK does not start: {reason}{log}")]
    Start {
        /// The system's word for it.
        reason: String,
        /// What EAL logged, each line after a line break.
        log: String,
    },
    /// Not enough memory for packets.
    #[error(
        "memory for {count} packets of {data_bytes} bytes: {reason} (more hugepages, or --mbufs)"
    )]
    Memory {
        /// How many mbufs.
        count: u32,
        /// Room in each.
        data_bytes: u32,
        /// The system's word for it.
        reason: String,
    },
    /// A device string that no driver takes, or whose device is not there.
    #[error("device '{device}': {reason}{log}")]
    Device {
        /// The device string.
        device: String,
        /// The system's word for it.
        reason: String,
        /// What the driver logged, each line after a line break.
        log: String,
    },
    /// A text that DPDK's C strings can't hold.
    #[error("'{0}': a zero byte")]
    Text(String),
}

/// The system's word for a negative errno.
pub(crate) fn reason(code: i32) -> String {
    std::io::Error::from_raw_os_error(-code).to_string()
}
