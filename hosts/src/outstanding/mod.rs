//! A sender's outstanding data: the bytes delivered, and the state of each segment.

pub mod ranges;
pub mod scoreboard;
pub mod sent_segments;
