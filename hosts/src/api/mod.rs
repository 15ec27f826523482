//! The interface between a connection and its congestion control and loss recovery: needs, samples,
//! stages, states, errors.
//!
//! This module imports none of its users: `cc`, `recovery` and the connection all import it.

mod needs;
mod parameters;
mod profile;
mod samples;
mod stage;
mod state;

pub use needs::{Class, Need};
pub use parameters::{Parameter, ParameterError, Parameters};
pub use profile::{
    Cut, Growth, IdleRestart, InitialSsthresh, InitialWindow, Profile, RttRule, SegmentSize,
};
pub use samples::{
    Ack, Congestion, Delivery, Departing, Departure, Idle, LostSegment, PathSample, RateSample,
    bytes_per_sec,
};
pub use stage::Stage;
pub use state::State;
