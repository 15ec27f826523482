//! Loss recovery: which segments are lost, what to send next, and when the window may grow again.
//!
//! A flow selects it independently of congestion control. A rule gets ACKs and time-outs, reads the
//! scoreboard, and returns an [`Outcome`]; [`Recovery::poll_send`] returns what to send next. After
//! a time-out all rules do the same: outstanding data is lost, and is retransmitted from the first
//! hole on as the window allows.

pub mod fack;
pub mod full;
pub mod newreno;
pub mod rack;
pub mod rate_halving;
pub mod reno;
pub mod rule;
pub mod sack;
pub mod sack1;
pub mod tahoe;
pub mod vegas;

pub use rule::{NextSegment, Outcome, Recovery, Rule, Setup, Transmission};

/// Every rule.
pub const RECOVERIES: &[Rule] = &[
    newreno::RULE,
    newreno::SLOW_RULE,
    reno::RULE,
    tahoe::RULE,
    sack::RULE,
    sack1::RULE,
    fack::RULE,
    fack::RAMPDOWN_RULE,
    fack::OVERDAMPING_RULE,
    fack::HALF_RULE,
    vegas::RULE,
    full::RULE,
    full::NEWRENO_RULE,
    sack1::FULL_RULE,
    rate_halving::RULE,
    rate_halving::MIN_RULE,
    rack::LINUX_RULE,
    rack::RULE,
];
