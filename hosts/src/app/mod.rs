//! The application at one end of a flow, over any stream of bytes.

pub mod driver;
pub mod message_reader;
pub mod stream;
