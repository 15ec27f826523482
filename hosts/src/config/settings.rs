//! A flow's resolved settings, with every default and name filled in.

use crate::api::{InitialSsthresh, InitialWindow, Need, Parameters, Profile, SegmentSize};
use crate::cc::VARIANTS;
use crate::cc::control::Variant;
use crate::compat::ns2::agents::{self, SINKS};
use crate::compat::profiles::PROFILES;
use crate::config::error::{FlowError, by_name, in_range};
use crate::config::flow::{FlowConfig, KeepAlive, check_flow};
use crate::recovery::RECOVERIES;
use crate::recovery::rule::Rule;
use crate::wire::ip::{MOST_PACKET_BYTES, beyond_ipv4_bytes, header_bytes};
use crate::wire::options::TIMESTAMPS_BYTES;
use narrows_common::Duration;
use std::collections::BTreeMap;

/// A flow's resolved settings. The fields that every segment needs come first, in one cache line.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Settings {
    /// Keep-alives.
    pub keep_alive: Option<KeepAlive>,
    /// How long sent data may wait for an answer.
    pub user_timeout: Option<Duration>,
    /// The flow's number.
    pub flow: u32,
    /// Payload bytes of a full segment.
    pub segment_bytes: u32,
    /// Whether ECN is negotiated.
    pub ecn: bool,
    /// Whether data is sent, and accepted, with the SYN.
    pub data_on_syn: bool,
    /// Whether the receiver reduces its ACKs when they are marked.
    pub ack_control: bool,
    /// Whether the sender reports its window to the receiver and echoes marks.
    pub reports_window: bool,
    /// Whether the receiver keeps the bytes, not only their count.
    pub keeps_content: bool,
    /// The profile, with the flow's overrides.
    pub profile: Profile,
    /// Congestion control.
    pub variant: &'static Variant,
    /// Its parameters.
    pub parameters: Parameters,
    /// Loss recovery.
    pub recovery: &'static Rule,
    /// The receiver's buffer in bytes.
    pub window_bytes: u64,
    /// The most segments that leave together.
    pub max_burst: Option<u32>,
}

/// The largest window: 2^30 bytes (RFC 7323 section 2.3).
const MAX_WINDOW_BYTES: u64 = 1 << 30;
/// TCP's header with all options.
const MOST_TCP_BYTES: u32 = 60;
/// ns-2's `window_` in segments.
const NS2_WINDOW_SEGMENTS: u64 = 20;
/// ns-2's delayed-ACK interval, for profiles without one.
const NS2_DELAYED_ACK: Duration = Duration::from_ms(100);

impl Settings {
    /// Resolves and checks a flow's configuration.
    ///
    /// # Errors
    /// The first unknown name, value out of range, or choice that lacks a requirement.
    pub fn resolve(flow: &FlowConfig) -> Result<Settings, FlowError> {
        let id = flow.id;
        let profile = by_name(id, "profile", &flow.profile, PROFILES, |profile| profile.name)?;
        let agent = agents::agent_by_name(&flow.variant);
        let variant = agent.map_or(flow.variant.as_str(), |agent| agent.variant);
        let variant = by_name(id, "variant", variant, VARIANTS, |variant| variant.name)?;
        let recovery = agents::agent_by_name(&flow.recovery);
        let recovery = recovery.map_or(flow.recovery.as_str(), |agent| agent.recovery);
        let recovery = by_name(id, "recovery", recovery, RECOVERIES, |rule| rule.name)?;
        let sink = flow.sink.as_deref().map(|name| find_sink(id, name)).transpose()?;
        let sack = flow.sack.or(sink.map(|sink| sink.sack));
        let mut profile = *profile;
        override_profile(&mut profile, flow, agent, sink);
        check_flow(flow)?;

        let segment_bytes = segment_bytes(flow, &profile, agent)?;
        let window_bytes = window_bytes(flow, &profile, segment_bytes)?;
        check_segment_counts(flow)?;
        profile.sack = offers_sack(id, &profile, variant, recovery, sack)?;
        let ack_control = sink.is_some_and(|sink| sink.ack_control);
        Ok(Settings {
            flow: id,
            profile,
            variant,
            parameters: parameters(flow, &profile, variant, agent)?,
            recovery,
            segment_bytes,
            window_bytes,
            ecn: flow.ecn.unwrap_or_else(|| variant.needs.contains(&Need::Ecn)),
            data_on_syn: flow.data_on_syn.unwrap_or(false),
            max_burst: flow.max_burst,
            ack_control,
            reports_window: ack_control && agent.is_some_and(|agent| agent.reports_window),
            keep_alive: flow.keep_alive,
            user_timeout: flow.user_timeout,
            keeps_content: flow.app.has_messages(),
        })
    }
}

impl Settings {
    /// Whether the variant or the recovery needs this.
    pub fn needs(&self, need: Need) -> bool {
        self.variant.needs.contains(&need) || self.recovery.needs.contains(&need)
    }
}

