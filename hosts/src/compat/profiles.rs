//! Profiles: the defaults in which TCPs differ, besides congestion control; one record each.
//!
//! Sources: `rfc`, the documents named at each field; `linux`, the defaults of kernel 6.1; `ns2`,
//! the one-way agents of ns-2.35 (tcl/lib/ns-default.tcl), adapted to real segments.

use crate::api::{
    Cut, Growth, IdleRestart, InitialSsthresh, InitialWindow, Profile, RttRule, SegmentSize,
};
use narrows_common::Duration;

/// The current RFCs.
pub const RFC: Profile = Profile {
    name: "rfc",
    title: "RFC 9293, 5681, 6298, 6928, 7323",
    segment: SegmentSize::Mss(1460),
    initial_window: InitialWindow::Rfc6928,
    initial_ssthresh: InitialSsthresh::Unlimited,
    // Our choice: no RFC gives a value, and a megabyte is a common socket buffer.
    window_bytes: 1 << 20,
    // RFC 6298 section 4 asks for 100 ms or finer.
    rtt: RttRule::Rfc6298 { granularity: Duration::from_ms(1) },
    initial_rto: Duration::from_secs(1),
    min_rto: Duration::from_secs(1),
    max_rto: Duration::from_secs(60),
    times_every_segment: true,
    // RFC 1122 section 4.2.3.2 allows up to 500 ms; 200 ms is BSD's common value.
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

/// Linux 6.1 with its default settings.
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

/// Linux 2.6.18 of 2006, the kernel of the AppTCP paper: three initial segments (RFC 3390), an
/// initial time-out of 3 s, growth per ACK, and initial thresholds of 100 segments for BIC and
/// CUBIC. The flow selects the recovery: `linux-ns2-min` is closest, or `linux-ns2` for BIC and
/// CUBIC.
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

/// ns-2 of 2004 (2.27): the defaults before the changes of October 2004 (`minrto_`) and January
/// 2006 (`rtxcur_init_`, `precisionReduce_`). The longest time-out stays 60 s, as today.
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
