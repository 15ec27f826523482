//! What a sender has outstanding: which bytes were delivered, and what became of each segment.

pub mod ranges;
pub mod scoreboard;
pub mod sent_segments;
