//! What the engine writes to disk, and what other threads leave for its loops.

pub mod mailbox;
pub mod rows;
pub mod table;
