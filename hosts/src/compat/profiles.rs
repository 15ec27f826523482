//! Profiles: what TCPs differ in besides congestion control, one record each.
//!
//! Sources: `rfc` the documents named at each field; `linux` kernel 6.1's defaults; `ns2` the
//! one-way agents of ns-2.35 (tcl/lib/ns-default.tcl), carried over to real segments.

use narrows_common::Duration;
use serde::Serialize;

/// The defaults and counting rules of one kind of host.
#[derive(Clone, Copy, Debug, Serialize)]
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
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SegmentSize {
    /// What is left of this MSS, in bytes, behind the options of every segment.
    Mss(u32),
    /// So many payload bytes whatever the options.
    Payload(u32),
}

/// The first congestion window.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum InitialWindow {
    /// min(10 MSS, max(2 MSS, 14600)) bytes.
    Rfc6928,
    /// So many segments.
    Segments(u32),
}

/// The first slow-start threshold.
#[derive(Clone, Copy, Debug, Serialize)]
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
#[derive(Clone, Copy, Debug, Serialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum IdleRestart {
    /// The initial window at most (RFC 5681 section 4.1).
    InitialWindow,
    /// One segment (ns-2's `slow_start_restart_`).
    OneSegment,
}

/// The RFCs as they stand.
pub const RFC: Profile = Profile {
    name: "rfc",
    title: "RFC 9293, 5681, 6298, 6928, 7323",
    segment: SegmentSize::Mss(1460),
    initial_window: InitialWindow::Rfc6928,
    initial_ssthresh: InitialSsthresh::Unlimited,
    // Ours: no RFC says; a megabyte is a common socket buffer.
    window_bytes: 1 << 20,
    // RFC 6298 section 4 asks for 100 ms or finer.
    rtt: RttRule::Rfc6298 { granularity: Duration::from_ms(1) },
    initial_rto: Duration::from_secs(1),
    min_rto: Duration::from_secs(1),
    max_rto: Duration::from_secs(60),
    times_every_segment: true,
    // RFC 1122 section 4.2.3.2 allows below 500 ms; 200 ms is what BSD made usual.
    delayed_ack: Some(Duration::from_ms(200)),
    dupack_threshold: 3,
    limited_transmit: true,
    growth: Growth::BytesUpToSegment,
    cut: Cut::Flight,
    idle_restart: IdleRestart::InitialWindow,
    grows_only_when_limited: true,
    ns2_newreno: false,
    sack: true,
    duplicate_sack: true,
    timestamps: true,
    nagle: true,
    parameters: &[],
};

/// Linux 6.1 as it is installed.
pub const LINUX: Profile = Profile {
    name: "linux",
    title: "Linux 6.1 defaults",
    segment: SegmentSize::Mss(1460),
    initial_window: InitialWindow::Segments(10),
    // net.ipv4.tcp_rmem's maximum.
    window_bytes: 6_291_456,
    rtt: RttRule::Linux,
    min_rto: Duration::from_ms(200),
    max_rto: Duration::from_secs(120),
    // TCP_DELACK_MIN.
    delayed_ack: Some(Duration::from_ms(40)),
    growth: Growth::Bytes,
    cut: Cut::Cwnd,
    parameters: &[("cubic", "hystart", 1.0)],
    ..RFC
};

/// Linux 2.6.18 of 2006, the kernel of the AppTCP paper: three segments to begin with (RFC 3390),
/// a first time-out of 3 s, growth by ACKs, and BIC's and CUBIC's first thresholds of 100 segments.
/// Recovery is the flow's choice: `linux-ns2-min` is nearest, or `linux-ns2` for BIC and CUBIC.
pub const LINUX_2_6_18: Profile = Profile {
    name: "linux-2.6.18",
    title: "Linux 2.6.18 defaults (2006)",
    initial_window: InitialWindow::Segments(3),
    // net.ipv4.tcp_rmem's maximum.
    window_bytes: 174_760,
    initial_ssthresh: InitialSsthresh::SegmentsOf(&[("bic", 100), ("cubic", 100)]),
    initial_rto: Duration::from_secs(3),
    growth: Growth::Segment,
    parameters: &[("cubic", "beta", 819.0 / 1024.0), ("cubic", "hystart", 0.0)],
    ..LINUX
};

/// ns-2.35's one-way agents with TCPSink.
pub const NS2: Profile = Profile {
    name: "ns2",
    title: "ns-2.35 one-way agents",
    segment: SegmentSize::Payload(1000),
    initial_window: InitialWindow::Segments(2),
    initial_ssthresh: InitialSsthresh::OfferedWindow,
    window_bytes: 0,
    rtt: RttRule::Ns2 { tick: Duration::from_ms(10) },
    initial_rto: Duration::from_secs(3),
    min_rto: Duration::from_ms(200),
    max_rto: Duration::from_secs(60),
    times_every_segment: false,
    delayed_ack: None,
    growth: Growth::Segment,
    cut: Cut::CwndOrOffered,
    idle_restart: IdleRestart::OneSegment,
    grows_only_when_limited: false,
    ns2_newreno: true,
    parameters: &[("cubic", "hystart", 0.0)],
    // generateDSacks_.
    duplicate_sack: false,
    timestamps: false,
    nagle: false,
    ..RFC
};

/// ns-2 as of 2004 (2.27): what its defaults were before the changes of October 2004 (`minrto_`),
/// January 2006 (`rtxcur_init_`, `precisionReduce_`). The longest time-out stays today's 60 s.
pub const NS2_2004: Profile = Profile {
    name: "ns2-2004",
    title: "ns-2.27's one-way agents: older timers, integer halving",
    initial_rto: Duration::from_secs(6),
    min_rto: Duration::from_secs(1),
    cut: Cut::WholeCwndOrOffered,
    ..NS2
};

/// Every profile.
pub const PROFILES: &[Profile] = &[RFC, LINUX, NS2, NS2_2004, LINUX_2_6_18];