/// Payload bytes of a full segment.
fn segment_bytes(
    flow: &FlowConfig,
    profile: &Profile,
    agent: Option<&agents::Agent>,
) -> Result<u32, FlowError> {
    let option_bytes = if profile.timestamps { TIMESTAMPS_BYTES as u32 } else { 0 };
    let of_agent = agent.and_then(|agent| agent.segment_bytes);
    let bytes = flow.segment_bytes.or(of_agent).unwrap_or(match profile.segment {
        SegmentSize::Mss(mss) => mss - option_bytes - beyond_ipv4_bytes(flow.source.ip),
        SegmentSize::Payload(bytes) => bytes,
    });
    let most = MOST_PACKET_BYTES - header_bytes(flow.source.ip) - MOST_TCP_BYTES;
    in_range(flow.id, "segment_bytes", bytes.into(), 1, most.into())?;
    Ok(bytes)
}

/// The receiver's buffer in bytes.
fn window_bytes(
    flow: &FlowConfig,
    profile: &Profile,
    segment_bytes: u32,
) -> Result<u64, FlowError> {
    let bytes = flow.window_bytes.unwrap_or(match profile.window_bytes {
        0 => NS2_WINDOW_SEGMENTS * u64::from(segment_bytes),
        bytes => bytes,
    });
    in_range(flow.id, "window_bytes", bytes, 1, MAX_WINDOW_BYTES)?;
    Ok(bytes)
}

/// Checks the fields in segments.
fn check_segment_counts(flow: &FlowConfig) -> Result<(), FlowError> {
    for (field, segments, least) in [
        ("initial_window", flow.initial_window, 1),
        ("initial_ssthresh", flow.initial_ssthresh, 2),
        ("max_burst", flow.max_burst, 1),
    ] {
        if let Some(segments) = segments {
            in_range(flow.id, field, segments.into(), least, 1 << 20)?;
        }
    }
    Ok(())
}

/// Whether to offer SACK: if the recovery uses it, unless the flow or its sink decides.
fn offers_sack(
    flow: u32,
    profile: &Profile,
    variant: &Variant,
    recovery: &Rule,
    set: Option<bool>,
) -> Result<bool, FlowError> {
    let needs = |needs: &[Need]| needs.contains(&Need::Sack);
    let needs_sack = needs(variant.needs) || needs(recovery.needs);
    let offers_sack = set.unwrap_or(profile.sack && needs_sack);
    if needs_sack && !offers_sack {
        let what = if needs(recovery.needs) { recovery.name } else { variant.name };
        let (need, field, value) = ("SACK", "sack", "false");
        return Err(FlowError::Unmet { flow, what, need, field, value });
    }
    Ok(offers_sack)
}

/// The variant's parameters, in increasing precedence: its defaults, the profile's, the agent's,
/// the flow's.
fn parameters(
    flow: &FlowConfig,
    profile: &Profile,
    variant: &Variant,
    agent: Option<&agents::Agent>,
) -> Result<Parameters, FlowError> {
    let of_profile = profile.parameters.iter().filter(|row| row.0 == variant.name);
    let of_profile = of_profile.map(|&(_, name, value)| (name, value));
    let of_agent = agent.map_or(&[][..], |agent| agent.parameters).iter().copied();
    let defaults = of_profile.chain(of_agent);
    let mut set: BTreeMap<String, f64> =
        defaults.map(|(name, value)| (name.to_owned(), value)).collect();
    set.extend(flow.params.clone());
    Ok(Parameters::resolve(variant.name, variant.parameters, &set)?)
}

fn find_sink(flow: u32, name: &str) -> Result<&'static agents::Sink, FlowError> {
    // On failure, look the name up again for the error message.
    agents::sink_by_name(name).map_or_else(|| by_name(flow, "sink", name, SINKS, |s| s.name), Ok)
}

fn override_profile(
    profile: &mut Profile,
    flow: &FlowConfig,
    agent: Option<&agents::Agent>,
    sink: Option<&agents::Sink>,
) {
    if let Some(agent) = agent {
        (agent.adapt)(profile);
    }
    if let Some(segments) = flow.initial_window {
        profile.initial_window = InitialWindow::Segments(segments);
    }
    if let Some(segments) = flow.initial_ssthresh {
        profile.initial_ssthresh = InitialSsthresh::Segments(segments);
    }
    if let Some(is_delayed) = flow.delayed_ack.or(sink.map(|sink| sink.delayed_ack)) {
        let delay = profile.delayed_ack.unwrap_or(NS2_DELAYED_ACK);
        profile.delayed_ack = is_delayed.then_some(delay);
    }
    profile.timestamps = flow.timestamps.unwrap_or(profile.timestamps);
    profile.min_rto = flow.min_rto.unwrap_or(profile.min_rto);
    profile.nagle = flow.nagle.unwrap_or(profile.nagle);
}
