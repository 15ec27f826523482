//! A profile: what TCPs differ in besides congestion control. `compat::profiles` has the list.

use narrows_common::Duration;
use schemars::JsonSchema;
use serde::Serialize;

/// The defaults and counting rules of one kind of host.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[schemars(rename = "ProfileRecord")]
pub struct Profile {
    /// The name in a scenario.
    pub name: &'static str,
    /// One line on what it is.
    pub title: &'static str,
    /// Payload bytes of a full segment; with timestamps on, their 12 bytes come off
    /// [`SegmentSize::Mss`].
    pub segment: SegmentSize,
    /// Congestion window after the handshake.
    pub initial_window: InitialWindow,
    /// Slow-start threshold before the first loss.
    pub initial_ssthresh: InitialSsthresh,
    /// What the receiver offers, in bytes; 0: so many times 20 segments (ns-2's `window_`).
    pub window_bytes: u64,
    /// How round-trip times become a time-out.
    pub rtt: RttRule,
    /// Time-out before the first sample.
    pub initial_rto: Duration,
    /// Least time-out.
    pub min_rto: Duration,
    /// Longest time-out.
    pub max_rto: Duration,
    /// Whether every segment gives a round-trip sample or one at a time is timed.
    pub times_every_segment: bool,
    /// How long an ACK may wait for a second segment; `None` acknowledges each at once.
    pub delayed_ack: Option<Duration>,
    /// Duplicate ACKs that begin fast retransmit.
    pub dupack_threshold: u32,
    /// New segments on the first two duplicate ACKs (RFC 3042).
    pub limited_transmit: bool,
    /// What an ACK is worth to window growth.
    pub growth: Growth,
    /// What a loss cuts.
    pub cut: Cut,
    /// The window after an idle time longer than the time-out.
    pub idle_restart: IdleRestart,
    /// No growth on ACKs that find the window not used (RFC 9438 section 5.8, Linux).
    pub grows_only_when_limited: bool,
    /// NewReno as in ns-2: the ACK that ends recovery also grows the window, and limited transmit
    /// works after a time-out too.
    pub ns2_newreno: bool,
    /// Offers SACK.
    pub sack: bool,
    /// The receiver reports what arrives twice (D-SACK, RFC 2883).
    pub duplicate_sack: bool,
    /// Offers timestamps.
    pub timestamps: bool,
    /// Nagle's algorithm.
    pub nagle: bool,
    /// Parameters of variants that are not the variants' own defaults here: the variant, its
    /// parameter, the value.
    pub parameters: &'static [(&'static str, &'static str, f64)],
}

/// Payload of a full segment.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SegmentSize {
    /// What is left of this MSS, in bytes, behind the options of every segment.
    Mss(u32),
    /// So many payload bytes whatever the options.
    Payload(u32),
}

/// The first congestion window.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InitialWindow {
    /// min(10 MSS, max(2 MSS, 14600)) bytes.
    Rfc6928,
    /// So many segments.
    Segments(u32),
}

/// The first slow-start threshold.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InitialSsthresh {
    /// Arbitrarily high (RFC 5681 section 3.1).
    Unlimited,
    /// The window that the receiver offers (ns-2).
    OfferedWindow,
    /// So many segments (a flow's own).
    Segments(u32),
    /// So many segments for these variants, arbitrarily high for the others (Linux before 2.6.22).
    SegmentsOf(&'static [(&'static str, u32)]),
}

/// The estimator of round-trip time.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RttRule {
    /// RFC 6298 with this clock granularity.
    Rfc6298 {
        /// G of the RFC.
        granularity: Duration,
    },
    /// RFC 6298, but four times the deviation is at least the minimum time-out, and a fall
    /// of the deviation counts once a round trip (Linux).
    Linux,
    /// Integer arithmetic in ticks (ns-2).
    Ns2 {
        /// `tcpTick_`.
        tick: Duration,
    },
}

/// What an ACK is worth to window growth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Growth {
    /// The bytes it acknowledges, one segment at most (RFC 5681 section 3.1).
    BytesUpToSegment,
    /// The bytes it acknowledges (Linux).
    Bytes,
    /// One segment, whatever it acknowledges (ns-2).
    Segment,
    /// One segment for each that it acknowledges, one after the other (ns-2's Asym).
    EachSegment,
}

/// What a loss cuts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Cut {
    /// FlightSize (RFC 5681 equation 4).
    Flight,
    /// The congestion window (Linux).
    Cwnd,
    /// The smaller of congestion and offered window; ssthresh in whole segments (ns-2).
    CwndOrOffered,
    /// The same, and its half too is whole segments (ns-2's `precisionReduce_` false).
    WholeCwndOrOffered,
    /// The congestion window's whole segments; ssthresh in whole segments (ns-2's Agent/TCP/Linux).
    WholeCwnd,
}

/// The window after idleness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IdleRestart {
    /// The initial window at most (RFC 5681 section 4.1).
    InitialWindow,
    /// One segment (ns-2's `slow_start_restart_`).
    OneSegment,
}
