//! Packets as bytes: addresses, headers, options, checksums and the stamp in a payload.

pub mod addr;
mod checksum;
pub mod datagram;
pub mod ip;
pub mod options;
pub mod segment;
pub mod stamp;
