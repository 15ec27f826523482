//! Creates congestion control and recovery from a flow's settings.

use crate::api::{InitialSsthresh, InitialWindow, Need, Profile};
use crate::cc::control::{self, CongestionControl};
use crate::config::Settings;
use crate::recovery::newreno;
use crate::recovery::rule::{self, Recovery};
use narrows_common::Duration;

pub(super) fn build_cc(
    settings: &Settings,
    mss: u32,
    lost_syn: bool,
    handshake_rtt: Option<Duration>,
    seed: u64,
) -> Box<dyn CongestionControl> {
    // RFC 5681 section 3.1: one segment if the SYN or its answer was lost.
    let initial_window_bytes =
        if lost_syn { mss.into() } else { initial_window_bytes(&settings.profile, mss) };
    let bytes = |segments: u32| u64::from(segments) * u64::from(mss);
    let initial_ssthresh_bytes = match settings.profile.initial_ssthresh {
        InitialSsthresh::Unlimited => u64::MAX,
        InitialSsthresh::OfferedWindow => settings.window_bytes,
        InitialSsthresh::Segments(segments) => bytes(segments),
        InitialSsthresh::SegmentsOf(variants) => {
            let own = variants.iter().find(|(name, _)| *name == settings.variant.name);
            own.map_or(u64::MAX, |&(_, segments)| bytes(segments))
        }
    };
    (settings.variant.build)(&control::Setup {
        mss,
        initial_window_bytes,
        initial_ssthresh_bytes,
        times_every_segment: settings.profile.times_every_segment
            || settings.variant.needs.contains(&Need::SegmentTimes),
        handshake_rtt,
        seed,
        parameters: settings.parameters.clone(),
    })
}

pub(super) fn build_recovery(settings: &Settings, mss: u32, has_sack: bool) -> Box<dyn Recovery> {
    // For a peer without SACK, use RFC 6582, which is designed for that.
    let needs_sack = settings.recovery.needs.contains(&Need::Sack);
    let rule = if needs_sack && !has_sack { &newreno::RULE } else { settings.recovery };
    (rule.build)(&rule::Setup {
        mss,
        dupack_threshold: settings.profile.dupack_threshold,
        limited_transmit: settings.profile.limited_transmit,
        ns2_newreno: settings.profile.ns2_newreno,
    })
}

pub(super) fn initial_window_bytes(profile: &Profile, mss: u32) -> u64 {
    let mss = u64::from(mss);
    match profile.initial_window {
        InitialWindow::Rfc6928 => (10 * mss).min((2 * mss).max(14_600)),
        InitialWindow::Segments(segments) => u64::from(segments) * mss,
    }
}
