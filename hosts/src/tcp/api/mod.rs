//! What congestion control and loss recovery see of a connection: needs, samples, stages, errors.
//!
//! Nothing here knows who asks: `cc`, `recovery` and the connection all import these, never the
//! other way round.

mod needs;
mod parameters;
mod profile;
mod samples;
mod stage;

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
