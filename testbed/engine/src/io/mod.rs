//! What the engine writes to disk.

pub mod rows;
pub mod table;
