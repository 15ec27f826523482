//! The application at one end of a flow, over any byte stream.

pub mod driver;
pub mod message_reader;
pub mod stream;
