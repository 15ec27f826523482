//! What the engine writes to disk, and what other threads leave for its loops.

mod mailbox;
pub mod rows;
pub mod table;

pub use mailbox::{Inbox, Post, mailbox};
