//! A profile: the defaults in which TCPs differ, besides congestion control. `compat::profiles` has
//! the list.

use narrows_common::Duration;
use schemars::JsonSchema;
use serde::Serialize;

/// The defaults and counting rules of one kind of host.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[schemars(rename = "ProfileRecord")]
pub struct Profile {
    /// The name in a scenario.
    pub name: &'static str,
    /// A one-line description.
    pub title: &'static str,
    /// Payload bytes of a full segment. With timestamps, [`SegmentSize::Mss`] is reduced by their
    /// 12 bytes.
    pub segment: SegmentSize,
    /// The congestion window after the handshake.
    pub initial_window: InitialWindow,
    /// The slow-start threshold before the first loss.
    pub initial_ssthresh: InitialSsthresh,
    /// The receiver's window in bytes; 0 means 20 segments (ns-2's `window_`).
    pub window_bytes: u64,
    /// The estimator of the round-trip time and the time-out.
    pub rtt: RttRule,
    /// The time-out before the first sample.
    pub initial_rto: Duration,
    /// The minimum time-out.
    pub min_rto: Duration,
    /// The maximum time-out.
    pub max_rto: Duration,
    /// True if every segment gives a round-trip sample; false if one segment at a time does.
    pub times_every_segment: bool,
    /// How long an ACK may wait for a second segment; `None` to acknowledge each one immediately.
    pub delayed_ack: Option<Duration>,
    /// Duplicate ACKs that start fast retransmit.
    pub dupack_threshold: u32,
    /// New segments on the first two duplicate ACKs (RFC 3042).
    pub limited_transmit: bool,
    /// The growth credit of an ACK.
    pub growth: Growth,
    /// The quantity that a loss cuts.
    pub cut: Cut,
    /// The window after an idle time longer than the time-out.
    pub idle_restart: IdleRestart,
    /// True if an ACK grows the window only when the window was in use (RFC 9438 section 5.8,
    /// Linux).
    pub grows_only_when_limited: bool,
    /// NewReno as in ns-2: the ACK that ends recovery also increases the window, and limited
    /// transmit works after a time-out too.
    pub ns2_newreno: bool,
    /// True to offer SACK.
    pub sack: bool,
    /// True if the receiver reports duplicates (D-SACK, RFC 2883).
    pub duplicate_sack: bool,
    /// True to offer timestamps.
    pub timestamps: bool,
    /// True to use Nagle's algorithm.
    pub nagle: bool,
    /// Defaults of variants' parameters that differ from the variants' own: the variant, its
    /// parameter, the value.
    pub parameters: &'static [(&'static str, &'static str, f64)],
}

/// The payload of a full segment.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SegmentSize {
    /// This MSS in bytes, minus the options of every segment.
    Mss(u32),
    /// This many payload bytes, regardless of options.
    Payload(u32),
}

/// The initial congestion window.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InitialWindow {
    /// min(10 MSS, max(2 MSS, 14600)) bytes.
    Rfc6928,
    /// This many segments.
    Segments(u32),
}

/// The initial slow-start threshold.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InitialSsthresh {
    /// Arbitrarily high (RFC 5681 section 3.1).
    Unlimited,
    /// The receiver's window (ns-2).
    OfferedWindow,
    /// This many segments (from the flow).
    Segments(u32),
    /// This many segments for these variants; for others arbitrarily high (Linux before 2.6.22).
    SegmentsOf(&'static [(&'static str, u32)]),
}

/// The estimator of the round-trip time.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RttRule {
    /// RFC 6298 with this clock granularity.
    Rfc6298 {
        /// G of the RFC.
        granularity: Duration,
    },
    /// RFC 6298, except that four times the deviation is at least the minimum time-out, and the
    /// deviation decreases at most once per round trip (Linux).
    Linux,
    /// Integer arithmetic in ticks (ns-2).
    Ns2 {
        /// `tcpTick_`.
        tick: Duration,
    },
}

/// The growth credit of an ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Growth {
    /// The bytes acknowledged, at most one segment (RFC 5681 section 3.1).
    BytesUpToSegment,
    /// The bytes acknowledged (Linux).
    Bytes,
    /// One segment, regardless of the bytes acknowledged (ns-2).
    Segment,
    /// One segment for each segment acknowledged, one by one (ns-2's Asym).
    EachSegment,
}

/// The quantity that a loss cuts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Cut {
    /// FlightSize (RFC 5681 equation 4).
    Flight,
    /// The congestion window (Linux).
    Cwnd,
    /// The smaller of the congestion window and the receiver's window; ssthresh in whole segments
    /// (ns-2).
    CwndOrOffered,
    /// Like `CwndOrOffered`, with the half in whole segments too (ns-2's `precisionReduce_` false).
    WholeCwndOrOffered,
    /// The whole segments of the congestion window; ssthresh in whole segments (ns-2's
    /// Agent/TCP/Linux).
    WholeCwnd,
}

/// The window after an idle time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IdleRestart {
    /// At most the initial window (RFC 5681 section 4.1).
    InitialWindow,
    /// One segment (ns-2's `slow_start_restart_`).
    OneSegment,
}
